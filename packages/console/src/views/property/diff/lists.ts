/** What makes the items of a list the same in two payloads. */
import type { Item } from './items.ts'
import { readMedia, memberOf } from './media.ts'
import { showValue } from './show-value.ts'

/** The most items of a list to compare. */
export const mostListed = 2_000

/** Members that identify an item, the most reliable first. */
const identifying = ['id', 'media_url', 'url', 'agent_ref', 'room_name', 'name'] as const

/** `pointer`: of the list. */
export function itemsOf(list: readonly unknown[], pointer: string): readonly Item[] {
  if (pointer === '/media') return readMedia(list)
  const identity = identifying.find((name) => list.every((item) => isText(memberOf(item, name))))
  return list.map((value, index) => ({
    identity: identityOf(value, identity, index),
    position: index + 1,
    name: nameOfItem(value, identity, pointer, index),
    value,
  }))
}

/** Objects that nothing identifies are known by their position. */
function identityOf(value: unknown, member: string | undefined, index: number): string {
  if (member !== undefined) return textOf(memberOf(value, member))
  if (typeof value === 'object' && value !== null) return `at ${index}`
  return `${typeof value} ${String(value)}`
}

function nameOfItem(value: unknown, member: string | undefined, pointer: string, index: number): string {
  if (member !== undefined) return showValue(memberOf(value, member), '') ?? `number ${index + 1}`
  if (typeof value === 'object' && value !== null) return `number ${index + 1}`
  return showValue(value, `${pointer}/${index}`) ?? 'null'
}

function isText(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number'
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : String(value)
}
