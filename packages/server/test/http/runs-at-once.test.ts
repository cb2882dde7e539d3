/** Runs of long events hold no more than their key's share, and end before their limit where that is used up. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import type { StorageEngine } from '../../src/index.ts'
import { call, problemOf, publish } from '../support/http-client.ts'
import { onTransports } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { startTestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'
import { withEvents } from '../support/with-events.ts'

const mebibyte = 2 ** 20
const subject = randomUUID()

interface Run {
  readonly items: readonly { readonly sequenceNumber: number }[]
  readonly next: number
  readonly head: number
}

onTransports('runs of long events', (transport) => {
  it('requested at the same time take what their key may have, end when there is no more, and miss nothing (D9, PROTOCOL §11)', async () => {
    let gate: Promise<void> | undefined
    let waiting = 0
    const held = async <T>(read: () => Promise<T>): Promise<T> => {
      waiting += 1
      await gate
      waiting -= 1
      return read()
    }
    const wrap = (storage: StorageEngine): StorageEngine =>
      withEvents(storage, {
        readAfter: (query) => held(() => storage.events.readAfter(query)),
        readSubject: (query) => held(() => storage.events.readSubject(query)),
      })
    const limits = {
      maxBodyBytes: mebibyte / 2,
      inFlightBytesPerKey: 2 * mebibyte,
      inFlightBytes: 16 * mebibyte,
    }
    const service = await startTestService({ ...transport, wrap, limits })
    for (let batch = 0; batch < 20; batch += 1) {
      const payload = { ...property({ note: 'x'.repeat(100_000) }), agent_ref: subject }
      await publish(
        service,
        Array.from({ length: 4 }, (_, index) => ({ payload: { ...payload, batch, index } })),
      )
    }
    const { readKey } = service.tenant
    const read = async (path: string, after: number) => {
      const answer = await call(service, `${path}after=${after}`, { key: readKey })
      return { ...answer, run: answer.status === 200 ? (JSON.parse(answer.text) as Run) : undefined }
    }
    for (const path of ['/v1/property-events?', `/v1/properties/${subject}/history?`]) {
      const numbers: number[] = []
      for (let after = 0, rounds = 0; ; rounds += 1) {
        const { run } = await read(path, after)
        assert.ok(run !== undefined && run.items.length > 0 && run.items.length < 30, path)
        numbers.push(...run.items.map(({ sequenceNumber }) => sequenceNumber))
        after = run.next
        if (run.next === run.head) break
        assert.ok(rounds < 80)
      }
      assert.equal(new Set(numbers).size, 80)
      assert.deepEqual(
        numbers,
        numbers.toSorted((a, b) => a - b),
      )
      const opening = Promise.withResolvers<void>()
      gate = opening.promise
      const asked = Array.from({ length: 20 }, () => read(path, 0))
      await until(() => waiting === 20)
      opening.resolve()
      const answers = await Promise.all(asked)
      gate = undefined
      assert.ok(answers.some(({ run }) => run !== undefined))
      for (const answer of answers) {
        if (answer.run === undefined) assert.equal(problemOf(answer).code, 'overloaded')
        else assert.ok(answer.run.next < answer.run.head && answer.body.length < 2.5 * mebibyte)
      }
    }
    await service.stop()
  })
})
