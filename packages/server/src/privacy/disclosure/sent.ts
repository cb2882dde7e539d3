/** What answers contain of a feed, for the ledger of what was sent (D28). */
import type { FeedName } from '@property-events/protocol'
import type { NumberRange, SentView } from './disclosure.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { StoredEvent, ViewRange } from '../../events/event-log.ts'

/** The events in an answer. */
export interface Sent {
  readonly key: FeedKey
  readonly view: SentView
  readonly ranges: readonly NumberRange[]
}

/** Feeds whose reads are noted: those with personal data. */
const notedFeeds: Readonly<Record<FeedName, boolean>> = { contact: true, property: false }

export function isNoted(feed: FeedName): boolean {
  return notedFeeds[feed]
}

/** `undefined`: nothing to note. */
export function sentRange({ key, view, first, count, positions }: ViewRange): Sent | undefined {
  if (count === 0 || !isNoted(key.feed)) return undefined
  if (positions === undefined) return { key, view, ranges: [[first, first + count - 1]] }
  const listed = [...positions.subarray(first - 1, first - 1 + count)]
  return { key, view: 'all', ranges: listed.map((position): NumberRange => [position, position]) }
}

export function sentEvents(
  key: FeedKey,
  events: readonly Pick<StoredEvent, 'sequenceNumber'>[],
): Sent | undefined {
  if (events.length === 0 || !isNoted(key.feed)) return undefined
  const ranges = events.map(({ sequenceNumber }): NumberRange => [sequenceNumber, sequenceNumber])
  return { key, view: 'numbers', ranges }
}
