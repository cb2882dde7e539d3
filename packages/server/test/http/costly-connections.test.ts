/** What costs a client next to nothing and would cost the service much: each is bounded, by either transport. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import type { StorageEngine } from '../../src/index.ts'
import { call, listPath, problemOf, publish } from '../support/http-client.ts'
import { onTransports } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { collect, head, openWithFarEnd, repliesIn, speak } from '../support/raw-socket.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'
import { withEvents } from '../support/with-events.ts'

const patient = { waitMs: 30_000 }

onTransports('what costs a client nothing', (transport) => {
  let service: TestService
  /** Reads of events after a number wait for it. */
  let gate: Promise<void> = Promise.resolve()
  /** The most bytes that were read at once. */
  let mostBytes = 0
  const wrap = (storage: StorageEngine): StorageEngine =>
    withEvents(storage, {
      async readAfter(query) {
        await gate
        const found = await storage.events.readAfter(query)
        const bytes = found.reduce((sum, { json }) => sum + json.byteLength, 0)
        mostBytes = Math.max(mostBytes, bytes)
        return found
      },
    })
  before(async () => {
    service = await startTestService({ ...transport, wrap })
  })
  after(() => service.stop())

  const chunked = (bytes: number, count: number, event: string): string => {
    const chunk = `${bytes.toString(16)}\r\n${' '.repeat(bytes)}\r\n`
    return `${chunk.repeat(count)}${event.length.toString(16)}\r\n${event}\r\n0\r\n\r\n`
  }

  it('is refused: a body in very many chunks of one byte, where as many longer ones are accepted (D9, P11)', async () => {
    const request = head(
      'POST /v1/property-events?dryRun=true HTTP/1.1',
      `x-api-key: ${service.tenant.publishKey}`,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
      'Connection: close',
    )
    const event = JSON.stringify({ payload: property() })
    for (const [bytes, count, status] of [
      [1, 16_000, 200],
      [1, 100_000, 413],
      [17, 100_000, 200],
    ] as const) {
      const answer = await speak(service.port, request + chunked(bytes, count, event), patient)
      assert.equal(answer.status, status, `${count} chunks of ${bytes}: ${answer.text}`)
      if (status === 413) {
        const problem = problemOf({ text: answer.text.slice(answer.text.indexOf('\r\n\r\n') + 4) })
        assert.match(problem.detail, /longer chunks/)
      }
    }
  })

  it('is not read: requests without end that are sent before the first is answered; all are answered in the end (D9)', async () => {
    const held = Promise.withResolvers<void>()
    gate = held.promise
    const key = `x-api-key: ${service.tenant.readKey}`
    const first = head('GET /v1/property-events?after=0 HTTP/1.1', key, 'Proxy-Connection: keep-alive')
    const count = 900
    const others = head('GET /nothing HTTP/1.1', `X-A: ${'x'.repeat(10_000)}`).repeat(count)
    const last = head('GET /last HTTP/1.1', 'Connection: close')
    const { socket, far } = await openWithFarEnd(service.port)
    const answered = collect(socket, { waitMs: 60_000 })
    socket.write(first)
    await until(() => far.bytesRead === first.length)
    socket.write(others + last)
    let read = -1
    for (let same = 0; same < 20; same += read === far.bytesRead ? 1 : 0) {
      read = far.bytesRead
      await delay(20)
    }
    assert.ok(read > first.length && read < 2_000_000, `${read} bytes were read`)
    held.resolve()
    const { text } = await answered
    const statuses = repliesIn(text).map(({ status }) => status)
    assert.deepEqual([statuses.length, statuses[0], statuses.at(-1)], [count + 2, 200, 404])
  })

  it('is not read at once: the longest possible events, in snapshots and in runs (P5)', async () => {
    for (let request = 0; request < 3; request += 1) {
      const events = Array.from({ length: 60 }, () => ({ payload: property({ note: 'x'.repeat(250_000) }) }))
      await publish(service, events)
    }
    const { readKey } = service.tenant
    mostBytes = 0
    for (const path of ['/v1/property-events/snapshot', '/v1/property-events?after=0']) {
      for (const coding of ['identity', 'gzip', 'identity', 'gzip']) {
        const headers = { 'accept-encoding': coding }
        const { status, body } = await call(service, path, { key: readKey, headers })
        assert.equal(status, 200)
        // Freed and read again: the bytes of the store are still those that were stored.
        const text = String(coding === 'gzip' ? gunzipSync(body) : body)
        const notes = text.split('x'.repeat(250_000)).length - 1
        assert.equal(notes, path.endsWith('snapshot') ? 180 : 36, `${path}, ${coding}`)
      }
    }
    assert.ok(mostBytes > 0 && mostBytes <= 9 * 2 ** 20, `${mostBytes} bytes were read at once`)
    assert.equal((await call(service, `${listPath}?pageSize=1`, { key: readKey })).status, 200)
  })
})
