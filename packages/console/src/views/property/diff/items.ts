/** Two lists of things that have an identity: what came, what went, and what changed its place. */

export interface Item {
  /** What it is known by. Of items with the same one, the first is compared with the first, and so on. */
  readonly identity: string
  /** Its place from 1, as it is shown. */
  readonly place: number
  readonly name: string
  readonly value: unknown
}

export interface PairedItem<T extends Item = Item> {
  readonly before: T
  readonly after: T
  /** Its place among those that stayed is another. */
  readonly hasMoved: boolean
}

export interface PairedItems<T extends Item = Item> {
  /** Those in both, in their new order. */
  readonly pairs: readonly PairedItem<T>[]
  readonly added: readonly T[]
  readonly removed: readonly T[]
}

/** As few items as possible count as moved: one that is put in front of five others moves alone. */
export function pairItems<T extends Item>(before: readonly T[], after: readonly T[]): PairedItems<T> {
  const left = new Map<string, T[]>()
  for (const item of before.toReversed()) {
    const same = left.get(item.identity)
    if (same === undefined) left.set(item.identity, [item])
    else same.push(item)
  }
  const placeBefore = new Map(before.map((item, index) => [item, index]))
  const added: T[] = []
  const found: { readonly before: T; readonly after: T; readonly index: number }[] = []
  for (const item of after) {
    const old = left.get(item.identity)?.pop()
    if (old === undefined) added.push(item)
    else found.push({ before: old, after: item, index: placeBefore.get(old) ?? 0 })
  }
  const stayed = longestRise(found.map(({ index }) => index))
  const paired = new Set(found.map((pair) => pair.before))
  return {
    pairs: found.map((pair, index) => ({
      before: pair.before,
      after: pair.after,
      hasMoved: !stayed.has(index),
    })),
    added,
    removed: before.filter((item) => !paired.has(item)),
  }
}

/** The places of a longest rising sequence among the numbers, which are all different. */
function longestRise(numbers: readonly number[]): ReadonlySet<number> {
  /** Where the best sequence of each length ends. */
  const ends: number[] = []
  const previous: (number | undefined)[] = []
  for (const [place, number] of numbers.entries()) {
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((numbers[ends[middle] ?? 0] ?? 0) < number) low = middle + 1
      else high = middle
    }
    previous.push(low === 0 ? undefined : ends[low - 1])
    ends[low] = place
  }
  const rise = new Set<number>()
  for (let place = ends.at(-1); place !== undefined; place = previous[place]) rise.add(place)
  return rise
}
