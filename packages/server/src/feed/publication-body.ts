/** From the body of a publish request to its items: one event, an array of them, or lines (PROTOCOL §4). */
import { readItems, readJson } from '@property-events/protocol'
import type { MemberSpan, ProblemError } from '@property-events/protocol'

/** More faults than this help nobody, and an answer must stay small. */
export const maxReported = 100

/** One would-be event of the request. */
export interface Item {
  readonly value: unknown
  /** Where it stands in the request body; for NDJSON the number of the event, from 0. */
  readonly pointer: string
  /** The text that `payloadSpan` points into. */
  readonly source: string
  readonly payloadSpan: MemberSpan | undefined
}

export type Items =
  | { readonly kind: 'items'; readonly values: readonly Item[] }
  | { readonly kind: 'faults'; readonly errors: readonly ProblemError[] }

/**
 * The items of a body in which nothing is to be refused as a whole, each read when it is asked for. Ends with true behind the
 * last; with false where that is in doubt, and then `splitBody` has to tell.
 */
export function* itemsOf(
  body: Buffer,
  format: 'json' | 'ndjson',
  maxPayloadDepth: number,
): Generator<Item, boolean> {
  const limits = { maxDepth: maxPayloadDepth + 1, members: { keys: ['payload'], depth: 1 } }
  let index = 0
  if (format === 'json' && isArray(body)) {
    const items = readItems(body, limits)
    for (let item = items.next(); ; item = items.next()) {
      if (item.done === true) return item.value
      const { value, spans, text } = item.value
      yield { value, pointer: `/${index}`, source: text, payloadSpan: spans[0] }
      index += 1
    }
  }
  for (const line of format === 'json' ? [body.toString()] : linesOf(body)) {
    const reading = readJson(line, limits)
    if (reading.kind === 'fault') return false
    const pointer = format === 'json' ? '' : `/${index}`
    yield { value: reading.value, pointer, source: line, payloadSpan: reading.spans[0] }
    index += 1
  }
  return true
}

/** Whether a body is an array, if it is JSON. */
export function isArray(body: Buffer): boolean {
  for (const byte of body) if (byte > 0x20) return byte === 0x5b
  return false
}

/** White space as JSON has it: any other is a fault of the line. */
const blankLine = /^[ \t\r]*$/

function* linesOf(body: Buffer): Generator<string, void> {
  for (let start = 0; start < body.length;) {
    const found = body.indexOf('\n', start)
    const end = found < 0 ? body.length : found
    const line = body.toString('utf8', start, end)
    if (!blankLine.test(line)) yield line
    start = end + 1
  }
}

/** Splits and reads the body strictly. `maxPayloadDepth` counts from the payload's own braces. */
export function splitBody(body: Buffer, format: 'json' | 'ndjson', maxPayloadDepth: number): Items {
  if (format === 'ndjson') return splitLines(body, maxPayloadDepth)
  const text = body.toString()
  const depth = isArray(body) ? 2 : 1
  const reading = readJson(text, {
    maxDepth: maxPayloadDepth + depth,
    members: { keys: ['payload'], depth },
  })
  if (reading.kind === 'fault') return { kind: 'faults', errors: [reading.fault] }
  if (!Array.isArray(reading.value)) {
    const values = [{ value: reading.value, pointer: '', source: text, payloadSpan: reading.spans[0] }]
    return { kind: 'items', values }
  }
  const spans = new Map(reading.spans.map((span) => [span.item, span]))
  const values = reading.value.map((value: unknown, index) => ({
    value,
    pointer: `/${index}`,
    source: text,
    payloadSpan: spans.get(index),
  }))
  return { kind: 'items', values }
}

function splitLines(body: Buffer, maxPayloadDepth: number): Items {
  const values: Item[] = []
  const errors: ProblemError[] = []
  let index = 0
  for (const line of linesOf(body)) {
    const reading = readJson(line, {
      maxDepth: maxPayloadDepth + 1,
      members: { keys: ['payload'], depth: 1 },
    })
    const pointer = `/${index}`
    if (reading.kind === 'fault') {
      errors.push({ ...reading.fault, pointer: pointer + reading.fault.pointer })
      if (errors.length >= maxReported) break
    } else values.push({ value: reading.value, pointer, source: line, payloadSpan: reading.spans[0] })
    index += 1
  }
  return errors.length > 0 ? { kind: 'faults', errors } : { kind: 'items', values }
}
