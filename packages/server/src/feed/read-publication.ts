/**
 * From the body of a publish request to drafts (PROTOCOL §4): strict JSON, the members of an item, the
 * payload's own text, the contract's types. Either every event of the request is fit to be stored, or all faults are
 * reported and none is (P6, P11).
 */
import { hash } from 'node:crypto'
import { compactJson, feeds, parseUuid, readJson, readJsonInPieces } from '@property-events/protocol'
import type {
  Category,
  EventTypeCatalogue,
  FeedName,
  JsonReading,
  ProblemError,
  PublishWarning,
} from '@property-events/protocol'
import type { DraftContent, EventDraft } from '../storage/storage.ts'
import { updateDateHashOf } from '../storage/subject-identity.ts'
import { checkPayload } from './check-payload.ts'
import type { Advice } from './check-payload.ts'
import { warningCollector } from './collect-warnings.ts'
import { itemsOf, maxReported } from './publication-body.ts'
import type { Item } from './publication-body.ts'
import { readItemMembers } from './publication-item.ts'
import type { ItemMembers } from './publication-item.ts'

export interface PublicationLimits {
  readonly maxEvents: number
  /** UTF-8 bytes of one payload. */
  readonly maxPayloadBytes: number
  /** Levels of nesting in one payload. */
  readonly maxPayloadDepth: number
}

/** Limits of PROTOCOL §4: 1,000 events, 256 KiB a payload, 32 levels. */
export const defaultPublicationLimits: PublicationLimits = {
  maxEvents: 1_000,
  maxPayloadBytes: 256 * 1_024,
  maxPayloadDepth: 32,
}

export interface Publication {
  readonly feed: FeedName
  /** Valid UTF-8 without a byte order mark. */
  readonly body: Buffer
  readonly format: 'json' | 'ndjson'
  readonly catalogue: EventTypeCatalogue
  readonly limits: PublicationLimits
  /** Makes the id of an event whose publisher sent none. */
  readonly newId: () => string
}

export type PublicationReading =
  | {
      readonly kind: 'drafts'
      readonly drafts: readonly EventDraft[]
      readonly warnings: readonly PublishWarning[]
      /** They are items of an array or lines, so a pointer to one of them begins with its index. */
      readonly inList: boolean
    }
  | { readonly kind: 'faults'; readonly errors: readonly ProblemError[] }

