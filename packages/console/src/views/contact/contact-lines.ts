/** A contact as lines of a field and its value, whether it is masked or shown. */
import { contactCodeLists, nameOf } from '@property-events/client/listing'
import type { CodeListName } from '@property-events/client/listing'
import { changes as changesIn } from '@property-events/protocol/plain'
import { oneLine } from '../../words/plain.ts'
import { partsOf } from '../property/diff/labels.ts'

/** What the service writes instead of personal data. */
const mask = '•••'

interface ContactLine {
  /** RFC 6901. */
  readonly pointer: string
  /** `last name`, `communications 2, value`. */
  readonly label: string
  readonly value: string
  readonly isMasked: boolean
}

interface ContactLines {
  readonly lines: readonly ContactLine[]
  /** There are more than those listed. */
  readonly hasMore: boolean
}

const mostLines = 300
const deepest = 8
const longestValue = 4_000

/** `contact`: a parsed payload, or the part of it at a path. Null and empty values are left out. */
export function contactLines(contact: unknown, at: readonly string[] = []): ContactLines {
  const lines: ContactLine[] = []
  const left: { readonly value: unknown; readonly path: readonly string[] }[] = [{ value: contact, path: at }]
  for (let one = left.pop(); one !== undefined && lines.length <= mostLines; one = left.pop()) {
    const { value, path } = one
    if (value === null || value === undefined || value === '') continue
    if (typeof value !== 'object' || path.length >= deepest) lines.push(lineOf(value, path))
    else {
      const members = Object.entries(value).slice(0, mostLines)
      left.push(...members.toReversed().map(([name, member]) => ({ value: member, path: [...path, name] })))
    }
  }
  return { lines: lines.slice(0, mostLines), hasMore: lines.length > mostLines }
}

interface ContactSection {
  readonly name: string
  /** Labels without the name of the section. */
  readonly lines: readonly ContactLine[]
}

/** `Details` has the fields of the contact itself; then each part of it follows, such as `communications 1`. */
export function sectionsOf(lines: readonly ContactLine[]): readonly ContactSection[] {
  const groups = Map.groupBy(lines, ({ label }) => (label.includes(', ') ? (label.split(', ')[0] ?? '') : ''))
  return [...groups]
    .toSorted(([a], [b]) => Number(a !== '') - Number(b !== ''))
    .map(([name, own]) =>
      name === ''
        ? { name: 'Details', lines: own }
        : { name, lines: own.map((line) => ({ ...line, label: line.label.slice(name.length + 2) })) },
    )
}

function lineOf(value: unknown, path: readonly string[]): ContactLine {
  const pointer = path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  return {
    pointer,
    label: labelOf(path),
    value: typeof value === 'object' ? '…' : textOf(value, pointer),
    isMasked: value === mask,
  }
}

/** Positions in lists count from 1, and appear beside the name of the list. */
function labelOf(path: readonly string[]): string {
  const words: string[] = []
  for (const name of path) {
    const word = oneLine(name.replaceAll('_', ' '), 60)
    if (/^\d+$/.test(name) && words.length > 0) words.push(`${words.pop() ?? ''} ${Number(name) + 1}`)
    else words.push(word)
  }
  return words.join(', ')
}

function textOf(value: unknown, pointer: string): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const lists: Readonly<Record<string, CodeListName>> = contactCodeLists
  const pattern = pointer.replaceAll(/\/\d+(?=\/|$)/g, '/*')
  const list = Object.hasOwn(lists, pattern) ? lists[pattern] : undefined
  const known = list !== undefined && typeof value === 'string' ? nameOf(list, value) : undefined
  return known ?? oneLine(String(value), longestValue)
}

/**
 * What an event changed in a contact, field by field. Hidden data stays hidden: a change of it cannot be seen, and nothing hints at it.
 */

/** `undefined`: the field was empty, or is empty now. */
export interface ContactChange {
  /** RFC 6901. */
  readonly pointer: string
  readonly label: string
  readonly was: string | undefined
  readonly is: string | undefined
}

interface ContactChanges {
  readonly changes: readonly ContactChange[]
  /** Nothing visible is different. */
  readonly isUnchanged: boolean
}

const hidden = '(hidden)'

/** `before`: the contact in the event before; `undefined`: this is the first event. */
export function contactChanges(before: unknown, after: unknown): ContactChanges {
  if (before === undefined) return { changes: [], isUnchanged: false }
  const changes = changesIn(before, after)
    .flatMap(({ pointer, from, to, movedFrom }): readonly ContactChange[] => {
      const path = partsOf(pointer)
      if (movedFrom !== undefined) {
        const is = `place ${Number(path.at(-1)) + 1}`
        return [{ pointer, label: labelOf(path), was: `place ${movedFrom + 1}`, is }]
      }
      const [was, is] = [contactLines(from, path).lines, contactLines(to, path).lines]
      const pointers = new Map([...was, ...is].map((line) => [line.pointer, line.label]))
      return [...pointers].map(([at, label]) => ({
        pointer: at,
        label,
        was: shown(was, at),
        is: shown(is, at),
      }))
    })
    .slice(0, mostLines)
  return { changes, isUnchanged: changes.length === 0 }
}

/** A masked value is the same text whatever it hides, so that a change of it is none. */
function shown(lines: readonly ContactLine[], pointer: string): string | undefined {
  const line = lines.find((one) => one.pointer === pointer)
  return line?.isMasked === true ? hidden : line?.value
}
