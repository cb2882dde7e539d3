/** Readers that wait at one node for what is published at another, told of it or not (PROTOCOL §13, L2). */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openStream } from '../support/event-stream.ts'
import { call, publish } from '../support/http-client.ts'
import { property } from '../support/property.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestNode, TestService } from '../support/test-service.ts'
import type { StorageEngine } from '../../src/store/storage.ts'

interface Run {
  readonly items: readonly { readonly sequenceNumber: number }[]
  readonly head: number
}

/** Every notice of a change is lost on its way to this node. */
function deaf(storage: StorageEngine): StorageEngine {
  return { ...storage, events: { ...storage.events, watch: () => () => undefined } }
}

for (const [what, wrap] of [
  ['that is told of what others publish', (storage: StorageEngine) => storage],
  ['that is told of nothing', deaf],
] as const) {
  describe(`a node ${what}`, () => {
    let service: TestService
    let other: TestNode
    before(async () => {
      service = await startTestService({ engine: 'postgres', wrap, limits: { markEveryMs: 500 } })
      other = await service.another()
    })
    after(async () => {
      await other.stop()
      await service.stop()
    })

    it('reaches each of its readers, whether they wait for a feed, for a run or on a stream (L2, PROTOCOL §13)', async (t) => {
      const { tenant } = service
      const key = tenant.readKey
      const ask = (path: string) => call(service, path, { key })
      const heads: { readonly next: string } = JSON.parse((await ask('/v1/heads?wait=1')).text)
      const { head }: Run = JSON.parse((await ask('/v1/property-events?after=0&limit=1')).text)
      const reader = await openStream(service, '/v1/property-events/stream?after=head', { key })
      const waiting = [
        ask(`/v1/property-events?after=${head}&wait=30`),
        ask(`/v1/heads?since=${heads.next}&wait=30`),
        call(service, '/v1/property-events?after=0', {
          key,
          headers: { 'x-feed-min-sequence': String(head + 1) },
        }),
      ]
      const { events } = await publish({ port: other.port, tenant }, { payload: property() })
      const [number = 0] = events.map(({ sequenceNumber }) => sequenceNumber)
      const startedMs = performance.now()
      const [run, moved, least] = await Promise.all(waiting)
      await reader.until(({ numbers }) => numbers().includes(number), 'the event')
      t.diagnostic(`told of everywhere after ${Math.round(performance.now() - startedMs)} ms`)
      for (const answer of [run, least]) {
        assert.equal(answer?.status, 200)
        const { items }: Run = JSON.parse(answer?.text ?? '')
        assert.ok(items.some(({ sequenceNumber }) => sequenceNumber === number))
      }
      const told: { readonly heads: readonly { readonly sequenceNumber: number }[] } = JSON.parse(
        moved?.text ?? '',
      )
      assert.deepEqual(
        told.heads.map(({ sequenceNumber }) => sequenceNumber),
        [number],
      )
      reader.close()
    })
  })
}
