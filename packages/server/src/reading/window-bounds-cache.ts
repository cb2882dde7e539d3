/**
 * For a time and a view, the ordinal of the first event that is not before the time. Numbers and times rise together (P3), so this ordinal
 * no longer changes once the feed's head is as late as the time, until another epoch begins. The range of a closed window, one whose end
 * the head has reached, therefore follows from its two bounds without a query. A client that walks through the pages of a window asks for
 * the same bounds for each page; without this cache, each page was a query on PostgreSQL.
 */
import { BoundedMap } from '../runtime/bounded-map.ts'
import { isOpenWindow } from '../events/time-reservation.ts'
import { feedName } from '../events/feed-key.ts'
import type { Head, LocateQuery, Located, ViewRange } from '../events/event-log.ts'

interface WindowBoundsCache {
  /** The range of a window in a feed with this head; `undefined`: the window is open, or its bounds were not requested recently. */
  rangeOf(query: LocateQuery, head: Head): ViewRange | undefined
  /** Keeps the store's answer. */
  note(query: LocateQuery, located: Located): void
}

/** Some 160 bytes each. */
const boundLimit = 10_000

export function createWindowBoundsCache(): WindowBoundsCache {
  const ordinals = new BoundedMap<string, number>(boundLimit)
  const name = ({ key, view }: LocateQuery, { epoch }: Head, bound: bigint): string =>
    `${feedName(key)} ${view} ${epoch} ${bound}`

  return {
    rangeOf(query, head) {
      const { key, view, from, to } = query
      if (to === undefined || isReversed(query) || isOpenWindow(query, { head })) return undefined
      const end = ordinals.get(name(query, head, to))
      const first = from === undefined ? 1 : ordinals.get(name(query, head, from))
      if (first === undefined || end === undefined) return undefined
      return { key, view, first, count: end - first }
    },
    note(query, located) {
      const { from, to } = query
      const { range, head } = located
      if (to === undefined || isReversed(query) || isOpenWindow(query, located)) return
      ordinals.set(name(query, head, to), range.first + range.count)
      if (from !== undefined) ordinals.set(name(query, head, from), range.first)
    },
  }
}

/** True when the window ends before it begins: its range is empty and does not show where its end falls. */
function isReversed({ from, to }: LocateQuery): boolean {
  return from !== undefined && to !== undefined && from > to
}
