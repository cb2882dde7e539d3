/** Turns answers into values: everything a server sends is checked before it is used. `undefined`: the value does not have that shape. */
import { InvalidAnswerError } from './errors.ts'
import { maxPayloadLength, tooLong } from './http/size-limits.ts'
import type { EventPage, EventRun, FeedEvent, FeedHead, Heads, ProblemError, PublishReceipt } from './wire.ts'

/** A JSON object whose members have not been checked. */
export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value of a JSON text; `undefined` when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * An event with the members of spec §2.1. Further members are dropped; null in a text member becomes '', and a payload
 * that a server sends as an object becomes its JSON text.
 */
export function decodeEvent(value: unknown): FeedEvent | undefined {
  if (!isObject(value)) return undefined
  const { sequenceNumber, eventType, id } = value
  if (!isWhole(sequenceNumber) || typeof id !== 'string' || id === '') return undefined
  const payload = payloadOf(value['payload'])
  if (payload.length > maxPayloadLength) {
    throw tooLong(
      `The payload of event ${sequenceNumber} has ${payload.length} characters, and may have ${maxPayloadLength}.`,
    )
  }
  return {
    tenantId: textOf(value['tenantId']),
    sequenceNumber,
    eventType: isWhole(eventType) ? eventType : -1,
    eventTypeShortCode: textOf(value['eventTypeShortCode']),
    payload,
    transactionId: textOf(value['transactionId']),
    id,
    createdDate: textOf(value['createdDate']),
  }
}

function payloadOf(value: unknown): string {
  if (!isObject(value)) return textOf(value)
  try {
    return JSON.stringify(value)
  } catch (cause) {
    // Thousands of levels.
    throw new InvalidAnswerError('A payload cannot be written as text.', { cause, attempts: 1 })
  }
}

function decodeEvents(value: unknown): readonly FeedEvent[] | undefined {
  if (!Array.isArray(value)) return undefined
  const events = value.flatMap((item) => decodeEvent(item) ?? [])
  return events.length === value.length ? events : undefined
}

export function decodePage(value: unknown): EventPage | undefined {
  if (!isObject(value)) return undefined
  const items = decodeEvents(value['items'])
  const { page, pageSize, availableCount, totalPages } = value
  if (items === undefined || !isWhole(page) || !isWhole(pageSize)) return undefined
  if (!isWhole(availableCount) || !isWhole(totalPages)) return undefined
  return { items, page, pageSize, availableCount, totalPages }
}

export function decodeRun(value: unknown): EventRun | undefined {
  if (!isObject(value)) return undefined
  const items = decodeEvents(value['items'])
  const { next, head, epoch, revision } = value
  if (items === undefined || !isWhole(next) || !isWhole(head)) return undefined
  if (typeof epoch !== 'string' || !isWhole(revision)) return undefined
  return { items, next, head, epoch, revision }
}

export function decodeHeads(value: unknown): Heads | undefined {
  if (!isObject(value) || !Array.isArray(value['heads'])) return undefined
  const heads = value['heads'].flatMap((item) => decodeHead(item) ?? [])
  const { next } = value
  if (heads.length !== value['heads'].length || typeof next !== 'string') return undefined
  return { heads, next }
}

function decodeHead(value: unknown): FeedHead | undefined {
  if (!isObject(value)) return undefined
  const { tenantId, feed, sequenceNumber, createdDate, epoch, revision } = value
  if (typeof tenantId !== 'string' || (feed !== 'property' && feed !== 'contact')) return undefined
  if (!isWhole(sequenceNumber) || typeof epoch !== 'string' || !isWhole(revision)) return undefined
  return { tenantId, feed, sequenceNumber, createdDate: textOf(createdDate) || null, epoch, revision }
}

/** The last line of a snapshot: without it, the stream was cut. */
interface SnapshotEnd {
  readonly head: number
  readonly events: number
}

export function decodeSnapshotEnd(value: unknown): SnapshotEnd | undefined {
  if (!isObject(value) || value['end'] !== true) return undefined
  const { head, events } = value
  return isWhole(head) && isWhole(events) ? { head, events } : undefined
}

export function isReceipt(value: unknown): value is PublishReceipt {
  if (!isObject(value) || typeof value['repeated'] !== 'boolean') return false
  const { events, warnings } = value
  return (
    Array.isArray(events) &&
    Array.isArray(warnings) &&
    events.every((event) => isObject(event) && typeof event['id'] === 'string') &&
    warnings.every((warning) => isObject(warning) && isWhole(warning['index']))
  )
}

/** The members of a problem document (D6) that an error shows; all are absent for another kind of body. */
interface ProblemText {
  readonly code?: string
  readonly detail?: string
  readonly requestId?: string
  readonly faults: readonly ProblemError[]
}

export function decodeProblem(text: string): ProblemText {
  const value = parseJson(text)
  if (!isObject(value)) return { faults: [] }
  const { code, detail, requestId, errors } = value
  return {
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof detail === 'string' ? { detail } : {}),
    ...(typeof requestId === 'string' ? { requestId } : {}),
    faults: Array.isArray(errors) ? errors.flatMap((error) => decodeFault(error) ?? []) : [],
  }
}

function decodeFault(value: unknown): ProblemError | undefined {
  if (!isObject(value)) return undefined
  const { parameter, pointer, code, message } = value
  if (typeof code !== 'string' || typeof message !== 'string') return undefined
  return {
    ...(typeof parameter === 'string' ? { parameter } : {}),
    ...(typeof pointer === 'string' ? { pointer } : {}),
    code,
    message,
  }
}

export function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
