/** Polls as a reader makes them, whom a node may answer from memory, beside the same straight from the database. */
import assert from 'node:assert/strict'
import type { FeedEvent, Ticks } from '@property-events/protocol'
import type { FeedKey } from '../../../src/events/feed-key.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { located, parseEvent } from '../../store/support/read-back.ts'
import { ticks } from '../../store/support/test-clock.ts'

/** By time, of everything since `from`, and by number, of everything after `number`. */
export async function pollBoth(
  { events }: StorageEngine,
  key: FeedKey,
  from: Ticks,
  number: number,
): Promise<void> {
  const text = (pieces: readonly Uint8Array[]): string => Buffer.concat(pieces).toString()
  const { range, head } = await located({ events }, { key, from })
  const run = { key, view: 'all', after: number, limit: 100, latestOnly: false } as const
  const now = await events.head(key)
  assert.ok(now !== undefined)
  // Parts of them may be known where not all are.
  for (const most of [100, 2, 1]) {
    const page = { ...range, count: Math.min(most, range.count) }
    const [ours, theirs] = [await events.readRange({ ...page, head }), await events.readRange(page)]
    assert.equal(text(ours), text(theirs))
    const short = { ...run, limit: most }
    const known = await events.readAfter({ ...short, head: now })
    const stored = await events.readAfter(short)
    assert.deepEqual(known.map(withNumber), stored.map(withNumber))
  }
  const all = (await events.readAfter({ ...run, after: 0, limit: 1_000 })).map(({ json }) => parseEvent(json))
  const since = all.filter(({ createdDate }) => ticks(createdDate) >= from)
  assert.equal(range.count, since.length)
}

function withNumber(event: { readonly sequenceNumber: number; readonly json: Uint8Array }): {
  readonly sequenceNumber: number
  readonly event: FeedEvent
} {
  return { sequenceNumber: event.sequenceNumber, event: parseEvent(event.json) }
}
