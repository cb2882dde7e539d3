/** A checkpoint and a key that are not of the same tenant. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CheckpointError, createClient, memoryCheckpoint } from '../../src/index.ts'
import type { ResyncReason } from '../../src/index.ts'
import { createConsumer } from '../support/consumer.ts'
import { eventOf, eventsOf, ownReadsOver } from '../support/small-feed.ts'
import type { SmallFeed } from '../support/small-feed.ts'

describe('a copy that is synced with the key of another tenant', () => {
  const theirs: Readonly<Record<string, SmallFeed>> = {
    'nothing published yet': { tenantId: 'other', epoch: 'b', events: [] },
    'events of its own': { tenantId: 'other', epoch: 'b', events: [eventOf(1, 'q', { tenantId: 'other' })] },
    'an epoch of the same name': { tenantId: 'other', epoch: 'a', events: [] },
  }
  for (const [title, feed] of Object.entries(theirs)) {
    for (const withCopy of [true, false]) {
      it(`is left as it is and reports so when that one has ${title} (${withCopy ? 'with' : 'without'} a view)`, async () => {
        let served: SmallFeed = { tenantId: 't', epoch: 'a', events: eventsOf(30) }
        const consumer = createConsumer('applyThenSave')
        const checkpoint = memoryCheckpoint()
        const reasons: ResyncReason[] = []
        const client = createClient({
          baseUrl: 'http://feed.example',
          key: 'k',
          fetch: ownReadsOver(() => served),
          sleep: async () => undefined,
        })
        const options = {
          checkpoint,
          apply: consumer.apply,
          ...(withCopy ? { copy: consumer.copy, allowMassRemoval: true } : {}),
          onResync: (reason: ResyncReason) => void reasons.push(reason),
        }
        await client.sync(options)
        const before = JSON.stringify(checkpoint.current())
        served = feed
        await assert.rejects(client.sync(options), (error) => {
          assert.ok(error instanceof CheckpointError, String(error))
          assert.match(error.message, /tenant t, the key reads tenant other/)
          return true
        })
        assert.equal(consumer.rows.size, 30)
        assert.equal(JSON.stringify(checkpoint.current()), before)
        assert.deepEqual(reasons, [])
      })
    }
  }
})
