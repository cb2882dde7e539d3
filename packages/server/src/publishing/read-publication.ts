/**
 * Reads the body of a publish request as drafts (PROTOCOL §4): strict JSON, the members of an item, the payload's own
 * text, the contract's types. Either every event of the request can be stored, or all faults are reported and no event
 * is stored (P6, P11).
 */
import type { PublicationLimits } from '../http/limits.ts'
import { readJsonInPieces } from '@property-events/protocol'
import type { EventTypeCatalogue, JsonReading, ProblemError, PublishWarning } from '@property-events/protocol'
import { sha256 } from '../runtime/hashes.ts'
import type { EventDraft, PayloadContent, RemovalContent } from '../events/append/append-batch.ts'
import { contentHashOf } from '../events/append/content-hash.ts'
import { updateDateHashOf } from '../events/append/subject-identity.ts'
import { fault, itemsOf, maxReported, withPosition } from './publication-body.ts'
import type { BodyFault, Faults, Item, PublishedBody } from './publication-body.ts'
import { readItemMembers } from './publication-item.ts'
import type { ItemMembers } from './publication-item.ts'
import { checkPayload, readPayload } from './publication-payload.ts'
import type { Advice } from './publication-payload.ts'
import { warningCollector } from './publish-warnings.ts'

export interface Publication extends PublishedBody {
  readonly catalogue: EventTypeCatalogue
  readonly limits: PublicationLimits
  /** Makes the id of an event whose publisher sent none. */
  readonly newId: () => string
  /** When duties by law are looked at, milliseconds since 1970; `undefined`: they are not. */
  readonly dutiesAtMs?: number | undefined
}

export type PublicationReading =
  | {
      readonly kind: 'drafts'
      readonly drafts: readonly EventDraft[]
      readonly warnings: readonly PublishWarning[]
      /** The events are items of an array or lines, so a pointer to one of them begins with its index. */
      readonly inList: boolean
    }
  | Faults

