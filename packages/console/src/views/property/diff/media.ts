/** The media of a payload as a page shows them. */
import { nameOf } from '@property-events/client/listing'
import { oneLine } from '../../../words/plain.ts'
import { isObject, memberOf } from './members.ts'

/** An item of `media`, whatever the payload has there. */
export interface MediaItem {
  /** `photograph`, `floor plan`, …; `medium` if its type is unknown. */
  readonly kind: string
  /** Where it is shown among those of its kind, counted from 1. */
  readonly position: number
  readonly name: string
  /** Without its `sort_order`. */
  readonly unordered: unknown
  /** Unchanged: it can be any text. Empty if there is none. */
  readonly url: string
  readonly caption: string
}

/** Sorted by `sort_order`, with those without one at the end, as in a listing. */
export function readMedia(media: unknown): readonly MediaItem[] {
  if (!Array.isArray(media)) return []
  const items: readonly unknown[] = media
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
    return { kind, position, name: `${kind} ${position}`, unordered: withoutOrder(value), url, caption }
  })
}

/** Kind by kind, each in the order in which it is shown: an item moves among those of its kind. */
export function byKind(items: readonly MediaItem[]): readonly MediaItem[] {
  return items.toSorted((a, b) => Number(a.kind > b.kind) - Number(a.kind < b.kind))
}

function withoutOrder(value: unknown): unknown {
  if (!isObject(value)) return value
  const { sort_order: _order, ...others } = value
  return others
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
