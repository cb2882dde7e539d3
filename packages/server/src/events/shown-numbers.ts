/**
 * The highest number that this thread has shown or acknowledged in each feed. A new number raises the feed's count before it is shown,
 * because what any thread of the node has cached of the feed may be older: a commit can be read a moment before it is counted, and a
 * commit of another node long before this node is notified. So no list that is answered from memory is older than what a reader has
 * already seen here. On PostgreSQL these numbers are also what a restored database must still hold (D13).
 */
import { parseCreatedDate } from '@property-events/protocol/plain'
import type { Ticks } from '@property-events/protocol'
import { BoundedMap } from '../runtime/bounded-map.ts'
import type { ChangeCounts } from './watchers.ts'
import { feedName } from './feed-key.ts'
import type { AppendBatch, AppendOutcome, AppendedEvent } from './append/append-batch.ts'
import type { EventStore, Head, StoredEvent } from './event-log.ts'
import type { FeedKey } from './feed-key.ts'
import { hasAppended } from './watchers.ts'

export interface ShownNumber {
  readonly key: FeedKey
  readonly sequenceNumber: number
  /** `undefined` if only the number was seen. */
  readonly created: Ticks | undefined
}

export interface ShownNumbers {
  /** Records the numbers that were read, before they are shown. */
  record(key: FeedKey, sequenceNumber: number, created?: Ticks): void
  /** Records stored events that a dry run shows; events that would be stored have no number. */
  recordPreviewed(batch: AppendBatch, outcome: AppendOutcome): void
  /** Records what is acknowledged. If events were added, the feed's count always rises. */
  recordAppended(batches: readonly AppendBatch[], outcomes: readonly AppendOutcome[]): void
  highest(key: FeedKey): number
  /** The store need no longer hold this number. Does nothing if a higher one was shown since. */
  forget(key: FeedKey, sequenceNumber: number): void
  all(): readonly ShownNumber[]
}

/** Some 10 MB. Feeds that were not read for a long time are forgotten first; their next read raises their count. */
const feedsAtMost = 50_000

export function shownNumbers(counts: Pick<ChangeCounts, 'raise'>): ShownNumbers {
  const shown = new BoundedMap<string, RecordedNumber>(feedsAtMost)

  /** True if the number is new. */
  function recordNumber(key: FeedKey, sequenceNumber: number, created: Ticks | string | undefined): boolean {
    const name = feedName(key)
    const before = shown.get(name)
    if (before !== undefined && before.sequenceNumber >= sequenceNumber) return false
    shown.set(name, { key, sequenceNumber, created })
    return true
  }

  return {
    record(key, sequenceNumber, created) {
      if (recordNumber(key, sequenceNumber, created)) counts.raise(key)
    },
    recordPreviewed({ key }, outcome) {
      const newest = highestOf(outcome)
      if (newest !== undefined && recordNumber(key, newest.sequenceNumber, newest.createdDate))
        counts.raise(key)
    },
    recordAppended(batches, outcomes) {
      for (const [index, { key }] of batches.entries()) {
        const outcome = outcomes[index]
        const newest = highestOf(outcome)
        if (newest === undefined) continue
        const isNews = recordNumber(key, newest.sequenceNumber, newest.createdDate)
        // A repeat of an event that another node has stored shows it as a read would.
        if (isNews && !hasAppended(outcome)) counts.raise(key)
      }
    },
    highest: (key) => shown.get(feedName(key))?.sequenceNumber ?? 0,
    forget(key, sequenceNumber) {
      const name = feedName(key)
      if (shown.get(name)?.sequenceNumber === sequenceNumber) shown.delete(name)
    },
    all: () => [...shown.values()].filter(({ sequenceNumber }) => sequenceNumber > 0).map(shownOf),
  }
}

/** A time may still be the text of a receipt: it is needed only after a failover, and reading it takes a fiftieth of a single publication. */
interface RecordedNumber extends Omit<ShownNumber, 'created'> {
  readonly created: Ticks | string | undefined
}

function shownOf({ key, sequenceNumber, created }: RecordedNumber): ShownNumber {
  return { key, sequenceNumber, created: typeof created === 'string' ? parseCreatedDate(created) : created }
}

/** Repeats are in the order in which they were sent, so the last one need not be the newest. */
function highestOf(outcome: AppendOutcome | undefined): AppendedEvent['stored'] {
  let highest: AppendedEvent['stored']
  if (outcome?.kind !== 'stored') return highest
  for (const { stored } of outcome.events) {
    if (stored !== undefined && stored.sequenceNumber > (highest?.sequenceNumber ?? 0)) highest = stored
  }
  return highest
}

/** The reads that can show an event for the first time; the other reads use what one of these has located. */
export type ShowingReads = Pick<
  EventStore,
  'locate' | 'readEvent' | 'readAfter' | 'readLatest' | 'readNewest' | 'readSubject' | 'head' | 'heads'
>

/** The same reads, which first record everything they return. */
export function recordedReads(reads: ShowingReads, shown: ShownNumbers): ShowingReads {
  const recordHead = (key: FeedKey, head: Head | undefined): void => {
    if (head !== undefined && head.position > 0) shown.record(key, head.sequenceNumber, head.created)
  }
  const recordEvent = (key: FeedKey, event: StoredEvent | undefined): void => {
    if (event !== undefined) shown.record(key, event.sequenceNumber)
  }
  return {
    async locate(query) {
      const located = await reads.locate(query)
      recordHead(query.key, located?.head)
      return located
    },
    async head(key) {
      const head = await reads.head(key)
      recordHead(key, head)
      return head
    },
    async heads(keys) {
      const heads = await reads.heads(keys)
      for (const [index, key] of keys.entries()) recordHead(key, heads[index])
      return heads
    },
    async readEvent(key, id, branches) {
      const event = await reads.readEvent(key, id, branches)
      recordEvent(key, event)
      return event
    },
    async readLatest(key, subjectId, branches, upTo) {
      const event = await reads.readLatest(key, subjectId, branches, upTo)
      recordEvent(key, event)
      return event
    },
    async readAfter(query) {
      const events = await reads.readAfter(query)
      recordEvent(query.key, events.at(-1))
      return events
    },
    async readNewest(query) {
      const events = await reads.readNewest(query)
      recordEvent(query.key, events[0])
      return events
    },
    async readSubject(query) {
      const events = await reads.readSubject(query)
      recordEvent(query.key, events.at(-1))
      return events
    },
  }
}