/** Reads it in one step. */
export function readPublication(publication: Publication): PublicationReading {
  const steps = publicationSteps(publication)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/**
 * The same in steps, with other work between them: at most one event in a step, and several steps for a long event. The body is read once
 * and no further than needed: to the event that is one too many, to the first fault of an array as a whole, or to the line with the last
 * fault that is reported.
 */
export function* publicationSteps(publication: Publication): Generator<void, PublicationReading> {
  const { body, format, limits } = publication
  const collected = draftCollector()
  // Faults of the body. If there is one, faults in the contents of its events are not reported.
  const faults: BodyFault[] = []
  let count = 0
  for (const item of itemsOf(body, format, limits)) {
    if (item !== undefined) {
      count += 1
      if (count > limits.maxEvents) {
        return faults.length > 0 ? yield* refused(publication, faults) : tooManyEvents(limits)
      }
      if (item.kind === 'fault') faults.push(item)
      else if (faults.length === 0 && !collected.isFull()) {
        const text = longTextOf(item, limits)
        const within = { maxDepth: limits.maxPayloadDepth }
        const textReading = text === undefined ? undefined : yield* readJsonInPieces(text, within)
        collected.add(item, readItem(item, textReading, publication))
      }
      if (faults.length >= maxReported) break
    }
    yield
  }
  if (faults.length > 0) return yield* refused(publication, faults)
  if (count === 0) return fault('', 'empty_batch', 'The request contains no event; send at least one.')
  return collected.reading()
}

type ItemReading =
  | {
      readonly kind: 'draft'
      readonly draft: EventDraft
      readonly advice: readonly Advice[]
      readonly unknownFields: number
    }
  | Faults

/** One event: its members, the payload's own text, what the contract says about it, the draft. */
function readItem(item: Item, textReading: JsonReading | undefined, publication: Publication): ItemReading {
  const { feed, catalogue, limits, dutiesAtMs } = publication
  const reading = readItemMembers(item.value, feed, catalogue)
  if (reading.kind === 'faults') return reading
  const { members } = reading
  if (members.remove !== undefined) return removalDraft(members, members.remove, publication)

  const payload = readPayload(item, members.payload, textReading, limits)
  if (payload.kind === 'faults') return payload
  const checked = checkPayload(feed, payload.value, members.eventType, members.category, dutiesAtMs)
  if (checked.kind === 'faults') return checked
  const { subject, subjectId, published, branch, impliedCategory, priceLooksLike } = checked
  const content: PayloadContent = {
    kind: 'payload',
    text: payload.text,
    hash: sha256(payload.text),
    published,
    branch,
    impliedCategory,
    priceLooksLike,
    updateDateHash: updateDateHashOf(checked.updateDate),
  }
  return {
    kind: 'draft',
    draft: draftOf(members, subject, subjectId, content, publication),
    advice: [...otherTransaction(members, subjectId), ...checked.advice],
    unknownFields: checked.unknownFields,
  }
}

function removalDraft(
  members: ItemMembers,
  { subject, subjectId, reason }: NonNullable<ItemMembers['remove']>,
  publication: Publication,
): ItemReading {
  const draft = draftOf(members, subject, subjectId, { kind: 'removal', reason }, publication)
  return { kind: 'draft', draft, advice: otherTransaction(members, subjectId), unknownFields: 0 }
}

/** D15: only the store knows which spelling is the right one. */
function otherTransaction({ transactionId }: ItemMembers, subjectId: string): readonly Advice[] {
  if (transactionId === undefined || transactionId.toLowerCase() === subjectId) return []
  const message =
    'transactionId is not the UUID of the property or contact. Known consumers take it for that UUID, and will file the event under another one: leave it out.'
  return [{ pointer: '/transactionId', code: 'transaction_id_differs', message }]
}

function draftOf(
  members: ItemMembers,
  subject: string,
  subjectId: string,
  content: PayloadContent | RemovalContent,
  { newId }: Publication,
): EventDraft {
  const { eventType: eventTypeShortCode, transactionId, category } = members
  return {
    id: members.id ?? newId(),
    idGiven: members.id !== undefined,
    subjectId,
    subjectSpelling: subject,
    transactionId,
    content,
    eventTypeShortCode,
    category,
    contentHash: contentHashOf(content, { subjectId, eventTypeShortCode, transactionId, category }),
  }
}

/** The drafts of a publication, its warnings or its faults, in the order of its items; each is compared with those before it. */
function draftCollector() {
  const drafts: EventDraft[] = []
  const warnings = warningCollector()
  const errors: ProblemError[] = []
  const ids = new Set<string>()
  let inList = true
  return {
    add({ pointer }: Item, reading: ItemReading): void {
      inList = pointer !== ''
      if (reading.kind === 'faults') {
        for (const error of reading.errors)
          errors.push({ ...error, pointer: `${pointer}${error.pointer ?? ''}` })
        return
      }
      const { draft, advice, unknownFields } = reading
      if (draft.idGiven) {
        if (ids.has(draft.id)) {
          const message = 'This id occurs twice in the request; every event needs its own.'
          errors.push({ pointer: `${pointer}/id`, code: 'duplicate_id', message })
        }
        ids.add(draft.id)
      }
      warnings.add(drafts.length, advice, unknownFields)
      drafts.push(draft)
    },
    /** As many faults have been found as are reported. */
    isFull: () => errors.length >= maxReported,
    reading(): PublicationReading {
      if (errors.length > 0) return { kind: 'faults', errors: errors.slice(0, maxReported) }
      return { kind: 'drafts', drafts, warnings: warnings.warnings(), inList }
    },
  }
}

function* refused(
  publication: Publication,
  faults: readonly BodyFault[],
): Generator<void, PublicationReading> {
  const noJson = faults.find(({ error }) => error.code === 'invalid_json')
  const errors: ProblemError[] = []
  for (const fault of faults) {
    errors.push(fault === noJson ? yield* withPosition(publication, fault) : fault.error)
  }
  return { kind: 'faults', errors }
}

function tooManyEvents({ maxEvents }: PublicationLimits): PublicationReading {
  const message = `The request contains more than ${maxEvents} events, the most that is allowed. Send several requests.`
  return fault('', 'too_many_events', message)
}

/** A payload text with more characters is read in pieces: full of keys, it takes milliseconds. */
const maxTextAtOnce = 65_536

/** A payload that is too large is not read at all. */
function longTextOf({ value }: Item, { maxPayloadBytes }: PublicationLimits): string | undefined {
  if (typeof value !== 'object' || value === null || !('payload' in value)) return undefined
  const { payload } = value
  const isLong =
    typeof payload === 'string' && payload.length > maxTextAtOnce && payload.length <= maxPayloadBytes
  return isLong ? payload : undefined
}
