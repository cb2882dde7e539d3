/** Faults and advice of a dry run, at their lines. */
import type { ProblemError } from '@property-events/protocol/wire'
import type { Receipt } from '../../service/operations/feeds.ts'
import { counted } from '../../words/numbers.ts'
import { oneLine, typeName } from '../../words/plain.ts'
import { lineOf } from './read-draft.ts'
import type { Draft } from './read-draft.ts'

export interface Remark {
  /** `fault`: nothing can be published. `advice`: it would be stored unchanged. */
  readonly kind: 'fault' | 'advice'
  /** From 1. */
  readonly line: number
  readonly code: string
  readonly message: string
}

type Events = Extract<Draft, { readonly kind: 'events' }>

/** By line. `text`: the text that the draft was read from. */
export function remarksOf(
  text: string,
  draft: Events,
  {
    errors,
    warnings,
  }: { readonly errors?: readonly ProblemError[]; readonly warnings?: Receipt['warnings'] },
): readonly Remark[] {
  const faults = (errors ?? []).map(({ pointer = '', code, message }): Remark => {
    return { kind: 'fault', line: lineOfFault(text, draft, pointer), code, message: oneLine(message, 500) }
  })
  const advice = (warnings ?? []).map(({ index, pointer, code, message }): Remark => {
    const line = lineInEvent(
      text,
      draft,
      index,
      draft.events[index]?.isPayload === true ? pointer : `/payload${pointer}`,
    )
    return { kind: 'advice', line, code, message: oneLine(message, 500) }
  })
  return [...faults, ...advice].toSorted((a, b) => a.line - b.line)
}

/** If a request has several events, the first part of a pointer is the position of the event. */
function lineOfFault(text: string, draft: Events, pointer: string): number {
  const [, first = '', ...rest] = pointer.split('/')
  const isIndexed = draft.isArray && /^\d+$/.test(first)
  const index = isIndexed ? Number(first) : 0
  const within = isIndexed ? rest.map((part) => `/${part}`).join('') : pointer
  const isPayload = draft.events[index]?.isPayload === true
  return lineInEvent(text, draft, index, isPayload ? within.replace(/^\/payload/, '') : within)
}

function lineInEvent(text: string, draft: Events, index: number, pointer: string): number {
  const event = draft.events[index]
  if (event === undefined) return 1
  // The items of an array are parts of the whole text.
  const isItem = draft.isArray && draft.body === text
  const offset = offsetOfPointer(event.text, isItem ? `/${index}${pointer}` : pointer)
  return lineOf(text, event.from + offset)
}

/** `Would store 2 events: Published, Updated`. What exists already is not stored again. */
export function receiptWords({ events }: Receipt, isDry: boolean): string {
  const stored = events.filter(({ repeated, unchanged }) => repeated !== true && unchanged !== true)
  const types = [...new Set(stored.map(({ eventTypeShortCode }) => typeName(eventTypeShortCode)))]
  const rest = events.length - stored.length
  const also = rest === 0 ? '' : `; ${counted(rest, 'event')} ${rest === 1 ? 'is' : 'are'} already stored`
  const numbers = stored.flatMap(({ sequenceNumber }) => sequenceNumber ?? [])
  const at =
    numbers.length === 0
      ? ''
      : `, as #${Math.min(...numbers)}${numbers.length > 1 ? ` to #${Math.max(...numbers)}` : ''}`
  if (stored.length === 0) return `${isDry ? 'Would store' : 'Stored'} nothing${also}.`
  return `${isDry ? 'Would store' : 'Stored'} ${counted(stored.length, 'event')}: ${types.join(', ')}${at}${also}.`
}

/** The position in a JSON text that a pointer leads to. */

/**
 * The offset of the value at an RFC 6901 pointer. If there is none, the offset of the deepest value on the way. `text` must be JSON,
 * however deeply nested: nothing here is recursive.
 */
export function offsetOfPointer(text: string, pointer: string): number {
  let at = afterBlanks(text, 0)
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    const next = text.charAt(at) === '{' ? memberAt(text, at, name) : itemAt(text, at, name)
    if (next === undefined) return at
    at = next
  }
  return at
}

function memberAt(text: string, object: number, wanted: string): number | undefined {
  let found: number | undefined
  let at = afterBlanks(text, object + 1)
  while (text.charAt(at) === '"') {
    const end = afterString(text, at)
    const name: unknown = JSON.parse(text.slice(at, end))
    const value = afterBlanks(text, afterBlanks(text, end) + 1)
    // If a name occurs twice, the last one counts, as for a parser.
    if (name === wanted) found = value
    at = afterComma(text, afterValue(text, value))
  }
  return found
}

function itemAt(text: string, list: number, wanted: string): number | undefined {
  if (text.charAt(list) !== '[' || !/^\d{1,9}$/.test(wanted)) return undefined
  let at = afterBlanks(text, list + 1)
  for (let index = 0; at < text.length && text.charAt(at) !== ']'; index += 1) {
    if (index === Number(wanted)) return at
    at = afterComma(text, afterValue(text, at))
  }
  return undefined
}

function afterComma(text: string, at: number): number {
  const next = afterBlanks(text, at)
  return text.charAt(next) === ',' ? afterBlanks(text, next + 1) : next
}

function afterValue(text: string, at: number): number {
  if (text.charAt(at) === '"') return afterString(text, at)
  if (!/[[{]/.test(text.charAt(at))) return at + Math.max(1, text.slice(at, at + 1_000).search(/[,\]}\s]|$/))
  let depth = 0
  let position = at
  const token = /["[\]{}]/g
  do {
    token.lastIndex = position
    const match = token.exec(text)
    if (match === null) return text.length
    if (match[0] === '"') position = afterString(text, match.index)
    else {
      depth += match[0] === '[' || match[0] === '{' ? 1 : -1
      position = match.index + 1
    }
  } while (depth > 0)
  return position
}

function afterString(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0
    while (text.charAt(quote - 1 - backslashes) === '\\') backslashes += 1
    if (backslashes % 2 === 0) return quote + 1
  }
  return text.length
}

function afterBlanks(text: string, at: number): number {
  let position = at
  while (/[ \t\r\n]/.test(text.charAt(position))) position += 1
  return position
}
