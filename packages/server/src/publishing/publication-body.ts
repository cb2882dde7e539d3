/** Reads the body of a publish request as items: one event, an array of them, or lines (PROTOCOL §4); and where it stops being JSON. */
import {
  afterBlanks,
  findSyntaxFault,
  invalidJson,
  maxBytesAtOnce,
  textPositionOf,
  readItems,
  readRange,
  readRangeInPieces,
} from '@property-events/protocol'
import { syntaxRemedy } from '../http/requests/syntax-remedy.ts'
import type {
  FeedName,
  ItemLimits,
  JsonFault,
  JsonItem,
  JsonItemReading,
  MemberSpan,
  ProblemError,
} from '@property-events/protocol'

/** More faults would not help a publisher, and an answer must stay small. */
export const maxReported = 100

/** Why nothing is stored. */
export interface Faults {
  readonly kind: 'faults'
  readonly errors: readonly ProblemError[]
}

export function fault(pointer: string, code: string, message: string): Faults {
  return { kind: 'faults', errors: [{ pointer, code, message }] }
}

/** One item of the request, which should be an event. */
export interface Item {
  readonly kind: 'item'
  readonly value: unknown
  /** Its pointer in the request body; for NDJSON the number of the event, from 0. */
  readonly pointer: string
  /** The text that `payloadSpan` points into. */
  readonly source: string
  readonly payloadSpan: MemberSpan | undefined
}

/** A fault of the body in place of an item: of one line, and more items follow; or of the whole body, and nothing follows. */
export interface BodyFault {
  readonly kind: 'fault'
  readonly error: ProblemError
  /** Where the faulty text begins: the body, or the line. */
  readonly start: number
}

export interface BodyLimits {
  /** UTF-8 bytes of one payload. */
  readonly maxPayloadBytes: number
  /** Levels of nesting in one payload, counted from its own braces. */
  readonly maxPayloadDepth: number
}

/** `undefined`: nothing so far, so other work can have a turn. */
type Items = Generator<Item | BodyFault | undefined, void>

/** The items of a body, read strictly one by one, in steps and with memory that do not depend on the rest of the body. */
export function itemsOf(body: Buffer, format: 'json' | 'ndjson', limits: BodyLimits): Items {
  return format === 'json' ? jsonItems(body, limits) : lines(body, limits)
}

const openBracket = 0x5b

function* jsonItems(body: Buffer, limits: BodyLimits): Items {
  const within = itemLimits(limits)
  const start = yield* afterBlanks(body, 0)
  if (body[start] !== openBracket) {
    yield given(yield* rangeOf(body, start, body.length, within), '', 0, limits)
    return
  }
  const items = readItems(body, start + 1, within)
  let index = 0
  // A loop, because `yield*` would cost 1 µs for each item.
  for (let step = items.next(); ; step = items.next()) {
    if (step.done === true) {
      if (step.value === undefined) return
      const pointer = step.value.code === 'invalid_json' ? '' : `/${index}`
      yield { kind: 'fault', error: errorOf(step.value, pointer, limits), start: 0 }
      return
    }
    if (step.value === undefined) yield undefined
    else {
      yield itemOf(step.value, `/${index}`)
      index += 1
    }
  }
}

function* lines(body: Buffer, limits: BodyLimits): Items {
  const within = itemLimits(limits)
  let index = 0
  // Line feeds count as white space too. White space that JSON does not know is a fault of its line.
  for (
    let start = yield* afterBlanks(body, 0);
    start < body.length;
    start = yield* afterBlanks(body, start)
  ) {
    const found = body.indexOf('\n', start)
    const end = found < 0 ? body.length : found
    const isShort = end - start <= maxBytesAtOnce
    const reading = isShort ? readRange(body, start, end, within) : yield* rangeOf(body, start, end, within)
    yield given(reading, `/${index}`, start, limits)
    index += 1
    start = end
  }
}

function* rangeOf(
  body: Buffer,
  start: number,
  end: number,
  limits: ItemLimits,
): Generator<undefined, JsonItemReading> {
  if (end - start <= maxBytesAtOnce) return readRange(body, start, end, limits)
  return yield* readRangeInPieces(body, start, end, limits)
}

function given(
  reading: JsonItemReading,
  pointer: string,
  start: number,
  limits: BodyLimits,
): Item | BodyFault {
  if (reading.kind === 'item') return itemOf(reading.item, pointer)
  return { kind: 'fault', error: errorOf(reading.fault, pointer, limits), start }
}

function itemOf({ value, spans, text }: JsonItem, pointer: string): Item {
  return { kind: 'item', value, pointer, source: text, payloadSpan: spans[0] }
}

/**
 * An event that can be stored has its payload, as an object or as a text in which every byte is escaped with six, and short other
 * members.
 */
function itemLimits({ maxPayloadBytes, maxPayloadDepth }: BodyLimits): ItemLimits {
  return {
    maxDepth: maxPayloadDepth + 1,
    members: { keys: ['payload'], depth: 1 },
    maxBytes: 6 * maxPayloadBytes + besidePayloadBytes,
    maxBytesOutsideStrings: maxPayloadBytes + besidePayloadBytes,
  }
}

const besidePayloadBytes = 16_384

function errorOf(fault: JsonFault, pointer: string, limits: BodyLimits): ProblemError {
  if (fault.code !== 'too_large') return { ...fault, pointer: `${pointer}${fault.pointer}`.slice(0, 200) }
  const { maxPayloadBytes } = limits
  if (/^\/payload(?:\/|$)/.test(fault.pointer)) {
    const message = `The payload has more than ${maxPayloadBytes} bytes, the most that is allowed.`
    return { pointer: `${pointer}/payload`, code: 'payload_too_large', message }
  }
  const { maxBytes, maxBytesOutsideStrings } = itemLimits(limits)
  const message = `The event has more than ${maxBytes} bytes, or more than ${maxBytesOutsideStrings} outside strings; a payload may have ${maxPayloadBytes}. If these are several events, send them as items of an array or one a line.`
  return { pointer, code: 'event_too_large', message }
}

export interface PublishedBody {
  /** Valid UTF-8 without a byte order mark. */
  readonly body: Buffer
  readonly format: 'json' | 'ndjson'
  readonly feed: FeedName
}

/**
 * The fault with line, column and, if nothing personal can be there, the text around them: in pieces between which others can have a turn. Use it for one fault of a request: a text that is invalid in
 * one place may be invalid in thousands.
 */
export function* withPosition(
  { body, format, feed }: PublishedBody,
  { error, start }: BodyFault,
): Generator<undefined, ProblemError> {
  const lineEnd = format === 'json' ? -1 : body.indexOf('\n', start)
  const end = lineEnd === -1 ? body.length : lineEnd
  const found = yield* findSyntaxFault(body.subarray(start, end))
  if (format === 'json' && found === end && error.message !== invalidJson) {
    return {
      ...error,
      message: 'The body is empty: send an event such as {"payload": {…}}, or an array of them.',
    }
  }
  if (found === undefined || error.message !== invalidJson) return error
  const offset = start + found
  const { line, column, excerpt } = yield* textPositionOf(body, offset)
  const what = offset === end ? 'The JSON ends too early, at' : 'Invalid JSON at'
  // For contacts, an excerpt could be somebody's name (D18).
  const isShown = feed === 'property' && excerpt !== ''
  const shown = isShown ? `, near \`${excerpt.replaceAll(/\p{C}/gu, '\ufffd')}\`` : ''
  const message = `${what} line ${line}, column ${column}${shown}.${syntaxRemedy(body, offset, format)}`
  return { ...error, message }
}
