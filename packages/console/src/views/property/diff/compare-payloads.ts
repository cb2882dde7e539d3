/** What differs between two payloads of a property, in the words of a page: `changes` as lists of values, words and items. */
import { changes } from '@property-events/protocol/plain'
import type { PayloadChange } from '@property-events/protocol/plain'
import { oneLine } from '../../../words/plain.ts'
import type { Difference, ItemChange, PayloadDifference } from './difference.ts'
import { byKind, readMedia } from './media.ts'
import type { MediaItem } from './media.ts'
import { join, labelOf, partsOf, rankOf } from './labels.ts'
import { isObject, memberOf } from './members.ts'
import { longestShown, readableText, showValue } from './show-value.ts'
import { differingWords } from './words.ts'

/** The most differences to list. */
const mostDifferences = 100
/** The most pairs of words to compare: some 20 ms. */
const mostPairs = 2_000_000
/** The most changes of one list to list. */
const mostChanges = 100

/**
 * Both are results of `JSON.parse`. Absent and null are the same, as in the contract, and photographs stand where they are shown. The work
 * is bounded, whatever a payload contains.
 */
export function comparePayloads(before: unknown, after: unknown): PayloadDifference {
  const media = { before: shownMedia(before), after: shownMedia(after) }
  const now = withMedia(after, media.after)
  const steps = changes(withMedia(before, media.before), now).map((change) => ({
    change,
    parts: partsOf(change.pointer),
  }))
  const whole = { value: now, pointer: '', depth: 0 }
  return differencesIn({ media, work: { pairs: mostPairs } }, steps, whole)
}

interface Context {
  readonly media: { readonly before: readonly MediaItem[]; readonly after: readonly MediaItem[] }
  /** Pairs of words that may still be compared, in all texts together. */
  readonly work: { pairs: number }
}

function shownMedia(payload: unknown): readonly MediaItem[] {
  return byKind(readMedia(memberOf(payload, 'media')))
}

/** Where a photograph is shown is said by its place; that its `sort_order` differs would say it again. */
function withMedia(payload: unknown, media: readonly MediaItem[]): unknown {
  if (!isObject(payload) || !Array.isArray(memberOf(payload, 'media'))) return payload
  return { ...payload, media: media.map(({ unordered }) => unordered) }
}

interface Step {
  readonly change: PayloadChange
  /** Of its pointer. */
  readonly parts: readonly string[]
}

/** A value of the later payload, and how many parts lead to it. */
interface Place {
  readonly value: unknown
  readonly pointer: string
  readonly depth: number
}

function differencesIn(context: Context, steps: readonly Step[], within: Place): PayloadDifference {
  const groups = new Map<string, Place & { readonly steps: Step[] }>()
  for (const step of steps) {
    const place = placeOf(step, within)
    const group = groups.get(place.pointer)
    if (group === undefined) groups.set(place.pointer, { ...place, steps: [step] })
    else group.steps.push(step)
  }
  const sorted = [...groups.values()].toSorted((a, b) => rankOf(a.pointer) - rankOf(b.pointer))
  const differences: Difference[] = []
  let more = 0
  for (const { steps: found, ...place } of sorted) {
    // For what is no longer listed, it is enough to know that it differs.
    if (differences.length >= mostDifferences) more += 1
    else differences.push(...differencesAt(context, found, place, within.pointer))
  }
  return { differences, more }
}

/** Where the outermost list around a change is, or the member that is another. */
function placeOf({ parts }: Step, within: Place): Place {
  let { value, pointer, depth } = within
  for (; depth < parts.length && !Array.isArray(value); depth += 1) {
    const name = parts[depth] ?? ''
    value = memberOf(value, name)
    pointer = join(pointer, name)
  }
  return { value, pointer, depth }
}

