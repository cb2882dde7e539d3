/** Faults and advice of a dry run, at their lines. */
import type { ProblemError } from '@property-events/protocol/wire'
import type { Receipt } from '../../service/operations/publishing.ts'
import { counted } from '../../words/numbers.ts'
import { oneLine, typeName } from '../../words/plain.ts'
import { offsetOfPointer } from './locate.ts'
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
