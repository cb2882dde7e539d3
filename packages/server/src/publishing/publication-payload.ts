/** Reads the payload of one published event as its own text, checks it against its feed's contract, and finds what the append needs to know. */
import {
  adviseContact,
  adviseDuties,
  adviseProperty,
  adviseShown,
  checkContactPayload,
  checkPropertyPayload,
  compactJson,
  feeds,
  findUnknownFields,
  impliesLettings,
  invalidJson,
  maxAdvice,
  meaningOf,
  memberOf,
  parseUuid,
  priceLooksLike,
  readJson,
} from '@property-events/protocol'
import type { Category, FeedName, JsonReading, PublishWarning } from '@property-events/protocol'
import { syntaxFaultText } from '../http/requests/syntax-remedy.ts'
import { fault } from './publication-body.ts'
import type { BodyLimits, Faults, Item } from './publication-body.ts'

export type Advice = Omit<PublishWarning, 'index'>

export interface Payload {
  readonly kind: 'payload'
  readonly text: string
  readonly value: unknown
}

/**
 * The payload's own text (D22): as sent in a string, or cut out of the body without the white space between tokens. `textReading`: the
 * reading of the payload's text, if it was read before.
 */
export function readPayload(
  item: Item,
  payload: unknown,
  textReading: JsonReading | undefined,
  limits: BodyLimits,
): Payload | Faults {
  if (typeof payload === 'string') {
    const refusal = payloadTooLarge(payload, limits)
    if (refusal !== undefined) return refusal
    const reading = textReading ?? readJson(payload, { maxDepth: limits.maxPayloadDepth })
    if (reading.kind === 'read') return { kind: 'payload', text: payload, value: reading.value }
    const { pointer, code, message } = reading.fault
    const reason = message === invalidJson ? syntaxFaultText(payload) : message
    return fault(`/payload${pointer}`, code, `In the payload's text: ${reason}`)
  }
  const span = item.payloadSpan
  let text = span === undefined ? JSON.stringify(payload) : item.source.slice(span.start, span.end)
  if (span?.spaced === true) text = compactJson(text)
  return payloadTooLarge(text, limits) ?? { kind: 'payload', text, value: payload }
}

function payloadTooLarge(text: string, { maxPayloadBytes }: BodyLimits) {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxPayloadBytes) return undefined
  const message = `The payload has ${bytes} bytes; at most ${maxPayloadBytes} are allowed.`
  return fault('/payload', 'payload_too_large', message)
}

type PayloadCheck =
  | {
      readonly kind: 'checked'
      /** The subject's UUID in the payload's spelling (D15, D16). */
      readonly subject: string
      readonly subjectId: string
      readonly published: boolean | undefined
      readonly branch: string | undefined
      /** Only for properties. */
      readonly updateDate: string | undefined
      readonly impliedCategory: Category | undefined
      readonly priceLooksLike: Category | undefined
      readonly advice: readonly Advice[]
      /** The number of members that the contract does not know and that do not look like one it knows. */
      readonly unknownFields: number
    }
  | Faults

/** Contract faults refuse the event; advice goes into the receipt. `eventType` (a short code) and `category` are as sent. `dutiesAtMs`: when duties
 * by law are looked at; `undefined`: they are not. */
export function checkPayload(
  feed: FeedName,
  payload: unknown,
  eventType: string | undefined,
  category: Category | undefined,
  dutiesAtMs: number | undefined,
): PayloadCheck {
  const faults =
    feed === 'property'
      ? checkPropertyPayload(payload, { publishedRequired: eventType === undefined })
      : checkContactPayload(payload)
  if (faults.length > 0) {
    return {
      kind: 'faults',
      errors: faults.map((one) => ({ ...one, pointer: `/payload${one.pointer}` })),
    }
  }
  const { subjectField } = feeds[feed]
  const subject = memberOf(payload, subjectField)
  const subjectId = typeof subject === 'string' ? parseUuid(subject) : undefined
  if (typeof subject !== 'string' || subjectId === undefined)
    return fault(`/payload/${subjectField}`, 'not_a_uuid', 'The subject is a UUID.')
  const published = memberOf(payload, 'published')
  const branch = memberOf(payload, 'branch_id')
  const updateDate = feed === 'property' ? memberOf(payload, 'update_date') : undefined
  const impliedCategory = feed === 'property' && impliesLettings(payload) ? 'lettings' : undefined
  const looksLike = feed === 'property' ? priceLooksLike(payload) : undefined
  const unknown = findUnknownFields(feed, payload)
  const isAdvert = feed === 'property' && isShown(published, eventType)
  const statedCategory = category ?? impliedCategory
  const others =
    feed === 'property'
      ? [
          ...(isAdvert ? adviseShown(payload) : []),
          ...contradiction(published, eventType),
          ...adviseProperty(payload, statedCategory),
        ]
      : adviseContact(payload)
  if (isAdvert && dutiesAtMs !== undefined) {
    // A property of which nothing says what it is is in sales (D23), and there is a warning if its price looks like a rent.
    const assumed = statedCategory ?? (looksLike === 'lettings' ? undefined : 'sales')
    others.push(...adviseDuties(payload, { category: assumed, nowMs: dutiesAtMs }))
  }
  return {
    kind: 'checked',
    subject,
    subjectId,
    published: feed === 'property' && typeof published === 'boolean' ? published : undefined,
    branch: typeof branch === 'string' && branch !== '' ? branch : undefined,
    updateDate: typeof updateDate === 'string' ? updateDate : undefined,
    impliedCategory,
    priceLooksLike: looksLike,
    advice: [...unknown.misspelled, ...others].slice(0, maxAdvice),
    unknownFields: unknown.others,
  }
}

/** Whether consumers will show the property, as far as the event itself shows. */
export function isShown(published: unknown, eventType: string | undefined): boolean {
  const named = meaningOf('property', eventType)
  return named !== 'gone' && (named === 'appeared' || published !== false)
}

/** The named type decides what consumers do; a payload that contradicts it is probably the publisher's mistake. */
function contradiction(published: unknown, eventType: string | undefined): readonly Advice[] {
  const named = meaningOf('property', eventType)
  const contradicts =
    (named === 'gone' && published === true) || (named === 'appeared' && published === false)
  if (!contradicts) return []
  const message = `The event type ${eventType} was named, but the payload says published ${String(published)}.`
  return [{ pointer: '/published', code: 'event_type_contradicts_payload', message }]
}
