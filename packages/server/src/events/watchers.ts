/** The listeners for feeds that may have got events. Every engine keeps one such list. */
import { changeCounts } from './change-counts.ts'
import type { ChangeCounts } from './change-counts.ts'
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
