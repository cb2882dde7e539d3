import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ViewName } from '@property-events/protocol'
import type { FeedKey } from '../../../src/events/feed-key.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { draft, feedKey, tenantA } from '../support/drafts.ts'
import { list, numbers, parseEvent, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { publishMixture } from './reading.ts'

interface Following {
  readonly key?: FeedKey
  readonly view?: ViewName
  readonly latestOnly?: boolean
  readonly limit: number
}

/** Everything behind `after`, in steps of `limit`. */
async function follow(store: StorageEngine, after: number, options: Following): Promise<readonly number[]> {
  const { key = feedKey(), view = 'all', latestOnly = false, limit } = options
  const found: number[] = []
  for (let from = after; ; from = found.at(-1) ?? from) {
    const events = await store.events.readAfter({ key, view, after: from, limit, latestOnly })
    assert.ok(events.length <= limit)
    for (const event of events) assert.equal(parseEvent(event.json).sequenceNumber, event.sequenceNumber)
    found.push(...numbers(events))
    if (events.length < limit) return found
  }
}

export function readAfterContract(factory: StoreFactory): void {
  describe('reading after a number', () => {
    it('gives the events strictly after the number, ascending, in every view (P1)', async () => {
      await using store = await withTenants(await factory.create())
      await publishMixture(store, 60)
      for (const view of ['all', 'sales', 'lettings'] as const) {
        const all = numbers(await list(store, { view }))
        for (const after of [0, 1, 17, 59, 60, 1000]) {
          const expected = all.filter((number) => number > after)
          for (const limit of [1, 7, 1000]) {
            assert.deepEqual(await follow(store, after, { view, limit }), expected)
          }
        }
      }
    })

    it("returns only each subject's latest when asked, in every view (P1)", async () => {
      await using store = await withTenants(await factory.create())
      await publishMixture(store, 60)
      await publish(store, [draft({ subject: 'mixed 1', category: 'lettings' })])
      const last = new Map((await list(store)).map((event) => [event.transactionId, event.sequenceNumber]))
      const latest = new Set(last.values())
      for (const view of ['all', 'sales', 'lettings'] as const) {
        const all = numbers(await list(store, { view }))
        for (const after of [0, 30, 61]) {
          const expected = all.filter((number) => number > after && latest.has(number))
          for (const limit of [1, 7, 1000]) {
            assert.deepEqual(await follow(store, after, { view, limit, latestOnly: true }), expected)
          }
        }
      }
    })

    it('does so in the contact feed (D18)', async () => {
      await using store = await withTenants(await factory.create())
      const key = feedKey(tenantA, 'contact')
      await publish(
        store,
        ['a', 'b', 'a'].map((subject, n) => draft({ subject, text: `${n}` })),
        { key },
      )
      assert.deepEqual(await follow(store, 0, { key, limit: 2 }), [1, 2, 3])
      assert.deepEqual(await follow(store, 0, { key, limit: 2, latestOnly: true }), [2, 3])
    })

    it('follows across the gap of a new epoch (D13)', async () => {
      await using store = await withTenants(await factory.create({ startSequence: 10 }))
      await publishMixture(store, 5)
      await store.startEpoch(100, 'cli:test')
      await publishMixture(store, 3)
      await store.startEpoch(0, 'cli:test')
      await publishMixture(store, 2)
      const all = [11, 12, 13, 14, 15, 101, 102, 103, 104, 105]
      assert.deepEqual(numbers(await list(store)), all)
      for (const after of [0, 5, 10, 11, 14, 15, 50, 100, 101, 103, 104, 105, 106]) {
        const expected = all.filter((number) => number > after)
        assert.deepEqual(await follow(store, after, { limit: 3 }), expected)
        const sales = new Set(numbers(await list(store, { view: 'sales' })))
        assert.deepEqual(
          await follow(store, after, { limit: 3, view: 'sales' }),
          expected.filter((number) => sales.has(number)),
        )
      }
    })
  })
}