/** Reads it at once. */
export function readPublication(publication: Publication): PublicationReading {
  const steps = publicationSteps(publication)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/**
 * The same in steps, between which other work may be done: at most an event a step, and a long event takes several. The body is read
 * once and no further than needed: to the event that is one too many, to the first fault of an array as a whole, to the line with the
 * last fault that is reported.
 */
export function* publicationSteps(publication: Publication): Generator<void, PublicationReading> {
  const { limits } = publication
  const within = { maxDepth: limits.maxPayloadDepth }
  const collected = collector(publication)
  // Of the body. Before them, what its events hold does not count.
  const faults: ProblemError[] = []
  let count = 0
  for (const given of itemsOf(publication.body, publication.format, limits)) {
    if (given !== undefined) {
      count += 1
      if (count > limits.maxEvents) return faults.length > 0 ? refused(faults) : tooManyEvents(limits)
      if (given.kind === 'fault') faults.push(given.error)
      else if (faults.length === 0 && !collected.full()) {
        const text = longTextOf(given, limits)
        const reading = text === undefined ? undefined : yield* readJsonInPieces(text, within)
        collected.add(given, reading)
      }
      if (faults.length >= maxReported) break
    }
    yield
  }
  if (faults.length > 0) return refused(faults)
  if (count === 0) return fault('', 'empty_batch', 'The request holds no event; send at least one.')
  return collected.reading()
}

function refused(errors: readonly ProblemError[]): PublicationReading {
  return { kind: 'faults', errors }
}

function tooManyEvents({ maxEvents }: PublicationLimits): PublicationReading {
  const message = `The request holds more than ${maxEvents} events, which is all that is allowed. Send several requests.`
  return fault('', 'too_many_events', message)
}

interface Collector {
  /** `textReading`: of the payload's text, if that was read before. */
  add(item: Item, textReading: JsonReading | undefined): void
  /** As many faults as are reported. */
  full(): boolean
  reading(): PublicationReading
}

/** Reads items in order, each beside those before it. */
function collector(publication: Publication): Collector {
  const drafts: EventDraft[] = []
  const warnings = warningCollector()
  const errors: ProblemError[] = []
  const seenIds = new Set<string>()
  let inList = true
  return {
    add(item, textReading) {
      const index = drafts.length
      inList = item.pointer !== ''
      const reading = readItem(item, textReading, publication)
      if (reading.kind === 'faults') {
        for (const error of reading.errors)
          errors.push({ ...error, pointer: `${item.pointer}${error.pointer ?? ''}` })
        return
      }
      const { draft, advice, unknownFields } = reading
      if (draft.idGiven) {
        if (seenIds.has(draft.id)) {
          const message = 'This id stands twice in the request; every event needs its own.'
          errors.push({ pointer: `${item.pointer}/id`, code: 'duplicate_id', message })
        }
        seenIds.add(draft.id)
      }
      drafts.push(draft)
      warnings.add(index, advice, unknownFields)
    },
    full: () => errors.length >= maxReported,
    reading() {
      if (errors.length > 0) return { kind: 'faults', errors: errors.slice(0, maxReported) }
      return { kind: 'drafts', drafts, warnings: warnings.warnings(), inList }
    },
  }
}

type ItemReading =
  | {
      readonly kind: 'draft'
      readonly draft: EventDraft
      readonly advice: readonly Advice[]
      readonly unknownFields: number
    }
  | { readonly kind: 'faults'; readonly errors: readonly ProblemError[] }

function readItem(item: Item, textReading: JsonReading | undefined, publication: Publication): ItemReading {
  const { feed, catalogue } = publication
  const members = readItemMembers(item.value, feed, catalogue)
  if (members.kind === 'faults') return members
  const given = members.members
  if (given.remove !== undefined) {
    const { subject, subjectId, reason } = given.remove
    return {
      kind: 'draft',
      draft: draftOf(given, subject, subjectId, { kind: 'removal', reason }, publication),
      advice: otherTransaction(given, subjectId),
      unknownFields: 0,
    }
  }
  const payload = payloadOf(item, given.payload, textReading, publication.limits)
  if (payload.kind === 'faults') return payload
  const checked = checkPayload(feed, payload.value, given.eventType, given.category)
  if (checked.kind === 'faults') return checked
  const subjectId = parseUuid(checked.subject)
  if (subjectId === undefined)
    return fault(`/payload/${feeds[feed].subjectField}`, 'not_a_uuid', 'The subject is a UUID.')
  const content: DraftContent = {
    kind: 'payload',
    text: payload.text,
    hash: hash('sha256', payload.text, 'buffer'),
    published: checked.published,
    branch: checked.branch,
    impliedCategory: checked.impliedCategory,
    updateDateHash: updateDateHashOf(checked.updateDate),
  }
  return {
    kind: 'draft',
    draft: draftOf(given, checked.subject, subjectId, content, publication),
    advice: [...otherTransaction(given, subjectId), ...checked.advice],
    unknownFields: checked.unknownFields,
  }
}

/** D15: which spelling is the right one is known to the store alone. */
function otherTransaction({ transactionId }: ItemMembers, subjectId: string): readonly Advice[] {
  if (transactionId === undefined || transactionId.toLowerCase() === subjectId) return []
  const message =
    'transactionId is not the UUID of the property or contact, for which known consumers take it: they file the event under another one. Leave it out.'
  return [{ pointer: '/transactionId', code: 'transaction_id_differs', message }]
}

type PayloadReading =
  | { readonly kind: 'payload'; readonly text: string; readonly value: unknown }
  | { readonly kind: 'faults'; readonly errors: readonly ProblemError[] }

/** The payload's own text (D22): as sent in a string, or cut out of the body with the white space between tokens gone. */
function payloadOf(
  item: Item,
  payload: unknown,
  textReading: JsonReading | undefined,
  limits: PublicationLimits,
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

/** A payload's text beyond these characters is read in pieces: with nothing but keys in it, it takes milliseconds. */
const maxTextAtOnce = 65_536

/** One that is too large is not read at all. */
function longTextOf({ value }: Item, { maxPayloadBytes }: PublicationLimits): string | undefined {
  if (typeof value !== 'object' || value === null || !('payload' in value)) return undefined
  const { payload } = value
  const isLong =
    typeof payload === 'string' && payload.length > maxTextAtOnce && payload.length <= maxPayloadBytes
  return isLong ? payload : undefined
}

function payloadTooLarge(text: string, { maxPayloadBytes }: PublicationLimits) {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxPayloadBytes) return undefined
  const message = `The payload has ${bytes} bytes; at most ${maxPayloadBytes} are allowed.`
  return fault('/payload', 'payload_too_large', message)
}

function draftOf(
  given: ItemMembers,
  subject: string,
  subjectId: string,
  content: DraftContent,
  publication: Publication,
): EventDraft {
  const { eventType, transactionId, category } = given
  return {
    id: given.id ?? publication.newId(),
    idGiven: given.id !== undefined,
    subjectId,
    subjectSpelling: subject,
    transactionId,
    content,
    eventTypeShortCode: eventType,
    category,
    contentHash: contentHashOf(content, subjectId, eventType, transactionId, category),
  }
}

/**
 * D14: what makes a repeat the same. The payload's own hash stands for its text, so that it is hashed once; which subject it is
 * about stands in it, and nowhere in a removal.
 */
function contentHashOf(
  content: DraftContent,
  subjectId: string,
  eventType: string | undefined,
  transactionId: string | undefined,
  category: Category | undefined,
): Uint8Array {
  const what =
    content.kind === 'payload'
      ? Buffer.from(content.hash).toString('hex')
      : `remove ${subjectId} ${content.reason ?? ''}`
  return hash(
    'sha256',
    JSON.stringify([what, eventType ?? '', transactionId ?? '', category ?? '']),
    'buffer',
  )
}

function fault(
  pointer: string,
  code: string,
  message: string,
): Extract<PublicationReading, { kind: 'faults' }> {
  return { kind: 'faults', errors: [{ pointer, code, message }] }
}
