/** The media of a payload, numbered as a listing shows them. */
import { nameOf } from '@property-events/client/listing'
import { oneLine } from '../../../words/plain.ts'
import type { Item } from './items.ts'

/** One of `media`, whatever the payload has in its place. */
export interface MediaItem extends Item {
  /** `photograph`, `floor plan`, …; `medium` of no known type. Its `place` is that among those of its kind. */
  readonly kind: string
  /** As it stands: it can be any text. Empty where there is none. */
  readonly url: string
  readonly caption: string
}

/** Items that are looked at: a payload of a megabyte has room for a hundred thousand. */
export const mostItems = 2_000

/** By `sort_order`, those without one after them, as a listing sorts them. They are known by their address. */
export function readMedia(media: unknown): readonly MediaItem[] {
  if (!Array.isArray(media)) return []
  const items: readonly unknown[] = media.slice(0, mostItems)
  const sorted = items
    .map((value) => ({ value, order: memberOf(value, 'sort_order') }))
    .toSorted((a, b) => orderOf(a.order) - orderOf(b.order) || 0)
  const numbers = new Map<string, number>()
  return sorted.map(({ value }) => {
    const kind = kindOf(memberOf(value, 'media_type'))
    const place = (numbers.get(kind) ?? 0) + 1
    numbers.set(kind, place)
    const url = textOf(memberOf(value, 'media_url'))
    const caption = oneLine(textOf(memberOf(value, 'caption')))
    return { identity: url, place, name: `${kind} ${place}`, value, group: kind, kind, url, caption }
  })
}

export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}

function orderOf(order: unknown): number {
  // Two infinities have no difference, so that a large number stands for "at the end".
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
