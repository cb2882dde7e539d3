/** Readers that take the first page of the list again and again, and never the rest. */
import { catalogues } from '@property-events/protocol'
import type { EventTypeCatalogue } from '@property-events/protocol'
import type { StoredRead } from './consumer.ts'
import type { ConsumerLag } from './lag.ts'
import type { FeedConsumer } from './consumers-of-feed.ts'

/** No walk through a list pauses for longer between two pages. */
const pauseMs = 60_000
const largestPage = 1_000

/**
 * The number after which it has stopped, probably at an event type that it does not know: public importers know 0 and 1 alone, and stop at
 * any other number. `undefined`: nothing suggests that. `last`: its last answer. `catalogue`: the store's.
 */
export function stoppedAfter(
  { reading, readings, keyEnd }: Pick<FeedConsumer, 'reading' | 'readings' | 'keyEnd'>,
  [lag, ...others]: readonly ConsumerLag[],
  last: StoredRead | undefined,
  { catalogue, nowMs }: { readonly catalogue: EventTypeCatalogue; readonly nowMs: number },
): number | undefined {
  if (keyEnd !== undefined || last === undefined || !wasLastList(last)) return undefined
  const shown = reading?.eventTypes === undefined ? catalogue : catalogues[reading.eventTypes]
  if (Object.values(shown.property).every((number) => number <= 1)) return undefined
  // What it lacks was there when it last asked, and it has not asked for the next page since.
  if (lag?.sinceMs === undefined || others.length > 0 || lag.sinceMs > last.askedMs) return undefined
  if (nowMs - last.askedMs < pauseMs) return undefined
  return isFirstPage(readings) ? lag.through : undefined
}

/** Whether a feed's record can have such a reader, without a look at its events. */
export function mayHaveStopped(readings: readonly StoredRead[]): boolean {
  return readings.some((reading) => wasLastList(reading) && isFirstPage([reading]))
}

function wasLastList({ status, route }: StoredRead): boolean {
  return status === 200 && route === 'list'
}

function isFirstPage(readings: readonly StoredRead[]): boolean {
  const [sent, ...further] = readings.flatMap(({ ranges }) => ranges)
  return sent?.[0] === 1 && sent[1] <= largestPage && further.length === 0
}
