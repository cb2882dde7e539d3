/**
 * The data between the client and a feed (PROTOCOL §3, §4, §11). It is written out here instead of imported from the protocol package, so
 * that the published package is self-contained; a test compares the two.
 */

export type FeedName = 'property' | 'contact'

/** One event on the wire (spec §2.1). */
export interface FeedEvent {
  readonly tenantId: string
  /** Ordering number: the highest of a subject is the current one. */
  readonly sequenceNumber: number
  readonly eventType: number
  readonly eventTypeShortCode: string
  /** JSON text; `readPropertyPayload` and `readContactPayload` read it. */
  readonly payload: string
  readonly transactionId: string
  readonly id: string
  /** UTC, `YYYY-MM-DDTHH:mm:ss.fffffff`, no zone designator. */
  readonly createdDate: string
}

/** A page of events (spec §2.2). */
export interface EventPage {
  readonly items: readonly FeedEvent[]
  /** From 1. */
  readonly page: number
  readonly pageSize: number
  /** Events that match, on all pages together. */
  readonly availableCount: number
  readonly totalPages: number
}

/** The head of a feed (PROTOCOL §11). */
export interface FeedHead {
  readonly tenantId: string
  readonly feed: FeedName
  /** Of the feed's last event. */
  readonly sequenceNumber: number
  /** Of the feed's last event; null in an empty feed. */
  readonly createdDate: string | null
  /** When it changes, numbers continue after a gap: start again from a snapshot. */
  readonly epoch: string
  /** When it rises, earlier payloads have been reduced: a copy of the latest events needs to do nothing. */
  readonly revision: number
}

/** The heads of feeds, and how to ask for those that change after them (PROTOCOL §11). */
export interface Heads {
  readonly heads: readonly FeedHead[]
  /** For `movedHeads`. */
  readonly next: string
}

/** A run of events after a number (PROTOCOL §11). */
export interface EventRun {
  readonly items: readonly FeedEvent[]
  /** The next request is for events after this number. */
  readonly next: number
  /** The feed's last number when the answer was made; everything has been read when `next` has reached it. */
  readonly head: number
  readonly epoch: string
  readonly revision: number
}

/** One event to publish (PROTOCOL §4): a payload, or the removal of a subject. */
export type Publication = PayloadPublication | RemovalPublication

interface PublicationMembers {
  /**
   * The publisher's own event id, which makes a repeat harmless. Without one, `publish` makes one, so that its own
   * retries are harmless.
   */
  readonly id?: string
  readonly eventType?: string
  readonly transactionId?: string
  readonly category?: 'sales' | 'lettings'
}

export interface PayloadPublication extends PublicationMembers {
  /** A JSON object, or JSON text, which is kept byte for byte. */
  readonly payload: object | string
}

export interface RemovalPublication extends PublicationMembers {
  readonly remove: { readonly agentRef: string; readonly reason?: number | string }
}

/** The result for one published event. */
export interface ReceiptEvent {
  readonly id: string
  /** Absent only for an event that a dry run would store. */
  readonly sequenceNumber?: number
  readonly eventType: number
  readonly eventTypeShortCode: string
  readonly transactionId: string
  /** Absent only for an event that a dry run would store. */
  readonly createdDate?: string
  /** Stored by an earlier request. */
  readonly repeated?: true
  /** Added by the service: the subject left a category or branch. */
  readonly derived?: true
  /** Equal to the subject's latest event, which is shown; nothing was stored. */
  readonly unchanged?: true
}

/** Advice about one published payload, which was stored as it is. */
export interface PublishWarning {
  /** Place among the events that were given to `publish`, from 0. */
  readonly index: number
  /** JSON pointer into the payload. */
  readonly pointer: string
  readonly code: string
  readonly message: string
}

export interface PublishReceipt {
  readonly events: readonly ReceiptEvent[]
  /** Every event had been stored before. */
  readonly repeated: boolean
  /** At most 100 for each of the requests in which the events were sent. */
  readonly warnings: readonly PublishWarning[]
}

/** What to erase, and why (PROTOCOL §5.7). Exactly one of `subjectId` and `eventId`. */
export interface ErasureRequest {
  readonly subjectId?: string
  readonly eventId?: string
  /** A code: `data_subject_request`, `consent_withdrawn`, … */
  readonly reason: string
  /** At most 40 characters of `[A-Za-z0-9-]`, and no name of a person. */
  readonly caseRef?: string
  /** `YYYY-MM-DD`. */
  readonly receivedOn?: string
}

