/** What differs between two payloads of a property, field by field. */
import { oneLine } from '../../../words/plain.ts'
import type { Difference, ItemChange, PayloadDifference } from './difference.ts'
import { isObject, own, saysTheSame } from './equal.ts'
import { memberOf, pairItems, readMedia } from './items.ts'
import type { Item, PairedItem } from './items.ts'
import { join, labelOf, rankOf } from './labels.ts'
import { longestShown, readableText, showValue } from './show-value.ts'
import { differingWords } from './words.ts'

/** The most differences to list. */
const mostDifferences = 100
/** Values below this depth are compared as a whole. */
const deepest = 16
/** The most pairs of words to compare: some 20 ms. */
const mostPairs = 2_000_000
/** The most changes of one list to list. */
const mostChanges = 100

/**
 * Both are results of `JSON.parse`. Absent and null are the same, as in the contract. The work is bounded, whatever a payload contains:
 * lists of more than 2,000 items, and values nested deeper than 16, are shown as one value. Some 10 ms for payloads of a megabyte.
 */
export function comparePayloads(before: unknown, after: unknown): PayloadDifference {
  const found: Found = { differences: [], more: 0, within: '', work: { pairs: mostPairs } }
  compareValues(found, before, after, '', 0)
  const differences = found.differences.toSorted((a, b) => rankOf(a.pointer) - rankOf(b.pointer))
  return { differences, more: found.more }
}

interface Found {
  readonly differences: Difference[]
  more: number
  /** The pointer to the present item. */
  readonly within: string
  /** Pairs of words that may still be compared, in all texts together. */
  readonly work: { pairs: number }
}

function add(found: Found, difference: Difference): void {
  if (found.differences.length < mostDifferences) found.differences.push(difference)
  else found.more += 1
}

function compareValues(found: Found, before: unknown, after: unknown, pointer: string, depth: number): void {
  if ((before ?? null) === (after ?? null)) return
  // For what is no longer listed, it is enough to know that it differs.
  const isFull = found.differences.length >= mostDifferences
  if (depth < deepest && !isFull) {
    if (isObject(before) && isObject(after)) return compareMembers(found, before, after, pointer, depth)
    if (Array.isArray(before) && Array.isArray(after)) {
      return compareLists(found, before, after, pointer, depth)
    }
    if (typeof before === 'string' && typeof after === 'string') {
      return compareTexts(found, before, after, pointer)
    }
  }
  if (!saysTheSame(before, after)) addValue(found, before, after, pointer)
}

function addValue(found: Found, before: unknown, after: unknown, pointer: string): void {
  const shown = [showValue(before, pointer), showValue(after, pointer)]
  // Such as true and "yes", or 1 and "1": as they are written, they differ.
  const [was = null, is = null] = shown[0] === shown[1] ? [written(before), written(after)] : shown
  add(found, { kind: 'value', pointer, label: labelOf(pointer, found.within), before: was, after: is })
}

function written(value: unknown): string {
  return oneLine(JSON.stringify(typeof value === 'object' ? showValue(value, '') : value), longestShown)
}

function compareMembers(
  found: Found,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  pointer: string,
  depth: number,
): void {
  for (const name of new Set([...Object.keys(after), ...Object.keys(before)])) {
    compareValues(found, own(before, name), own(after, name), join(pointer, name), depth + 1)
  }
}

/** Texts of several words are compared word by word. */
function compareTexts(found: Found, before: string, after: string, pointer: string): void {
  const isProse = /\S\s+\S+\s+\S/.test(before.slice(0, 2_000)) && /\S\s/.test(after.slice(0, 2_000))
  const pieces = isProse ? differingWords(readableText(before), readableText(after), found.work) : undefined
  if (pieces !== undefined)
    return add(found, { kind: 'words', pointer, label: labelOf(pointer, found.within), pieces })
  if (isProse) {
    return add(found, {
      kind: 'value',
      pointer,
      label: labelOf(pointer, found.within),
      before: /[<&]/.test(before + after) ? 'other markup' : 'other blanks',
      after: 'same words',
    })
  }
  return addValue(found, before, after, pointer)
}

function compareLists(
  found: Found,
  before: readonly unknown[],
  after: readonly unknown[],
  pointer: string,
  depth: number,
): void {
  if (before.length > mostListed || after.length > mostListed) {
    if (saysTheSame(before, after)) return
    const label = labelOf(pointer, found.within)
    return add(found, { kind: 'value', pointer, label, before: countOf(before), after: countOf(after) })
  }
  const { pairs, added, removed } = pairItems(itemsOf(before, pointer), itemsOf(after, pointer))
  const changes: ItemChange[] = [
    ...added.map(({ name, position }) => ({ kind: 'added', name, position }) as const),
    ...removed.map(({ name, position }) => ({ kind: 'removed', name, position }) as const),
    ...pairs.flatMap((pair) => changeOf(found, pair, pointer, depth) ?? []),
  ]
  if (changes.length === 0) return
  changes.sort((a, b) => a.position - b.position)
  add(found, {
    kind: 'items',
    pointer,
    label: labelOf(pointer, found.within),
    changes: changes.slice(0, mostChanges),
    more: Math.max(0, changes.length - mostChanges),
  })
}

function changeOf(
  { work }: Found,
  { before, after, hasMoved }: PairedItem,
  pointer: string,
  depth: number,
): ItemChange | undefined {
  const itemPointer = `${pointer}/${after.position - 1}`
  const within: Found = { differences: [], more: 0, within: itemPointer, work }
  // `moved` reports its position in the order.
  const ignored = pointer === '/media' ? ['sort_order'] : []
  compareValues(within, without(before.value, ignored), without(after.value, ignored), itemPointer, depth + 1)
  const { differences } = within
  const changed = differences.length === 0 ? {} : { differences }
  if (hasMoved)
    return { kind: 'moved', name: after.name, position: after.position, from: before.position, ...changed }
  return differences.length === 0
    ? undefined
    : { kind: 'changed', name: after.name, position: after.position, ...changed }
}

function without(value: unknown, names: readonly string[]): unknown {
  if (names.length === 0 || !isObject(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))
}

function countOf(list: readonly unknown[]): string {
  return list.length === 1 ? '1 item' : `${list.length} items`
}

/** The most items of a list to compare. */
const mostListed = 2_000

/** Members that identify an item, the most reliable first. */
const identifying = ['id', 'media_url', 'url', 'agent_ref', 'room_name', 'name'] as const

/** `pointer`: of the list. */
function itemsOf(list: readonly unknown[], pointer: string): readonly Item[] {
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
