/**
 * Counts how often each of very many segments was asked for recently, in a table of fixed size. A segment's count is that of its place in
 * the table, which it may share with others. A map held thousands of keys for a second each, long enough for V8 to treat them as old and
 * to let tens of megabytes of them pile up.
 */
import type { SegmentId } from './segment-id.ts'

export interface RequestCounts {
  /** Adds one and returns the count: at least the number of times that the segment was asked for. */
  add(id: SegmentId): number
  /** Raises the count to at least `times`. */
  raise(id: SegmentId, times: number): void
  forget(id: SegmentId): void
  halve(): void
  clear(): void
}

/** 128 kB. Between two halvings a few thousand keys are counted; about one in ten shares its place. */
const places = 2 ** 16
const mostTimes = 2 ** 16 - 1

export function createRequestCounts(): RequestCounts {
  const counts = new Uint16Array(places)
  return {
    add(id) {
      const place = placeOf(id)
      const times = Math.min(mostTimes, (counts[place] ?? 0) + 1)
      counts[place] = times
      return times
    },
    raise(id, times) {
      const place = placeOf(id)
      counts[place] = Math.min(mostTimes, Math.max(times, counts[place] ?? 0))
    },
    forget(id) {
      counts[placeOf(id)] = 0
    },
    halve() {
      for (let place = 0; place < places; place += 1) counts[place] = (counts[place] ?? 0) >> 1
    },
    clear: () => void counts.fill(0),
  }
}

/** FNV-1a over the name's characters and the number, with the upper half folded into the place. */
function placeOf({ series, number }: SegmentId): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < series.length; index += 1) {
    hash = Math.imul(hash ^ series.charCodeAt(index), 0x01000193)
  }
  hash = Math.imul(hash ^ number, 0x01000193)
  return (hash ^ (hash >>> 16)) & (places - 1)
}
