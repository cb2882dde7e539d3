/** Where an event is in the views that consumers read, and whether what they were sent includes it (D28). */
import { parseCreatedDate } from '@property-events/protocol'
import type { FeedEvent } from '@property-events/protocol'
import { branchViewName } from '../events/branches/branch-view.ts'
import type { FeedView } from '../events/branches/branch-view.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { StorageEngine } from '../store/storage.ts'
import type { ConsumerStore, ReadPart, SentRange, StoredRead } from './consumer.ts'
import type { FeedConsumer } from './consumers-of-feed.ts'
import { notMade, orIfNotMade } from './lag.ts'

/** The event's ordinal in each view that contains it; for `all`, its position. */
export type Places = ReadonlyMap<string, number>

/** For a set that is still being filled, nothing is known yet. */
export function isInBranches(
  { branches }: FeedConsumer,
  places: Places,
  unknown: ReadonlySet<FeedView>,
): boolean {
  if (branches === undefined) return true
  const view = branchViewName(branches, 'all')
  return unknown.has(view) || places.has(view)
}

export const categories = ['sales', 'lettings'] as const

/** `unknown`: views that do not exist, because they are still being made, or because no key that has not ended reads them any more. */
export async function placesOf(
  { events }: Pick<StorageEngine, 'events'>,
  key: FeedKey,
  event: FeedEvent,
  consumers: readonly FeedConsumer[],
): Promise<{ readonly places: Places; readonly unknown: ReadonlySet<FeedView> }> {
  const views = new Set<FeedView>(['all', ...categories])
  for (const { readings, branches } of consumers) {
    if (branches !== undefined) views.add(branchViewName(branches, 'all'))
    for (const { view } of readings) if (view !== 'single') views.add(view)
  }
  const created = parseCreatedDate(event.createdDate)
  const places = new Map<string, number>()
  const unknown = new Set<FeedView>()
  if (created === undefined) return { places, unknown }
  for (const view of views) {
    // Stamps rise with positions, so a window of one tick contains only this event.
    const located = await orIfNotMade(events.locate({ key, view, from: created, to: created + 1n }))
    if (located === notMade) unknown.add(view)
    else if (located?.range.count === 1) places.set(view, located.range.first)
  }
  return { places, unknown }
}

function placeIn(part: ReadPart, sequenceNumber: number, epoch: string, places: Places): number | undefined {
  if (part.view !== 'single' && !places.has(part.view)) return undefined
  if (part.space === 'numbers' || part.space === 'latest') return sequenceNumber
  if (part.epoch !== epoch) return undefined
  return places.get(part.space === 'positions' ? 'all' : part.view)
}

export function includes(
  readings: readonly StoredRead[],
  sequenceNumber: number,
  epoch: string,
  places: Places,
): boolean {
  return readings.some((reading) => {
    const place = placeIn(reading, sequenceNumber, epoch, places)
    return place !== undefined && reading.ranges.some(([first, last]) => first <= place && place <= last)
  })
}

interface FirstSearch {
  readonly key: FeedKey
  readonly event: FeedEvent
  /** Only ordinals of this epoch are looked for; `undefined`: of every epoch. */
  readonly epoch: string | undefined
  readonly places: Places
  readonly consumers: readonly FeedConsumer[]
  /** Whether a sending of this part counts. Default: each does. */
  readonly counts?: (part: ReadPart, sent: SentRange) => boolean
}

/** Of all parts, the first sending of the event to each consumer. */
export async function firstSentTo(
  store: Pick<ConsumerStore, 'firstSent'>,
  { key, event, epoch, places, consumers, counts = () => true }: FirstSearch,
): Promise<ReadonlyMap<FeedConsumer, SentRange>> {
  const searches = consumers.flatMap((consumer) =>
    consumer.readings.flatMap(({ keyId, name, view, space, epoch: ofPart }) => {
      const part = { view, space, epoch: ofPart }
      const number = placeIn(part, event.sequenceNumber, epoch ?? ofPart, places)
      return number === undefined ? [] : [{ ...part, consumer, key, keyId, name, number }]
    }),
  )
  const found = new Map<FeedConsumer, SentRange>()
  for (const [at, sent] of (await store.firstSent(searches)).entries()) {
    const search = searches[at]
    if (sent === undefined || search === undefined || !counts(search, sent)) continue
    const before = found.get(search.consumer)
    if (before === undefined || sent.minute < before.minute) found.set(search.consumer, sent)
  }
  return found
}
