/** Turns an event into a change of the copy. */
import { readEventCode, subjectIn } from '../event.ts'
import { readContactPayload } from '../payload/contact.ts'
import type { Contact } from '../payload/contact.ts'
import { readPropertyPayload } from '../payload/property.ts'
import type { Property } from '../payload/property.ts'
import type { PayloadReading, Quirk } from '../payload/read-payload.ts'
import type { FeedEvent, FeedName } from '../wire.ts'

interface PayloadOfFeed {
  readonly property: Property
  readonly contact: Contact
}

/** The subject's new state: insert it, or replace what the copy has. */
export interface Upsert<F extends FeedName = FeedName> {
  readonly kind: 'upsert'
  /** `agent_ref` or `contact_ref` in lower case: the key of the copy. */
  readonly subjectId: string
  readonly sequenceNumber: number
  /** Read tolerantly; `event.payload` is the text. */
  readonly payload: PayloadOfFeed[F]
  readonly event: FeedEvent
  /** The oddities of the payload. */
  readonly quirks: readonly Quirk[]
}

/** The subject is no longer shown: delete it from the copy if it is there. */
export interface Removal {
  readonly kind: 'remove'
  readonly subjectId: string
  /** The event's number; 0 when a resync found that the feed does not have the subject (any more). */
  readonly sequenceNumber: number
  /** Absent when a resync found the removal. */
  readonly event?: FeedEvent
  readonly quirks: readonly Quirk[]
}

export type Change<F extends FeedName = FeedName> = Upsert<F> | Removal

/**
 * An event whose payload cannot be read: `null`, no JSON, or JSON that was encoded twice. Nothing of it can be shown, and nothing says that
 * its subject has gone, so the copy keeps what it has.
 */
export interface OddEvent {
  readonly kind: 'odd'
  readonly subjectId: string
  readonly sequenceNumber: number
  readonly event: FeedEvent
  readonly quirks: readonly Quirk[]
}

const readers: { readonly [F in FeedName]: (payload: string) => PayloadReading<PayloadOfFeed[F]> } = {
  property: readPropertyPayload,
  contact: readContactPayload,
}

/** The change that an event makes when it is its subject's latest. */
export function changeOf<F extends FeedName>(
  feed: F,
  subjectId: string,
  event: FeedEvent,
): Change<F> | OddEvent {
  const { value, quirks: found, raw } = readers[feed](event.payload)
  const quirks: readonly Quirk[] =
    subjectIn(feed, raw, event) === undefined
      ? [...found, { code: 'subject_from_transaction', pointer: '', message: subjectMissing }]
      : found
  const { sequenceNumber } = event
  if (isRemoval(feed, event, value)) return { kind: 'remove', subjectId, sequenceNumber, event, quirks }
  if (value === undefined) return { kind: 'odd', subjectId, sequenceNumber, event, quirks }
  return { kind: 'upsert', subjectId, sequenceNumber, payload: value, event, quirks }
}

const subjectMissing = 'the payload names no subject; the transactionId was used'

/** `payload`: `undefined` if it cannot be read. Some services empty it when a property is removed. */
function isRemoval(feed: FeedName, event: FeedEvent, payload: PayloadOfFeed[FeedName] | undefined): boolean {
  const code = readEventCode(event.eventTypeShortCode)
  const known = code?.feed === feed ? code : undefined
  if (known?.isGone === true) return true
  // Nothing is left to show. A later event follows for the subject of a thinned one (PROTOCOL §5.7).
  if (payload?.erased === true || payload?.thinned === true) return true
  if (known !== undefined) return false
  // A service with other short codes. 1 removes in both known numberings of property events (D12).
  if (payload === undefined) return feed === 'property' && event.eventType === 1
  return (
    'published' in payload &&
    (payload.published === false || (payload.published === null && event.eventType === 1))
  )
}