/** One, or none where nothing that a page shows differs. */
function differencesAt(
  context: Context,
  steps: readonly Step[],
  place: Place,
  within: string,
): readonly Difference[] {
  const { pointer, depth } = place
  const own = steps.find(({ parts }) => parts.length === depth)
  if (own === undefined) {
    const all = itemChanges(context, steps, place).toSorted((a, b) => a.position - b.position)
    const [shown, more] = [all.slice(0, mostChanges), Math.max(0, all.length - mostChanges)]
    const label = labelOf(pointer, within)
    return all.length === 0 ? [] : [{ kind: 'items', pointer, label, changes: shown, more }]
  }
  const { from, to } = own.change
  if ((from ?? null) === (to ?? null)) return []
  const texts = typeof from === 'string' && typeof to === 'string'
  const located = { pointer, label: labelOf(pointer, within) }
  return [texts ? textDifference(context, from, to, located) : valueDifference(from, to, located)]
}

type Located = Pick<Difference, 'pointer' | 'label'>

function valueDifference(before: unknown, after: unknown, located: Located): Difference {
  const shown = [showValue(before, located.pointer), showValue(after, located.pointer)]
  // Such as true and "yes", or 1 and "1": as they are written, they differ.
  const [was = null, is = null] = shown[0] === shown[1] ? [written(before), written(after)] : shown
  return { kind: 'value', ...located, before: was, after: is }
}

function written(value: unknown): string {
  return oneLine(JSON.stringify(typeof value === 'object' ? showValue(value, '') : value), longestShown)
}

/** Texts of several words are compared word by word. */
function textDifference({ work }: Context, before: string, after: string, located: Located): Difference {
  const isProse = /\S\s+\S+\s+\S/.test(before.slice(0, 2_000)) && /\S\s/.test(after.slice(0, 2_000))
  if (!isProse) return valueDifference(before, after, located)
  const pieces = differingWords(readableText(before), readableText(after), work)
  if (pieces !== undefined) return { kind: 'words', ...located, pieces }
  const was = /[<&]/.test(before + after) ? 'other markup' : 'other blanks'
  return { kind: 'value', ...located, before: was, after: 'same words' }
}

/** `place`: of the list. */
function itemChanges(
  context: Context,
  steps: readonly Step[],
  { value: list, pointer, depth }: Place,
): readonly ItemChange[] {
  const isOwn = ({ parts }: Step) => parts.length === depth + 1
  const indexOf = ({ parts }: Step) => Number(parts[depth])
  const isGone = (step: Step) => isOwn(step) && 'from' in step.change && !('to' in step.change)
  const named = (side: keyof Context['media'], index: number, value: unknown) =>
    (pointer === '/media' ? context.media[side][index] : undefined) ?? {
      name: nameOfItem(value, pointer, index),
      position: index + 1,
    }
  const removed = steps.filter(isGone).map((step): ItemChange => {
    const { name, position } = named('before', indexOf(step), step.change.from)
    return { kind: 'removed', name, position }
  })
  const others = Map.groupBy(
    steps.filter((step) => !isGone(step)),
    indexOf,
  )
  const changed = [...others].flatMap(([index, found]): readonly ItemChange[] => {
    const item: unknown = Array.isArray(list) ? list[index] : undefined
    const { name, position } = named('after', index, item)
    const own = found.find(isOwn)?.change
    if (own !== undefined && !('from' in own) && 'to' in own) return [{ kind: 'added', name, position }]
    const inner = own?.movedFrom === undefined ? found : found.filter((step) => !isOwn(step))
    const within = { value: item, pointer: join(pointer, index), depth: depth + 1 }
    const { differences } = differencesIn(context, inner, within)
    const also = differences.length === 0 ? {} : { differences }
    if (own?.movedFrom !== undefined) {
      const from = named('before', own.movedFrom, item).position
      return [{ kind: 'moved', name, position, from, ...also }]
    }
    return differences.length === 0 ? [] : [{ kind: 'changed', name, position, ...also }]
  })
  return [...removed, ...changed]
}

/** Members that name an item. */
const naming = ['id', 'media_url', 'url', 'agent_ref', 'room_name', 'name'] as const

function nameOfItem(value: unknown, pointer: string, index: number): string {
  const name = naming.map((member) => memberOf(value, member)).find((one) => isText(one))
  const shown =
    typeof value === 'object' && value !== null
      ? showValue(name, '')
      : showValue(value, `${pointer}/${index}`)
  return shown ?? (value === null ? 'null' : `number ${index + 1}`)
}

function isText(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number'
}
