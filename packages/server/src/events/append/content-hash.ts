/** What a repeat of an event's id has to have in common with the event (D14), and whether a payload is the same by value. */
import { sha256 } from '../../runtime/hashes.ts'
import type { DraftContent, EventDraft } from './append-batch.ts'

/** What was sent around a payload or a removal. */
type SentAround = Pick<EventDraft, 'subjectId' | 'eventTypeShortCode' | 'transactionId' | 'category'>

/**
 * The payload's own hash represents its text, so that the text is hashed once. The payload names its subject; a removal does not, so the
 * subject is added.
 */
export function contentHashOf(
  content:
    | Extract<DraftContent, { kind: 'removal' }>
    | { readonly kind: 'payload'; readonly hash: Uint8Array },
  { subjectId, eventTypeShortCode, transactionId, category }: SentAround,
): Uint8Array {
  const what =
    content.kind === 'payload'
      ? Buffer.from(content.hash).toString('hex')
      : `remove ${subjectId} ${content.reason ?? ''}`
  return sha256(JSON.stringify([what, eventTypeShortCode ?? '', transactionId ?? '', category ?? '']))
}

/**
 * Whether the draft repeats the event that was stored with this content hash (`null`: nothing repeats it). `payload` is the stored one: if
 * it is reduced, its hash leads to no content hash, and only the text that was sent is the same.
 */
export function isRepeat(draft: EventDraft, contentHash: Uint8Array | null, payload: () => string): boolean {
  if (contentHash === null) return false
  if (sameBytes(contentHash, draft.contentHash)) return true
  const { content } = draft
  if (content.kind !== 'payload') return false
  const stored = payload()
  const asStored = contentHashOf({ kind: 'payload', hash: sha256(stored) }, draft)
  return sameBytes(asStored, contentHash) && sameJson(content.text, stored)
}

/** The content hash of a draft that is unchanged: of the spelling that is stored, which any other is compared with. */
export function hashBeside(
  draft: EventDraft,
  { payloadHash }: { readonly payloadHash: Uint8Array | null },
): Uint8Array {
  const { content, contentHash } = draft
  if (content.kind !== 'payload' || payloadHash === null || sameBytes(content.hash, payloadHash))
    return contentHash
  return contentHashOf({ kind: 'payload', hash: payloadHash }, draft)
}

/** Whether the text is the payload with this hash in another spelling. `payload` is the stored one, unless it is reduced. */
export function isRespelled(text: string, hash: Uint8Array, payload: () => string): boolean {
  const stored = payload()
  return sameBytes(sha256(stored), hash) && sameJson(text, stored)
}

/** Whether two JSON texts have the same value: neither white space, the order of members nor the spelling of numbers and texts counts. */

/**
 * For valid JSON without duplicate keys. Numbers are compared as the decimals that are written, so two that a double cannot tell apart
 * differ; -0 is 0.
 */
export function sameJson(one: string, other: string): boolean {
  if (!isSame(JSON.parse(one), JSON.parse(other))) return false
  // Reading numbers as decimals takes three times as long.
  if (!mayBeRounded.test(one) && !mayBeRounded.test(other)) return true
  return isSame(withDecimals(one), withDecimals(other))
}

/** Digits that a double may not hold: 16 or more, or an exponent of three. May also match within a text, which only costs time. */
const mayBeRounded = /[\d.]{16}|\d[eE][-+]?\d{3}/

/** Each number becomes an object, so that none is taken for a text: only for values whose kinds have been compared. */
function withDecimals(text: string): unknown {
  return JSON.parse(text, (_name, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' ? { decimal: decimalOf(context?.source ?? String(value)) } : value,
  )
}

/** The one spelling of a decimal: digits without zeros at either end, and the power of ten of the last one. */
function decimalOf(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(number) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  let length = digits.length
  while (digits[length - 1] === '0') length -= 1
  if (length === 0) return '0'
  return `${sign}${digits.slice(0, length)}e${Number(exponent) - fraction.length + digits.length - length}`
}

function isSame(one: unknown, other: unknown): boolean {
  if (!isContainer(one) || !isContainer(other)) return one === other
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  )
}

/** An object, or an array with its indexes for names. */
function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}
