/** What answers deliver to consumers, in the numbers that each kind of read uses (D28). */
import type { FeedKey } from '../events/feed-key.ts'
import type { FeedView } from '../events/branches/branch-view.ts'
import type { Head, StoredEvent, ViewRange } from '../events/event-log.ts'
import type { NumberRange } from '../runtime/number-ranges.ts'
import type { ReadRoute } from './consumer.ts'
import type { EventRun } from '../reading/run.ts'
import type { Delivered } from './read-ranges.ts'

const none: readonly NumberRange[] = []

/**
 * A page. In a list of current events (`route` `current`) it counts up to its last position, from the one after the previous page: what
 * it leaves out was superseded.
 */
export function deliveredPage({ key, view, first, count, positions }: ViewRange, epoch: string): Delivered {
  const isQuiet = count === 0
  if (positions === undefined) {
    const ranges: readonly NumberRange[] = isQuiet ? none : [[first, first + count - 1]]
    return { key, view, space: 'ordinals', epoch, route: 'list', ranges, isQuiet }
  }
  const from = first === 1 ? 1 : (positions[first - 2] ?? 0) + 1
  const through = positions[first + count - 2] ?? 0
  const ranges: readonly NumberRange[] = isQuiet ? none : [[from, through]]
  return { key, view, space: 'positions', epoch, route: 'current', ranges, isQuiet }
}

/** For a 304, or another read of a page that its reader already has: nothing was sent, and it has everything so far. */
export function nothingDelivered(delivered: Delivered): Delivered {
  return { ...delivered, ranges: none, isQuiet: true }
}

interface AfterNumber {
  readonly key: FeedKey
  readonly view: FeedView
  readonly after: number
  readonly route: 'run' | 'wait' | 'stream'
  /** Only some types: what is left out was not sent, so no range is without a gap. */
  readonly isPart: boolean
}

type DeliveredRun = Pick<EventRun, 'events' | 'next'> & { readonly head: Pick<Head, 'sequenceNumber'> }

/** Everything of the view after a number, or the part of it that has some types. */
export function deliveredAfter({ key, view, after, route, isPart }: AfterNumber) {
  return ({ events, next, head }: DeliveredRun): Delivered => {
    const isQuiet = events.length === 0 && next >= head.sequenceNumber
    if (isPart) return { ...deliveredEvents(key, events, route), isQuiet }
    return deliveredThrough({ key, view, after, through: next, route, isQuiet })
  }
}

interface ThroughNumber {
  readonly key: FeedKey
  readonly view: FeedView
  /** It already had everything up to this number. */
  readonly after: number
  readonly through: number
  readonly route: 'run' | 'wait' | 'stream' | 'snapshot'
  readonly isQuiet: boolean
}

export function deliveredThrough({ key, view, after, through, route, isQuiet }: ThroughNumber): Delivered {
  const ranges: readonly NumberRange[] = through > after ? [[after + 1, through]] : none
  return { key, view, space: route === 'snapshot' ? 'latest' : 'numbers', epoch: '', route, ranges, isQuiet }
}

/** Events that were read one by one, or those of one subject. */
export function deliveredEvents(
  key: FeedKey,
  events: readonly Pick<StoredEvent, 'sequenceNumber'>[],
  route: Exclude<ReadRoute, 'list' | 'current' | 'snapshot'>,
): Delivered {
  const ranges = events.map(({ sequenceNumber }): NumberRange => [sequenceNumber, sequenceNumber])
  return { key, view: 'single', space: 'numbers', epoch: '', route, ranges, isQuiet: false }
}

/** An event of which only the position is known. */
export function deliveredPosition(key: FeedKey, epoch: string, position: number): Delivered {
  const ranges: readonly NumberRange[] = [[position, position]]
  return { key, view: 'single', space: 'positions', epoch, route: 'event', ranges, isQuiet: false }
}
