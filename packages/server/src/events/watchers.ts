/** The listeners for feeds that may have got events. Every engine keeps one such list. */
import { feedName } from './feed-key.ts'
import type { AppendBatch, AppendOutcome } from './append/append-batch.ts'
import type { FeedKey } from './feed-key.ts'

/** `undefined`: perhaps any feed. */
type FeedListener = (key: FeedKey | undefined) => void

export interface Watchers {
  /** Returns how to stop. */
  watch(listener: FeedListener): () => void
  /** Raises the feed's count first. */
  notify(key: FeedKey | undefined): void
  /** Notifies of every feed that an append has added to, and returns the outcomes as they came. */
  notifyAppended(
    batches: readonly AppendBatch[],
    outcomes: readonly AppendOutcome[],
  ): readonly AppendOutcome[]
  changeCount(key: FeedKey): number
}

export function watchers(counts: ChangeCounts = changeCounts()): Watchers {
  const listeners = new Set<FeedListener>()
  const notify = (key: FeedKey | undefined): void => {
    counts.raise(key)
    for (const listener of listeners) listener(key)
  }
  return {
    watch(listener) {
      // One object per call: the same function may be given twice, and stopped once.
      const own: FeedListener = (key) => listener(key)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
    notify,
    notifyAppended(batches, outcomes) {
      for (const key of appendedFeeds(batches, outcomes)) notify(key)
      return outcomes
    },
    changeCount: (key) => counts.of(key),
  }
}

/** The feeds that have got events, each once. */
export function appendedFeeds(
  batches: readonly AppendBatch[],
  outcomes: readonly AppendOutcome[],
): readonly FeedKey[] {
  const [only] = batches
  // Nothing has to be told apart, as for every publication of a lone publisher.
  if (only !== undefined && batches.length === 1) return hasAppended(outcomes[0]) ? [only.key] : []
  const keys = new Map<string, FeedKey>()
  for (const [index, { key }] of batches.entries()) {
    if (hasAppended(outcomes[index])) keys.set(feedName(key), key)
  }
  return [...keys.values()]
}

/** Whether events were added: a repeat adds none. */
export function hasAppended(outcome: AppendOutcome | undefined): boolean {
  return (
    outcome?.kind === 'stored' &&
    outcome.events.some(({ status }) => status === 'appended' || status === 'derived')
  )
}

/**
 * Counts how often feeds have changed, in memory that the thread that writes for SQLite shares: a note about a feed is valid until its count changes.
 * Feeds share counts, so a count may change without reason; it never stays the same after a change.
 */
export interface ChangeCounts {
  /** For the thread that writes, which makes its own `changeCounts` over this memory. */
  readonly memory: SharedArrayBuffer
  of(key: FeedKey): number
  /** Call it after a commit, and before the acknowledgement (P8). `undefined`: any feed may have changed. */
  raise(key: FeedKey | undefined): void
}

/** 16 kB. If a thousand feeds are written to between two checks, one unchanged feed in five is read for nothing. */
const slots = 4_096

export function changeCounts(
  memory: SharedArrayBuffer = new SharedArrayBuffer(slots * Int32Array.BYTES_PER_ELEMENT),
): ChangeCounts {
  // They wrap around at 2^32 without harm.
  const counts = new Int32Array(memory)

  return {
    memory,
    of: (key) => Atomics.load(counts, slotOf(key)),
    raise(key) {
      if (key !== undefined) Atomics.add(counts, slotOf(key), 1)
      else for (let slot = 0; slot < slots; slot += 1) Atomics.add(counts, slot, 1)
    },
  }
}

/** Tenant ids are UUIDs that strangers cannot choose. */
function slotOf({ tenantId, feed }: FeedKey): number {
  let hash = feed === 'property' ? 1 : 2
  for (let index = 0; index < tenantId.length; index += 1) {
    hash = Math.imul(hash ^ tenantId.charCodeAt(index), 0x01000193)
  }
  return ((hash ^ (hash >>> 15)) >>> 0) % slots
}
