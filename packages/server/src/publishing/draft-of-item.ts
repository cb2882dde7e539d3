/** Turns one item of a publication into a draft: its members, the payload's own text, the feed's contract. */
import { compactJson, feeds, parseUuid, readJson } from '@property-events/protocol'
import type { EventTypeCatalogue, FeedName, JsonReading, ProblemError } from '@property-events/protocol'
import { sha256 } from '../runtime/hashes.ts'
import type { EventDraft, PayloadContent, RemovalContent } from '../events/append/append-batch.ts'
import { contentHashOf } from '../events/append/content-hash.ts'
import { updateDateHashOf } from '../events/append/subject-identity.ts'
import { checkPayload } from './check-payload.ts'
import type { Advice } from './check-payload.ts'
import type { BodyLimits, Item } from './publication-body.ts'
import { readItemMembers } from './publication-item.ts'
import type { ItemMembers } from './publication-item.ts'

/** What the items of a publication have in common. */
export interface DraftContext {
  readonly feed: FeedName
  readonly catalogue: EventTypeCatalogue
  readonly limits: BodyLimits
  /** Makes the id of an event whose publisher sent none. */
  readonly newId: () => string
}

export type ItemReading =
  | {
      readonly kind: 'draft'
      readonly draft: EventDraft
      readonly advice: readonly Advice[]
      readonly unknownFields: number
    }
  | { readonly kind: 'faults'; readonly errors: readonly ProblemError[] }

/** `textReading`: the reading of the payload's text, if it was read before. */
export function draftOfItem(
  item: Item,
  textReading: JsonReading | undefined,
  context: DraftContext,
): ItemReading {
  const { feed, catalogue } = context
  const members = readItemMembers(item.value, feed, catalogue)
  if (members.kind === 'faults') return members
  const given = members.members
  if (given.remove !== undefined) {
    const { subject, subjectId, reason } = given.remove
    return {
      kind: 'draft',
      draft: draftOf(given, subject, subjectId, { kind: 'removal', reason }, context),
      advice: otherTransaction(given, subjectId),
      unknownFields: 0,
    }
  }
  const payload = payloadOf(item, given.payload, textReading, context.limits)
  if (payload.kind === 'faults') return payload
  const checked = checkPayload(feed, payload.value, given.eventType, given.category)
  if (checked.kind === 'faults') return checked
  const subjectId = parseUuid(checked.subject)
  if (subjectId === undefined)
    return fault(`/payload/${feeds[feed].subjectField}`, 'not_a_uuid', 'The subject is a UUID.')
  const content: PayloadContent | RemovalContent = {
    kind: 'payload',
    text: payload.text,
    hash: sha256(payload.text),
    published: checked.published,
    branch: checked.branch,
    impliedCategory: checked.impliedCategory,
    priceLooksLike: checked.priceLooksLike,
    updateDateHash: updateDateHashOf(checked.updateDate),
  }
  return {
    kind: 'draft',
    draft: draftOf(given, checked.subject, subjectId, content, context),
    advice: [...otherTransaction(given, subjectId), ...checked.advice],
    unknownFields: checked.unknownFields,
  }
}

/** D15: only the store knows which spelling is the right one. */
function otherTransaction({ transactionId }: ItemMembers, subjectId: string): readonly Advice[] {
  if (transactionId === undefined || transactionId.toLowerCase() === subjectId) return []
  const message =
    'transactionId is not the UUID of the property or contact. Known consumers take it for that UUID, and will file the event under another one: leave it out.'
  return [{ pointer: '/transactionId', code: 'transaction_id_differs', message }]
}

type PayloadReading =
  | { readonly kind: 'payload'; readonly text: string; readonly value: unknown }
  | { readonly kind: 'faults'; readonly errors: readonly ProblemError[] }

/** The payload's own text (D22): as sent in a string, or cut out of the body without the white space between tokens. */
function payloadOf(
  item: Item,
  payload: unknown,
  textReading: JsonReading | undefined,
  limits: BodyLimits,
): PayloadReading {
  if (typeof payload === 'string') {
    const refusal = payloadTooLarge(payload, limits)
    if (refusal !== undefined) return refusal
    const reading = textReading ?? readJson(payload, { maxDepth: limits.maxPayloadDepth })
    if (reading.kind === 'read') return { kind: 'payload', text: payload, value: reading.value }
    const { pointer, code, message } = reading.fault
    return fault(`/payload${pointer}`, code, `In the payload's text: ${message}`)
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

function draftOf(
  given: ItemMembers,
  subject: string,
  subjectId: string,
  content: PayloadContent | RemovalContent,
  context: DraftContext,
): EventDraft {
  const { eventType: eventTypeShortCode, transactionId, category } = given
  return {
    id: given.id ?? context.newId(),
    idGiven: given.id !== undefined,
    subjectId,
    subjectSpelling: subject,
    transactionId,
    content,
    eventTypeShortCode,
    category,
    contentHash: contentHashOf(content, { subjectId, eventTypeShortCode, transactionId, category }),
  }
}

function fault(pointer: string, code: string, message: string): Extract<ItemReading, { kind: 'faults' }> {
  return { kind: 'faults', errors: [{ pointer, code, message }] }
}