/** A receipt. */
export interface Erasure {
  readonly id: string
  readonly tenantId: string
  readonly feed: FeedName
  readonly subjectId?: string
  readonly eventId?: string
  readonly reason: string
  readonly caseRef: string | null
  readonly receivedOn: string | null
  readonly actor: string
  /** `reducing`, `reduced`, `unreachable` or `overwritten`. */
  readonly state: string
  readonly events: number
  readonly reduced: number
  /** The event that closed the subject. */
  readonly closing: { readonly id: string; readonly sequenceNumber: number } | null
  readonly revision: number
  readonly begunAt: string
  readonly reducedAt: string | null
  readonly unreachableAt: string | null
  readonly overwrittenAt: string | null
  /** What the erasure does not reach. */
  /** `madeAt`: of `backups`, when they were begun, the newest first. */
  readonly notCovered: readonly {
    readonly code: string
    readonly detail: string
    readonly madeAt?: readonly string[]
  }[]
  /**
   * Keys that were sent what was erased. Present from `unreachable` on, if a single receipt was requested. `null`: reads of this feed are
   * not noted.
   */
  readonly recipients?: readonly ErasureRecipient[] | null
  /** Times for which it is unknown what was sent, because a node crashed. */
  readonly unknownTimes?: readonly { readonly from: string; readonly to: string }[] | null
}

/** A key that was sent what was erased. */
export interface ErasureRecipient {
  readonly keyId: string
  readonly label: string
  /** `sent`, or `possibly`: the key could read the feed at one of the `unknownTimes`. */
  readonly certainty: string
  /** How many of the erased events the key was sent. */
  readonly events: number | null
  /** Start of the first and end of the last hour in which it was sent any. */
  readonly firstSentAt: string | null
  readonly lastSentAt: string | null
  /** The time by which it was sent the closing event; `null`: not so far, or nothing was closed. */
  readonly toldBy: string | null
  /** The last time at which a consumer of it acknowledged the closing event, once all have; `null`: one has not, or none is known. */
  readonly acknowledgedAt: string | null
  /** Its consumers, by name, and when each last acknowledged, including the closing event. Earlier services name none. */
  readonly consumers?: readonly { readonly name: string; readonly acknowledgedAt: string | null }[]
}

/** The answer to a dry run. */
export interface ErasureCount {
  readonly dryRun: true
  readonly events: number
}

/** What to put on hold, and why (PROTOCOL §5.7). */
export interface HoldRequest {
  readonly subjectId: string
  /** A code: `legal_claim`, `legal_obligation`, … */
  readonly ground: string
  /** `YYYY-MM-DD`: the last day of the hold, in UTC. */
  readonly until: string
  /** At most 40 characters of `[A-Za-z0-9-]`, and no name of a person. */
  readonly caseRef?: string
}

export interface Hold {
  readonly id: string
  readonly tenantId: string
  readonly feed: FeedName
  readonly subjectId: string
  readonly ground: string
  readonly caseRef: string | null
  readonly actor: string
  /** `active`, `expired` or `ended`. Only an active hold keeps anything. */
  readonly state: string
  readonly until: string
  readonly addedAt: string
  readonly endedAt: string | null
}

/** Which contact to restrict, and why (PROTOCOL §5.7). */
export interface RestrictionRequest {
  readonly subjectId: string
  /** A code: `accuracy_contested`, `unlawful`, `legal_claim` or `objection`. */
  readonly reason: string
  /** At most 40 characters of `[A-Za-z0-9-]`, and no name of a person. */
  readonly caseRef?: string
}

export interface Restriction {
  readonly id: string
  readonly tenantId: string
  readonly feed: FeedName
  readonly subjectId: string
  readonly reason: string
  readonly caseRef: string | null
  readonly actor: string
  /** `hiding`, `hidden`, `restricted`, `lifting`, `lifted` or `erased`. */
  readonly state: string
  readonly closing: { readonly id: string; readonly sequenceNumber: number }
  readonly begunAt: string
  readonly restrictedAt: string | null
  readonly endedAt: string | null
}

/** One fault of a request: which parameter, or which place in the body. */
export interface ProblemFault {
  readonly parameter?: string
  readonly pointer?: string
  readonly code: string
  readonly message: string
}

interface FeedPaths {
  /** The contract's operations (spec §4, D18). */
  readonly list: string
  readonly get: string
  /** Our own paths: publishing, and events after a number. */
  readonly events: string
  readonly stream: string
  readonly snapshot: string
  readonly digest: string
  /** Our own path: one subject. */
  readonly subjects: string
}

export const feedPaths: Readonly<Record<FeedName, FeedPaths>> = {
  property: {
    list: '/api/func/api/v1/events/getevents',
    get: '/api/func/api/v1/events/geteventbyid/',
    events: '/v1/property-events',
    stream: '/v1/property-events/stream',
    snapshot: '/v1/property-events/snapshot',
    digest: '/v1/property-events/digest',
    subjects: '/v1/properties/',
  },
  contact: {
    list: '/api/func/api/v1/contactevents/getevents',
    get: '/api/func/api/v1/contactevents/geteventbyid/',
    events: '/v1/contact-events',
    stream: '/v1/contact-events/stream',
    snapshot: '/v1/contact-events/snapshot',
    digest: '/v1/contact-events/digest',
    subjects: '/v1/contacts/',
  },
}

export const headsPath = '/v1/heads'
export const erasuresPath = '/v1/erasures'
export const holdsPath = '/v1/holds'
export const restrictionsPath = '/v1/restrictions'
