/**
 * What this node knows about feeds from its own last commits, so that the usual append reads nothing first. Other nodes may have
 * published since: a plan made from this counts only once it is checked under the lock (docs/decisions/0005).
 */
import { BoundedMap } from '../../../runtime/bounded-map.ts'
import { feedName } from '../../feed-key.ts'
import type { AppendBatch } from '../../append/append-batch.ts'
import type { FeedKey } from '../../feed-key.ts'
import type { SubjectState } from '../../append/subject-state.ts'
import { feedNumbers } from '../../../sql/database.ts'
import type { FeedReading, Reading, SubjectRow } from './feed-state.ts'
import type { FeedPlan, Stamped } from './plan-commit.ts'
import { recentEvents } from '../recent-events.ts'
import type { RecentEvents } from '../recent-events.ts'

export interface FeedStateCache {
  /**
   * Like `readFeeds`, with all ids assumed free; `undefined` unless every feed and subject named is in the cache, from commits of the same
   * history (D13) as that of the connection.
   */
  reading(batches: readonly AppendBatch[], history: string): Reading | undefined
  /**
   * Records what a call has written. While connections lead to two histories, only the newer one is recorded. `isCommitted`: left to the
   * transaction otherwise.
   */
  record(
    plans: readonly FeedPlan[],
    stamped: ReadonlyMap<string, Stamped>,
    history: string,
    isCommitted: boolean,
  ): void
  /** These feeds have changed: a plan was stale, or another node has reported an append. */
  forget(keys: readonly FeedKey[]): void
  /** Any feed may have changed. A new connection for writing can lead to another history, which is then the present one. */
  forgetAll(history?: string): void
}

/** Some 300 bytes each. */
const feedsAtMost = 20_000
/** Some 500 bytes each. */
const subjectsAtMost = 20_000

interface CachedFeed {
  readonly revision: number
  lastPosition: number
  offset: number
}

interface CachedSubject {
  /** Valid for as long as this is the cache's entry for the feed. */
  readonly feed: CachedFeed
  readonly row: SubjectRow
}

/** `recent`: records and forgets the same. */
export function feedStateCache(recent: RecentEvents = recentEvents()): FeedStateCache {
  const feeds = new BoundedMap<string, CachedFeed>(feedsAtMost)
  const subjects = new BoundedMap<string, CachedSubject>(subjectsAtMost)
  let newest = ''

  return {
    reading(batches, history) {
      if (history !== newest) return undefined
      const readings = new Map<string, FeedReading>()
      for (const { key, drafts } of batches) {
        const name = feedName(key)
        const feed = feeds.get(name)
        if (feed === undefined) return undefined
        const reading = readings.get(name) ?? readingOf(key, feed)
        readings.set(name, reading)
        for (const { subjectId } of drafts) {
          const subject = subjects.get(subjectName(key, subjectId))
          if (subject?.feed !== feed) return undefined
          reading.subjects.set(subjectId, subject.row)
        }
      }
      return { now: 0n, floor: 0n, feeds: readings }
    },
    record(plans, stamped, history, isCommitted) {
      if (history !== newest) return
      if (isCommitted) recent.record(plans, stamped)
      for (const { reading, rows } of plans) {
        const { key, revision } = reading
        const name = feedName(key)
        const given = stamped.get(name)
        if (given === undefined) continue
        const { lastPosition, offset } = given
        const cached = feeds.get(name)
        const feed = cached?.revision === revision ? cached : { revision, lastPosition, offset }
        feed.lastPosition = lastPosition
        feed.offset = offset
        feeds.set(name, feed)
        for (const [index, { event }] of rows.entries()) {
          const position = lastPosition - rows.length + index + 1
          subjects.set(subjectName(key, event.subjectId), { feed, row: ownRow(event.state, position) })
        }
      }
    },
    forget(keys) {
      recent.forget(keys)
      for (const key of keys) feeds.delete(feedName(key))
    },
    forgetAll(history = newest) {
      newest = history
      recent.forgetAll()
      feeds.clear()
      subjects.clear()
    },
  }
}

/**
 * With hashes in memory of their own, which are so short that V8 has them in its heap. Those of a draft lie in memory that Node shares
 * between small buffers: kept as they are, each kept up to 8 kB, and after a siege buffers took 65 MB where they take 17.
 */
function ownRow(state: SubjectState, position: number): SubjectRow {
  const { payloadHash, updateDateHash } = state
  return { ...state, position, payloadHash: ownBytes(payloadHash), updateDateHash: ownBytes(updateDateHash) }
}

function ownBytes(bytes: Uint8Array | null): Uint8Array | null {
  return bytes && new Uint8Array(bytes)
}

function readingOf(key: FeedKey, { revision, lastPosition, offset }: CachedFeed): FeedReading {
  return {
    key,
    revision,
    lastPosition,
    offset,
    // The append checks under the lock whether the head is ahead of the clock (D25).
    lastCreated: undefined,
    lastSequence: lastPosition + offset,
    // Also checked under the lock.
    refusal: undefined,
    idsUnread: 'free',
    ids: new Map(),
    subjects: new Map(),
    events: new Map(),
  }
}

function subjectName({ tenantId, feed }: FeedKey, subjectId: string): string {
  return `${tenantId}${feedNumbers[feed]}${subjectId}`
}
