/** What answers contain of a feed, for the ledger of what was sent (D28). */
import type { FeedName } from '@property-events/protocol'
import type { NumberRange, DisclosureView } from './disclosure.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { StoredEvent, ViewRange } from '../../events/event-log.ts'

/** The events in an answer. */
export interface Disclosure {
  readonly key: FeedKey
  readonly view: DisclosureView
  readonly ranges: readonly NumberRange[]
}

/** Feeds whose reads are noted: those with personal data. */
const disclosingFeeds: Readonly<Record<FeedName, boolean>> = { contact: true, property: false }

export function isDisclosure(feed: FeedName): boolean {
  return disclosingFeeds[feed]
}

/** `undefined`: nothing to note. */
export function disclosedRange({ key, view, first, count, positions }: ViewRange): Disclosure | undefined {
  if (count === 0 || !isDisclosure(key.feed)) return undefined
  if (positions === undefined) return { key, view, ranges: [[first, first + count - 1]] }
  const listed = [...positions.subarray(first - 1, first - 1 + count)]
  return { key, view: 'all', ranges: listed.map((position): NumberRange => [position, position]) }
}

export function disclosedEvents(
  key: FeedKey,
  events: readonly Pick<StoredEvent, 'sequenceNumber'>[],
): Disclosure | undefined {
  if (events.length === 0 || !isDisclosure(key.feed)) return undefined
  const ranges = events.map(({ sequenceNumber }): NumberRange => [sequenceNumber, sequenceNumber])
  return { key, view: 'numbers', ranges }
}
