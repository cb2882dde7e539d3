/** The feed as it is in the end, which all that was ever answered is held against. */
import type { EventInFeed, View } from './record.ts'

export interface KeptFeed {
  /** The bytes of each event, ascending. */
  readonly kept: readonly string[]
  readonly events: readonly EventInFeed[]
  /** The same bytes, to ask whether some are among them. */
  readonly bytes: ReadonlySet<string>
  /** From an id to its place, from 0; of an id that is there twice, to the last. */
  readonly byId: ReadonlyMap<string, number>
  /** For each view, the places of its events. */
  readonly views: Readonly<Record<View, readonly number[]>>
}

export function eventsOf(kept: readonly string[]): KeptFeed {
  const events = kept.map((bytes) => JSON.parse(bytes) as EventInFeed)
  const views = events.map(({ payload }) => (JSON.parse(payload) as { view?: string }).view)
  const places = events.map((_, place) => place)
  return {
    kept,
    events,
    bytes: new Set(kept),
    byId: new Map(events.map(({ id }, place) => [id, place])),
    views: {
      all: places,
      sales: places.filter((place) => views[place] === 'sales'),
      lettings: places.filter((place) => views[place] === 'lettings'),
    },
  }
}

/** How many of the ascending values are smaller than `limit`. */
export function countBelow<T extends number | string>(
  count: number,
  valueAt: (place: number) => T,
  limit: T,
): number {
  let [low, high] = [0, count]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (valueAt(middle) < limit) low = middle + 1
    else high = middle
  }
  return low
}

export function few(faults: readonly string[]): readonly string[] {
  return faults.length > 3 ? [...faults.slice(0, 3), `… and ${faults.length - 3} more like it`] : faults
}
