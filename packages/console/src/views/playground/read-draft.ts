/** Reads typed or dropped text as events to publish, without changing a digit of it. */
import { findSyntaxFault } from '@property-events/protocol/plain'
import { isObject, memberOf } from '../property/diff/members.ts'

interface DraftEvent {
  /** Where it begins in the text, in characters. */
  readonly from: number
  readonly text: string
  /** It is only a payload, not an event that contains one. */
  readonly isPayload: boolean
  readonly value: unknown
}

export type Draft =
  | { readonly kind: 'empty' }
  /** `line` from 1. */
  | { readonly kind: 'fault'; readonly line: number; readonly message: string }
  | {
      readonly kind: 'events'
      readonly events: readonly DraftEvent[]
      readonly isArray: boolean
      readonly body: string
    }

/** The most that a service accepts in one request. */
const mostEvents = 1_000

/** One payload or event, an array of them, or one per line. */
export function readDraft(text: string): Draft {
  if (text.trim() === '') return { kind: 'empty' }
  const whole = parsed(text)
  if (whole.kind === 'value') {
    if (Array.isArray(whole.value)) {
      return {
        kind: 'events',
        isArray: true,
        body: text,
        events: whole.value.map((value) => eventOf(text, 0, value)),
      }
    }
    const from = text.length - text.trimStart().length
    return together([eventOf(text.trim(), from, whole.value)])
  }
  const lines = linesOf(text)
  if (lines.length > mostEvents) {
    return {
      kind: 'fault',
      line: 1,
      message: `There are more than ${mostEvents} events: use the command line, property-events publish.`,
    }
  }
  const events: DraftEvent[] = []
  for (const { from, number, line } of lines) {
    const one = parsed(line)
    if (one.kind === 'value') events.push(eventOf(line, from, one.value))
    // For a single JSON text over several lines, its position in the whole text says more.
    else if (events.length === 0)
      return { kind: 'fault', line: lineOf(text, whole.offset), message: whole.message }
    else return { kind: 'fault', line: number, message: one.message }
  }
  return together(events)
}

function together(events: readonly DraftEvent[]): Draft {
  const bodies = events.map(({ text, isPayload }) => (isPayload ? `{"payload":${text}}` : text))
  const [only] = bodies
  const body = bodies.length === 1 && only !== undefined ? only : `[${bodies.join(',')}]`
  return { kind: 'events', events, isArray: bodies.length > 1, body }
}

function eventOf(text: string, from: number, value: unknown): DraftEvent {
  const isEvent =
    typeof value === 'object' &&
    value !== null &&
    (Object.hasOwn(value, 'payload') || Object.hasOwn(value, 'remove'))
  return { from, text, value, isPayload: !isEvent }
}

interface Line {
  readonly from: number
  readonly number: number
  readonly line: string
}

function linesOf(text: string): readonly Line[] {
  let from = 0
  const lines: Line[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() !== '') lines.push({ from, number: index + 1, line })
    from += line.length + 1
  }
  return lines
}

type Parsed =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'fault'; readonly message: string; readonly offset: number }

function parsed(text: string): Parsed {
  try {
    const value: unknown = JSON.parse(text)
    return { kind: 'value', value }
  } catch {
    return { kind: 'fault', ...faultOf(text) }
  }
}

/** Found in the same way as by the service. Browsers describe in different ways where a text stops being JSON, and some not at all. */
function faultOf(text: string): { readonly offset: number; readonly message: string } {
  const bytes = new TextEncoder().encode(text)
  const search = findSyntaxFault(bytes)
  let step = search.next()
  while (step.done !== true) step = search.next()
  const offset = new TextDecoder().decode(bytes.subarray(0, step.value ?? 0)).length
  const what = text.slice(offset, offset + 2).match(/^./su)?.[0]
  const shown = what === undefined ? 'it ends here' : `${JSON.stringify(what)} cannot stand here`
  return { offset, message: `This is not JSON: ${shown}.` }
}

/** From 1. */
export function lineOf(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line += 1
  return line
}

/** The property that a draft of one event concerns. */
interface DraftedProperty {
  readonly agentRef: string
  /** Parsed. */
  readonly payload: unknown
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** `undefined`: there are several events, or the draft names no property. The payload of an event can be a text. */
export function drafted({
  events,
}: Extract<Draft, { readonly kind: 'events' }>): DraftedProperty | undefined {
  const [event] = events
  if (event === undefined || events.length > 1) return undefined
  const value = event.isPayload || !isObject(event.value) ? event.value : memberOf(event.value, 'payload')
  const payload = typeof value === 'string' ? parsedValue(value) : value
  const agentRef = isObject(payload) ? memberOf(payload, 'agent_ref') : undefined
  return typeof agentRef === 'string' && uuid.test(agentRef) ? { agentRef, payload } : undefined
}

function parsedValue(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}
