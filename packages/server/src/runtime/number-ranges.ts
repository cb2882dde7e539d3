/** Sets of whole numbers as ranges in ascending order, neither touching nor overlapping. */

/** From the first to the last number, both included. */
export type NumberRange = readonly [first: number, last: number]

export interface NumberRanges {
  add(first: number, last: number): void
  /** The number of ranges. */
  readonly size: number
  ranges(): readonly NumberRange[]
}

/**
 * Cheap if numbers come in order or repeat: a consumer reads page after page, or polls the same one. Otherwise it takes a binary search
 * and, for a new range, moving those after it.
 */
export function numberRanges(): NumberRanges {
  const firsts: number[] = []
  const lasts: number[] = []

  /** The first range whose last number is not smaller than `number`. */
  const place = (number: number): number => {
    const end = firsts.length - 1
    if (end >= 0 && (lasts[end] ?? 0) < number) return end + 1
    let low = 0
    let high = firsts.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((lasts[middle] ?? 0) < number) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    add(first, last) {
      // The first range that touches it, and the first one after it that does not.
      const from = place(first - 1)
      let to = from
      while (to < firsts.length && (firsts[to] ?? 0) <= last + 1) to += 1
      if (from === to) {
        firsts.splice(from, 0, first)
        lasts.splice(from, 0, last)
        return
      }
      const [joinedFirst, joinedLast] = [
        Math.min(first, firsts[from] ?? first),
        Math.max(last, lasts[to - 1] ?? last),
      ]
      if (to - from === 1) {
        firsts[from] = joinedFirst
        lasts[from] = joinedLast
        return
      }
      firsts.splice(from, to - from, joinedFirst)
      lasts.splice(from, to - from, joinedLast)
    },
    get size() {
      return firsts.length
    },
    ranges: () => firsts.map((first, index): NumberRange => [first, lasts[index] ?? first]),
  }
}

/** The ranges of both. */
export function joinRanges(
  one: readonly NumberRange[],
  other: readonly NumberRange[],
): readonly NumberRange[] {
  const joined = numberRanges()
  for (const [first, last] of [...one, ...other].toSorted(([a], [b]) => a - b)) joined.add(first, last)
  return joined.ranges()
}

/** The numbers of one that the other does not have. */
export function withoutRanges(
  one: readonly NumberRange[],
  other: readonly NumberRange[],
): readonly NumberRange[] {
  const left: NumberRange[] = []
  let at = 0
  for (const [first, last] of one) {
    let from = first
    // Both ascend, so what ends before this range is behind the following ones as well.
    while ((other[at]?.[1] ?? Infinity) < from) at += 1
    for (let next = at; from <= last; next += 1) {
      const [nextFirst, nextLast] = other[next] ?? [Infinity, Infinity]
      if (nextFirst > last) break
      if (nextFirst > from) left.push([from, nextFirst - 1])
      from = nextLast + 1
    }
    if (from <= last) left.push([from, last])
  }
  return left
}

/** The ranges of a JSON text, as the tables have them. */
export function rangesOf(text: string): readonly NumberRange[] {
  const ranges: readonly NumberRange[] = JSON.parse(text)
  return ranges
}
