/** The media of a payload, numbered as in a listing. */
import { nameOf } from '@property-events/client/listing'
import { oneLine } from '../../../words/plain.ts'
import type { Item } from './items.ts'

/** An item of `media`, whatever the payload has there. */
export interface MediaItem extends Item {
  /** `photograph`, `floor plan`, …; `medium` if its type is unknown. `position` counts within its kind. */
  readonly kind: string
  /** Unchanged: it can be any text. Empty if there is none. */
  readonly url: string
  readonly caption: string
}

/** The most items to examine: a payload of a megabyte has room for a hundred thousand. */
export const mostItems = 2_000

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
