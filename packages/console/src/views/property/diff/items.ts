import { nameOf } from '@property-events/client/listing'
import { oneLine } from '../../../words/plain.ts'

/** Two lists of items that have an identity: which came, which went, and which moved. */

export interface Item {
  /** Its identity. If several items have the same one, the first is compared with the first, and so on. */
  readonly identity: string
  /** Its displayed position, counted from 1. */
  readonly position: number
  readonly name: string
  readonly value: unknown
  /** Items are ordered only within their group. */
  readonly group?: string
}

export interface PairedItem<T extends Item = Item> {
  readonly before: T
  readonly after: T
  /** Its position among those that stayed has changed. */
  readonly hasMoved: boolean
}

interface PairedItems<T extends Item = Item> {
  /** Items in both lists, in their new order. */
  readonly pairs: readonly PairedItem<T>[]
  readonly added: readonly T[]
  readonly removed: readonly T[]
}

/** As few items as possible count as moved: if one is put in front of five others, only that one moves. */
export function pairItems<T extends Item>(before: readonly T[], after: readonly T[]): PairedItems<T> {
  const left = new Map<string, T[]>()
  for (const item of before.toReversed()) {
    const same = left.get(item.identity)
    if (same === undefined) left.set(item.identity, [item])
    else same.push(item)
  }
  const indexBefore = new Map(before.map((item, index) => [item, index]))
  const added: T[] = []
  const found: { readonly before: T; readonly after: T; readonly index: number }[] = []
  for (const item of after) {
    const old = left.get(item.identity)?.pop()
    if (old === undefined) added.push(item)
    else found.push({ before: old, after: item, index: indexBefore.get(old) ?? 0 })
  }
  const stayed = new Set(
    [...Map.groupBy(found, (pair) => pair.after.group).values()].flatMap((pairs) => longestRise(pairs)),
  )
  const paired = new Set(found.map((pair) => pair.before))
  return {
    pairs: found.map((pair) => ({ before: pair.before, after: pair.after, hasMoved: !stayed.has(pair) })),
    added,
    removed: before.filter((item) => !paired.has(item)),
  }
}

/** A longest rising sequence, by `index`, which is different for each. */
function longestRise<P extends { readonly index: number }>(pairs: readonly P[]): readonly P[] {
  /** The last of the best sequence of each length, and what comes before each. */
  const ends: P[] = []
  const previous = new Map<P, P | undefined>()
  for (const pair of pairs) {
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle]?.index ?? 0) < pair.index) low = middle + 1
      else high = middle
    }
    previous.set(pair, ends[low - 1])
    ends[low] = pair
  }
  const rise: P[] = []
  for (let pair = ends.at(-1); pair !== undefined; pair = previous.get(pair)) rise.push(pair)
  return rise
}

/** An item of `media`, whatever the payload has there. */
export interface MediaItem extends Item {
  /** `photograph`, `floor plan`, …; `medium` if its type is unknown. `position` counts within its kind. */
  readonly kind: string
  /** Unchanged: it can be any text. Empty if there is none. */
  readonly url: string
  readonly caption: string
}

/** The most items to examine: a payload of a megabyte has room for a hundred thousand. */
const mostItems = 2_000

/** Sorted by `sort_order`, with those without one at the end, as in a listing. Their address identifies them. */
export function readMedia(media: unknown): readonly MediaItem[] {
  if (!Array.isArray(media)) return []
  const items: readonly unknown[] = media.slice(0, mostItems)
  const sorted = items
    .map((value) => ({ value, order: memberOf(value, 'sort_order') }))
    .toSorted((a, b) => orderOf(a.order) - orderOf(b.order) || 0)
  const numbers = new Map<string, number>()
  return sorted.map(({ value }) => {
    const kind = kindOf(memberOf(value, 'media_type'))
    const position = (numbers.get(kind) ?? 0) + 1
    numbers.set(kind, position)
    const url = textOf(memberOf(value, 'media_url'))
    const caption = oneLine(textOf(memberOf(value, 'caption')))
    return { identity: url, position, name: `${kind} ${position}`, value, group: kind, kind, url, caption }
  })
}

export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}

function orderOf(order: unknown): number {
  // Two infinities have no difference, so a large number takes the place of "at the end".
  return typeof order === 'number' && Number.isFinite(order) ? order : Number.MAX_VALUE
}

function kindOf(type: unknown): string {
  if (type === 1) return 'photograph'
  const name = typeof type === 'number' ? nameOf('mediaType', type) : undefined
  if (name === undefined) return 'medium'
  return name.startsWith('EPC') ? name : name.toLowerCase()
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
