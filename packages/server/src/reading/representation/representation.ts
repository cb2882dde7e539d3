/**
 * The form in which a reader sees events, if it differs from the stored one. Only this file changes stored bytes when they are read: the
 * numbers of event types (D12), transaction ids (D15), and what a key sees of contacts (D11).
 */
import { hash } from 'node:crypto'
import { feeds, isUuid, usualContactFields } from '@property-events/protocol'
import type { ContactLimits, EventTypeCatalogue, FeedName } from '@property-events/protocol'
import { freeBytes } from '../../runtime/memory/free-bytes.ts'
import type { KeyReading } from '../../keys/key.ts'
import type { StoredEvent } from '../../events/event-log.ts'
import { contactRedaction, objectOf, redactJoined } from './contact-redaction.ts'
import type { RedactContact } from './contact-redaction.ts'
import { numberingsOver, renumber } from './numbering.ts'
import type { Numbering } from './numbering.ts'
import type { TypeFilter } from './type-filter.ts'

/** For one feed. Readers with one form read the same bytes (P9): caches and tags carry its name. */
export interface Representation {
  readonly name: string
  readonly numbering: Numbering | undefined
  /** The member of payloads whose value is shown as the transaction id (D15). `undefined`: it is the one that was sent. */
  readonly references: string | undefined
  /** Changes the lengths of events. `undefined`: they keep their stored lengths. */
  readonly narrow: RedactContact | undefined
}

/** The settings of a key. */
interface ReadBy {
  readonly reading: KeyReading | undefined
  /** From its grant for the tenant being read; `undefined`: all contact data. */
  readonly contact?: ContactLimits | undefined
}

/** `undefined`: as the events are stored. The same object for the same form, as long as it is in use. */
export type RepresentationOf = (by: ReadBy, feed: FeedName) => Representation | undefined

/** `catalogue`: the store's. */
export function representationsOver(catalogue: EventTypeCatalogue): RepresentationOf {
  const numberingOf = numberingsOver(catalogue)
  const plain = new Map<string, Representation>()
  const byLimits = new WeakMap<ContactLimits, Map<string, Representation>>()

  return ({ reading, contact }, feed) => {
    const numbering = numberingOf(reading?.eventTypes, feed)
    const references = reading?.references === true ? feeds[feed].subjectField : undefined
    const limits = feed === 'contact' ? contact : undefined
    if (numbering === undefined && references === undefined && limits === undefined) return undefined
    const forms = limits === undefined ? plain : (byLimits.get(limits) ?? new Map<string, Representation>())
    if (limits !== undefined) byLimits.set(limits, forms)
    const known = forms.get(`${feed} ${numbering?.name} ${references}`)
    if (known !== undefined) return known
    const parts = [numbering?.name, references && 'references', limits && limitsName(limits)]
    const name = parts.filter((part) => part !== undefined).join('-')
    const made = { name, numbering, references, narrow: limits && contactRedaction(limits, catalogue) }
    forms.set(`${feed} ${numbering?.name} ${references}`, made)
    return made
  }
}

/** Equal for equal bytes, on every node and after a restart with another version, because segments on disk carry it. */
function limitsName({ roles, fields = usualContactFields }: ContactLimits): string {
  const text = `${roles?.join() ?? '*'};${fields.join()}`
  return `c${hash('sha256', text, 'hex').slice(0, 16)}`
}

/** One event, or several joined by commas. The bytes belong to the caller: they are changed in place, or freed. */
export function represent(bytes: Uint8Array, form: Representation | undefined): Uint8Array {
  if (form === undefined) return bytes
  const { numbering, references, narrow } = form
  const shown = narrow === undefined ? bytes : redactJoined(bytes, narrow)
  if (shown !== bytes) freeBytes(bytes)
  if (numbering !== undefined) renumber(shown, numbering)
  if (references !== undefined) showReferences(shown, references)
  return shown
}

/** Like `represent`, for each of several. */
export function representAll(
  events: readonly StoredEvent[],
  form: Representation | undefined,
): readonly StoredEvent[] {
  if (form === undefined) return events
  return events.map((event) => ({ ...event, json: represent(event.json, form) }))
}

/** Like `represent`, for events that others own as well, which are copied. */
export function representCopies(
  events: readonly StoredEvent[],
  form: Representation | undefined,
): readonly StoredEvent[] {
  if (form === undefined) return events
  return events.map((event) => ({ ...event, json: represent(Buffer.from(event.json), form) }))
}

const shownFilters = new WeakMap<Representation, WeakMap<TypeFilter, TypeFilter>>()

/**
 * A filter by the types that the reader sees: to a key, a contact that is hidden from it is a removal. The same filter and form always
 * give the same object.
 */
export function filterAsShown(
  filter: TypeFilter | undefined,
  form: Representation | undefined,
): TypeFilter | undefined {
  if (filter === undefined || form?.narrow === undefined) return filter
  const ofForm = shownFilters.get(form) ?? new WeakMap<TypeFilter, TypeFilter>()
  shownFilters.set(form, ofForm)
  const known = ofForm.get(filter)
  if (known !== undefined) return known
  const seen: TypeFilter = ({ json }) => filter({ json: represent(Buffer.from(json), form) })
  ofForm.set(filter, seen)
  return seen
}

/** Events whose `transactionId` is the reference of their subject, for readers that take it for that (D15). */
const payloadMember = Buffer.from(',"payload":"')
/** In the text of a payload every quote has a backslash before it, so this is where the payload ends. */
const transactionMember = Buffer.from('","transactionId":"')
const uuidLength = 36

/**
 * Changes the ids in place, in one event or in several joined by commas: both are UUIDs, so no length changes. An id that is the subject's
 * UUID already keeps its spelling, which all events of the subject share (D15). `subjectField`: the payload's member.
 */
function showReferences(bytes: Uint8Array, subjectField: string): void {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const start = Buffer.from(`{\\"${subjectField}\\":\\"`)
  for (let from = 0; ;) {
    const member = text.indexOf(payloadMember, from)
    if (member === -1) return
    const payload = member + payloadMember.length
    const end = text.indexOf(transactionMember, payload)
    const place = end + transactionMember.length
    const own = text.toString('latin1', place, place + uuidLength)
    const reference = referenceIn(text.subarray(payload, end), start, subjectField)
    if (reference !== undefined && reference.toLowerCase() !== own.toLowerCase()) {
      text.write(reference, place, 'latin1')
    }
    from = place + uuidLength
  }
}

/** `payload` has the escapes of the event's text. Most begin with the reference, and then need not be read. */
function referenceIn(payload: Buffer, start: Buffer, subjectField: string): string | undefined {
  if (payload.subarray(0, start.length).equals(start)) {
    const first = payload.toString('latin1', start.length, start.length + uuidLength)
    if (isUuid(first)) return first
  }
  const text: unknown = JSON.parse(`"${payload.toString('utf8')}"`)
  const reference = objectOf(JSON.parse(String(text)))[subjectField]
  return typeof reference === 'string' && isUuid(reference) ? reference : undefined
}
