/** An epoch that begins while a reader's events are being read: they are given under the epoch that they are of. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openStream } from '../support/event-stream.ts'
import { call, publish } from '../support/http-client.ts'
import { property } from '../support/property.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'
import { withEvents } from '../support/with-events.ts'

interface Run {
  readonly items: readonly { readonly sequenceNumber: number }[]
  readonly next: number
  readonly head: number
  readonly epoch: string
}

describe('events that are read while an epoch begins', () => {
  let service: TestService
  /** Called when events are about to be read, once. */
  let meanwhile: (() => Promise<void>) | undefined
  const home = property({ directions: 'Tŷ’r Môr – £450,000 🏡' })

  before(async () => {
    const interrupted = async (): Promise<void> => {
      const happens = meanwhile
      meanwhile = undefined
      await happens?.()
    }
    service = await startTestService({
      wrap: (storage) => {
        const { events } = storage
        return withEvents(storage, {
          readAfter: (query) => interrupted().then(() => events.readAfter(query)),
          readSubject: (query) => interrupted().then(() => events.readSubject(query)),
        })
      },
    })
    await publish(service, { payload: home })
  })
  after(() => service.stop())

  const read = async (path: string): Promise<Run> =>
    JSON.parse((await call(service, path, { key: service.tenant.readKey })).text)
  const isOver = (): boolean => meanwhile === undefined

  /** The next read is interrupted by a new epoch, which begins with an event. */
  const interrupt = (): void => {
    meanwhile = async () => {
      const { tenantId } = service.tenant
      await service.storage.startEpoch(0, 'cli:test', [{ tenantId, feed: 'property' }])
      await publish(service, { payload: { ...home, price_information: { price: 1 + Date.now() } } })
    }
  }

  for (const [way, path] of [
    ['a run', '/v1/property-events'],
    ['a history', `/v1/properties/${home.agent_ref}/history`],
  ] as const) {
    it(`are given in ${way} under the epoch that they are of (D13, PROTOCOL §11)`, async () => {
      const earlier = await read(`${path}?after=0`)
      interrupt()
      const run = await read(`${path}?after=0`)
      assert.ok(isOver())
      assert.deepEqual(run, earlier)
      const later = await read(`${path}?after=${run.next}`)
      assert.equal(later.items.length, 1)
      assert.notEqual(later.epoch, run.epoch)
    })
  }

  it('are given by a long-poll and a stream under the epoch that they are of (D13, PROTOCOL §13)', async () => {
    const { head, epoch } = await read('/v1/property-events?after=0')
    const waiting = read(`/v1/property-events?after=${head}&wait=30`)
    const stream = await openStream(service, `/v1/property-events/stream?after=${head}&epoch=${epoch}`, {
      key: service.tenant.readKey,
    })
    await stream.until(({ messages }) => messages.length > 0, 'the first mark')
    interrupt()
    await publish(service, { payload: property() })
    const run = await waiting
    await until(isOver, { what: 'a read' })
    await stream.until(({ hasEnded }) => hasEnded, 'the end of the stream')
    const now = await read('/v1/property-events?after=0')
    const isOfBefore = (number: number): boolean => number === head + 1
    assert.ok(stream.numbers().every(isOfBefore), String(stream.numbers()))
    assert.equal(stream.messages.at(-1)?.event, 'reset')
    const isRight = run.epoch === now.epoch || run.items.every((one) => isOfBefore(one.sequenceNumber))
    assert.ok(isRight, JSON.stringify(run.items.map(({ sequenceNumber }) => sequenceNumber)))
  })
})
