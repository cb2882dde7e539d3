/** The live count of a feed against its subjects, counted one by one: the checker of what the counter says. */
import assert from 'node:assert/strict'
import { meaningOf } from '@property-events/protocol'
import type { FeedKey } from '../../../src/events/feed-key.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { parseEvent } from './read-back.ts'

/** As the counter says. */
export async function liveCount(store: StorageEngine, key: FeedKey): Promise<number | undefined> {
  const counts = await store.events.counts(key.tenantId)
  return counts.find((count) => count.key.feed === key.feed)?.live
}

/** By the latest event of each subject: it is there unless that is a removal. */
export async function recount(store: StorageEngine, key: FeedKey): Promise<number> {
  let live = 0
  for (let before: number | undefined; ;) {
    const step = await store.events.readNewest({ key, view: 'all', before, limit: 100 })
    const codes = step.map(({ json }) => parseEvent(json).eventTypeShortCode)
    live += codes.filter((code) => meaningOf(key.feed, code) !== 'gone').length
    before = step.at(-1)?.position
    if (step.length < 100) return live
  }
}

export async function assertCounted(store: StorageEngine, key: FeedKey): Promise<void> {
  assert.equal(await liveCount(store, key), await recount(store, key), 'the live count')
}
