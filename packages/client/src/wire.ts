/** The data between the client and a feed (PROTOCOL §3, §4, §5.7, §11, §14). Written by `npm run openapi`. Do not edit. */
import type { ContactPayload, PropertyPayload } from './payload/payload-types.ts'

/** One event of a feed. */
export interface FeedEvent {
  /** Owner tenant of the event. */
  readonly tenantId: string
  /** Ordering number; strictly rising in a feed. The highest per subject is the current one. */
  readonly sequenceNumber: number
  /** Numeric event kind, see the event type catalogue. */
  readonly eventType: number
  /** Short name of the event kind, such as PropertyPublished. */
  readonly eventTypeShortCode: string
  /** A JSON document serialised into a string, byte for byte as published. */
  readonly payload: string
  /** Groups events; by default the subject's own UUID, as the subject's first event spells it. */
  readonly transactionId: string
  /** Event identifier, the eventId of the get-by-id path. */
  readonly id: string
  /** UTC, 7 fraction digits, no zone designator; rises with the sequence number. */
  readonly createdDate: string
}

/** A page of events in ascending sequenceNumber. */
export interface EventPage {
  readonly items: readonly FeedEvent[]
  /** Current page number. */
  readonly page: number
  /** Page size used. */
  readonly pageSize: number
  /** Events that match the request, on all pages together. */
  readonly availableCount: number
  /** Number of pages; 0 when nothing matches. */
  readonly totalPages: number
}

/** Events in ascending sequenceNumber. */
export interface EventRun {
  readonly items: readonly FeedEvent[]
  /** Ask for the events after this number next. */
  readonly next: number
  /** The feed's last number. Nothing is left to read when `next` has reached it. */
  readonly head: number
  /** Changes when numbers continue after a gap, as after a restore: begin again. */
  readonly epoch: string
  /** Rises when stored payloads were reduced. A copy of the latest events need do nothing. */
  readonly revision: number
}

export interface Heads {
  readonly heads: readonly FeedHead[]
  /** For `since`: asks for the feeds that change after this answer. */
  readonly next: string
}

/** Where one feed stands. */
export interface FeedHead {
  /** Whose feed it is. */
  readonly tenantId: string
  /** Which feed of the tenant. */
  readonly feed: FeedName
  /** Of the feed's last event. */
  readonly sequenceNumber: number
  /** Of the feed's last event; null in an empty feed. */
  readonly createdDate: string | null
  /** Changes when numbers continue after a gap, as after a restore: begin again. */
  readonly epoch: string
  /** Rises when stored payloads were reduced. A copy of the latest events need do nothing. */
  readonly revision: number
}

/** Which feed of the tenant. */
export type FeedName = 'property' | 'contact'

/** A property event to publish: how the property is now. */
export interface PropertyState {
  readonly payload: PropertyPayload | string
  /** Default: as the payload says. */
  readonly category?: 'sales' | 'lettings' | null | undefined
  readonly eventType?: string | null | undefined
  readonly id?: string | null | undefined
  readonly transactionId?: string | null | undefined
}

/** A property event to publish: the property must not be shown any more. */
export interface PropertyRemoval {
  readonly remove: Removal
  /** Default: as the payload says. */
  readonly category?: 'sales' | 'lettings' | null | undefined
  readonly eventType?: string | null | undefined
  readonly id?: string | null | undefined
  readonly transactionId?: string | null | undefined
}

/** A property that must not be shown any more. */
export interface Removal {
  /** The property. */
  readonly agentRef: string
  readonly reason?: number | string | null | undefined
}

/** One contact event to publish. */
export interface ContactPublication {
  readonly payload: ContactPayload | string
  readonly eventType?: string | null | undefined
  readonly id?: string | null | undefined
  readonly transactionId?: string | null | undefined
}

export interface PublishReceipt {
  /** One for each event of the request, in its order, and those that the service added. */
  readonly events: readonly ReceiptEvent[]
  /** True when every event of the request had been stored before. */
  readonly repeated: boolean
  /** The first 100 of the request, and the first 50 about the fields of one payload. */
  readonly warnings: readonly PublishWarning[]
}

export interface ReceiptEvent {
  /** Of the event: as it was sent, or as it was given. */
  readonly id: string
  /** Absent only for what a dry run would store. */
  readonly sequenceNumber?: number
  /** Number of the kind of event. */
  readonly eventType: number
  /** Short name of the kind of event. */
  readonly eventTypeShortCode: string
  /** As in the event. */
  readonly transactionId: string
  /** Absent only for what a dry run would store. */
  readonly createdDate?: string
  /** Stored by an earlier request; this is its first result. */
  readonly repeated?: true
  /** Added by the service: the subject left a category or branch (D23). */
  readonly derived?: true
  /** Equal to the subject's latest event, which is shown; nothing was stored. */
  readonly unchanged?: true
}

export interface PublishWarning {
  /** Place of the event in the request, from 0. */
  readonly index: number
  /** JSON pointer into the payload; of `transaction_id_differs`, into the event around it. */
  readonly pointer: string
  /** All places, the first of them being `pointer`, where one warning is about several. */
  readonly pointers?: readonly string[]
  /** Stable; the page at `/docs` lists them. Further ones may come. */
  readonly code: string
  /** What is doubtful, in a sentence. */
  readonly message: string
}

/** Subjects that are shown now. */
export interface FeedDigest {
  /** How the references begin: hexadecimal digits, without hyphens. */
  readonly prefix: string
  /** How many there are. */
  readonly count: number
  /** SHA-256 of a line for each, ascending by reference: the reference in lower case, a blank, its `sequenceNumber`, a line feed. */
  readonly digest: string
  /** By two more digits, those that are not empty, ascending. Null where `subjects` are listed. */
  readonly parts: readonly DigestPart[] | null
  /** All of them, ascending by reference; null where there are more than 1,000. */
  readonly subjects: readonly DigestSubject[] | null
  /** The feed's last number before they were read. */
  readonly head: number
  /** Changes when numbers continue after a gap, as after a restore: begin again. */
  readonly epoch: string
}

export interface DigestPart {
  /** How the references begin: hexadecimal digits, without hyphens. */
  readonly prefix: string
  /** How many there are. */
  readonly count: number
  /** SHA-256 of a line for each, ascending by reference: the reference in lower case, a blank, its `sequenceNumber`, a line feed. */
  readonly digest: string
}

export interface DigestSubject {
  /** The reference. */
  readonly subjectId: string
  /** Of its latest event. */
  readonly sequenceNumber: number
}

/** The result of a property at a consumer. */
export interface ConsumerResult {
  /** The property. */
  readonly agentRef: string
  /** Of the event that it is about. */
  readonly sequenceNumber: number
  /** `live`: the site shows this version, or has taken a removed property down. */
  readonly outcome: 'live' | 'held' | 'refused'
  /** Why it was held or refused, in a word of the consumer. */
  readonly code?: string | null | undefined
  /** The same in words. It must name no person. */
  readonly message?: string | null | undefined
  /** Where the site shows it: http or https. */
  readonly url?: string | null | undefined
}

export interface ResultsReceipt {
  /** How many results are of properties of the feed. */
  readonly stored: number
  /** References that the feed does not have. */
  readonly unknown: readonly string[]
}

/** Who has seen the latest event of a property. */
export interface PropertyConsumers {
  /** The property. */
  readonly agentRef: string
  /** The latest event of the property. */
  readonly event: DeliveredEvent
  /** Where the feed stands. */
  readonly feed: FeedOfProperty
  readonly consumers: readonly PropertyConsumer[]
}

/** The latest event of the property. */
export interface DeliveredEvent {
  /** Its number. */
  readonly sequenceNumber: number
  /** Its type. */
  readonly eventTypeShortCode: string
  /** When it was published. */
  readonly publishedAt: string
  /** `sales` or `lettings`. */
  readonly category: string | null
}

/** Where the feed stands. */
export interface FeedOfProperty {
  /** Of the feed's last event. */
  readonly sequenceNumber: number
  /** Changes when numbers continue after a gap, as after a restore: begin again. */
  readonly epoch: string
  /** When anything was last published; null in an empty feed. */
  readonly lastPublishedAt: string | null
  /** The publisher has been silent since then, which is longer than expected; null: it is not silent, or the key sees only itself. */
  readonly silentSince: string | null
}

/** The result of the latest event of a property at one consumer. */
export interface PropertyConsumer {
  /** Id of the key: the part after `pev_` in its text. */
  readonly keyId: string
  /** As in `x-feed-consumer`; `default`: the key itself. */
  readonly name: string
  /** Of the key. */
  readonly label: string
  /**
   * What the consumer reports takes precedence. `sent` does not say what was done with the event; `refused_by_us`: its requests are
   * refused; `acknowledged`, `waiting`, `given_up`, `skipped`: by an endpoint. Further values may come.
   */
  readonly state:
    | 'live'
    | 'held'
    | 'refused'
    | 'applied'
    | 'acknowledged'
    | 'waiting'
    | 'given_up'
    | 'skipped'
    | 'sent'
    | 'pending'
    | 'other_category'
    | 'other_branch'
    | 'refused_by_us'
    | 'never_asked'
    | (string & {})
  /**
   * When the consumer said so, the minute in which the event was first sent, when an endpoint was last tried, or since when its requests
   * have been refused.
   */
  readonly at: string | null
  /** How it was first sent. */
  readonly route: string | null
  /** Why it was held or refused. */
  readonly code: string | null
  /** The same in words of the consumer, or the beginning of the answer of an endpoint. */
  readonly message: string | null
  /** Where the site shows it. */
  readonly url: string | null
  /** Requests that were refused since then. */
  readonly refusals: number | null
  /** When it was last answered. */
  readonly lastAskedAt: string | null
  /** When it last received an answer with nothing new. */
  readonly lastNothingNewAt: string | null
  /**
   * It has asked for nothing since then, which is longer than expected; null: it is not silent, or its key also opens other tenants and the
   * asking key is not an operator key.
   */
  readonly silentSince: string | null
  /** It says that it has applied everything up to this number. */
  readonly acknowledged: number | null
  /** What it last said of an earlier event of the property. */
  readonly earlier: {
    /** What it said. */
    readonly outcome: string
    /** Of that event. */
    readonly sequenceNumber: number
  } | null
  /** What it reads: `all`, `sales`, `lettings`. */
  readonly views: readonly string[]
  /** The number of the event type that its key is shown, if it differs from that of the store. */
  readonly eventType: {
    /** Whose numbers. */
    readonly catalogue: string
    /** The number. */
    readonly number: number
  } | null
  /**
   * From the publication of a listing until the consumer first reports it live, over 30 days; null: it has reported nothing about these
   * listings.
   */
  readonly timeToLive: TimeToLive | null
  /** The endpoint that the property is sent to; null: the consumer requests the feed. */
  readonly webhook: DeliveryEndpoint | null
  /** All of this as a sentence, with times in UTC. */
  readonly sentence: string
}

export interface TimeToLive {
  /** Listings that were published since then are counted. */
  readonly since: string
  /** How many of them the consumer has reported live. */
  readonly live: number
  /** Half of these took no longer; null: there is none. */
  readonly p50Seconds: number | null
  /** 95 of 100 took no longer. */
  readonly p95Seconds: number | null
  /** Listings that are still published and not reported live. */
  readonly notLiveYet: number
  /** When the oldest of these was published. */
  readonly oldestNotLiveAt: string | null
  /** Listings that were removed before they were reported live. */
  readonly neverLive: number
}

export interface DeliveryEndpoint {
  /** The endpoint. */
  readonly id: string
  /** Of the endpoint. */
  readonly label: string
  /** Only an enabled one is sent anything. */
  readonly state: 'enabled' | 'paused' | 'disabled'
  /** Why it is paused or disabled. */
  readonly reason: string | null
  /** Since when it has been. */
  readonly since: string | null
  /** Its receiver has refused everything since then, and is only probed. */
  readonly failingSince: string | null
  /** Of the event of the property that waits or was given up. */
  readonly sequenceNumber: number | null
  /** How many tries of it were refused. */
  readonly tries: number
  /** When it is tried again. */
  readonly nextTryAt: string | null
  /** Of the last answer; null: there was none. */
  readonly status: number | null
}

/** The terms on which a property was advertised at a moment, and what is recorded of where. */
export interface PropertyTerms {
  /** The property. */
  readonly agentRef: string
  /** The moment that is answered for: the last millisecond that the request includes, or now. */
  readonly at: string
  /**
   * `kept`: `terms` and `material` are those of the event. `erased`, `retention`: they have been taken from it. `none`: the feed has no
   * event of the property up to then, and nothing is recorded of the time before. Further values may come.
   */
  readonly record: 'kept' | 'erased' | 'retention' | 'none' | (string & {})
  /** The event in force: the last one of the property up to then. */
  readonly event: TermsEvent | null
  /** The next event of the property; null: there is none. */
  readonly supersededBy: {
    /** Its number. */
    readonly sequenceNumber: number
    /** When it superseded the event. */
    readonly createdDate: string
  } | null
  /** Whether the property was advertised; null: not recorded. */
  readonly published: boolean | null
  /** Null: not recorded, or no longer. */
  readonly terms: AdvertisedTerms | null
  /** Null: not recorded, or no longer. */
  readonly material: readonly MaterialFact[] | null
  /** What consumers were first sent, or reported, before this is not recorded (any more). */
  readonly recordedFrom: string
  readonly consumers: readonly TermsConsumer[]
  /** What was advertised, as a sentence, with times in UTC. */
  readonly sentence: string
}

export interface TermsEvent {
  /** Its eventId. */
  readonly id: string
  /** Its number. */
  readonly sequenceNumber: number
  /** Its type. */
  readonly eventTypeShortCode: string
  /** Since when it was in force: UTC, 7 fraction digits. */
  readonly createdDate: string
  /** `sales` or `lettings`. */
  readonly category: string | null
}

/** As the payload states them; null: it does not. */
export interface AdvertisedTerms {
  /** `status`, a code. */
  readonly status: number | null
  /** `price_information.price`, in pounds. */
  readonly price: number | null
  /** `price_information.price_qualifier`, a code. */
  readonly priceQualifier: number | null
  /** `price_information.price_qualifier_string`. */
  readonly priceQualifierText: string | null
  /** `price_information.rent_frequency`, payments a year. */
  readonly rentFrequency: number | null
  /** `price_information.deposit`, in pounds. */
  readonly deposit: number | null
  /** `contract_months`. */
  readonly contractMonths: number | null
  /** `minimum_term`, in months. */
  readonly minimumTerm: number | null
}

/** One thing that buyers and tenants need to know. */
export interface MaterialFact {
  /** What it is, in words. */
  readonly name: string
  /** Where a payload states it, an RFC 6901 pointer. */
  readonly pointer: string
  /** False: the advert should state it, and does not. */
  readonly stated: boolean
  /** What the payload has in the places where this is stated. */
  readonly values: readonly {
    /** Where. */
    readonly pointer: string
    /** As in the payload. */
    readonly value: unknown
  }[]
}

/** What is recorded of the terms at one consumer. */
export interface TermsConsumer {
  /** Id of the key: the part after `pev_` in its text. */
  readonly keyId: string
  /** As in `x-feed-consumer`; `default`: the key itself. */
  readonly name: string
  /** Of the key. */
  readonly label: string
  /**
   * `first`: `sentAt`. `time_not_recorded`: it was sent, and when is not on record. `not_recorded`: the event is older than the record.
   * `no_record`: the record has nothing of it. None of them says that it was processed. Further values may come.
   */
  readonly sent: 'first' | 'time_not_recorded' | 'not_recorded' | 'no_record' | (string & {})
  /** The minute in which an answer with the event was first taken. */
  readonly sentAt: string | null
  /** How it was read then. */
  readonly route: string | null
  /** The acknowledgement that includes the event. Only the last one of a consumer is kept, so it may have said so before. */
  readonly applied: {
    /** When it said so. */
    readonly at: string
    /** Everything up to this number; not less than that of the event. */
    readonly sequenceNumber: number
  } | null
  /** When the site showed the property while these terms were in force, as it reported. */
  readonly live: readonly LivePeriod[]
  /** All of this as a sentence, with times in UTC. */
  readonly sentence: string
}

export interface LivePeriod {
  /** When the consumer reported it first; null: earlier than is recorded. */
  readonly from: string | null
  /** When it reported something else; null: it has not. */
  readonly until: string | null
  /** Where the site showed it. */
  readonly url: string | null
  /** Of the event that the report was about. */
  readonly sequenceNumber: number
}

export interface DutyLists {
  /** False: duties are switched off for the tenant. */
  readonly advised: boolean
  /** Properties that are shown now, among those that this call has looked at. */
  readonly properties: number
  /** Send it as `after` to get what comes next; null at the end. */
  readonly next: string | null
  /** By duty. */
  readonly items: readonly DutyList[]
}

export interface DutyList {
  /** As in the warnings of receipts. Further values may come. */
  readonly code:
    | 'rent_not_specific'
    | 'rent_period_too_long'
    | 'fixed_term_advertised'
    | 'tenant_excluded'
    | 'material_information'
    | (string & {})
  /** What an advert has to say or must not say. */
  readonly sentence: string
  /** Where the law can be read. */
  readonly source: string
  /** Since when it is in force. Before, nothing is counted. */
  readonly inForceFrom: string
  /** How many of the properties of this call do not fit it. */
  readonly properties: number
  /** The first of them by their `agent_ref`: those that were published longest ago. */
  readonly refs: readonly string[]
}

export interface Consumers {
  /** The publisher of the feed, with whichever keys. */
  readonly publisher: Publisher
  readonly items: readonly Consumer[]
  /** The list is whole. */
  readonly next: null
}

/** The publisher of the feed, with whichever keys. */
export interface Publisher {
  /** When a publication was last taken, to within some minutes; null: not since this has been recorded. */
  readonly lastHeardAt: string | null
  /** How long it may be silent; null: nothing is expected, or not yet. */
  readonly expectedSeconds: number | null
  /** `learning`: it has been seen for less than 7 days. Further ones may come. */
  readonly expectation: 'set' | 'learned' | 'learning' | 'off' | (string & {}) | null
  /** It has been silent since then, which is longer than expected; null: it is not silent. */
  readonly silentSince: string | null
}

/** A reader of a feed: a key, or one of the uses that a key names. */
export interface Consumer {
  /** Id of the key: the part after `pev_` in its text. */
  readonly keyId: string
  /** As in `x-feed-consumer`; `default`: the key itself. */
  readonly name: string
  /** Of the key. */
  readonly label: string
  /** Why the key no longer works: `key_revoked`, `key_expired`, `key_disabled`. */
  readonly ended: string | null
  /** When it was last answered; null: never. */
  readonly lastAskedAt: string | null
  /** Of that answer. */
  readonly lastStatus: number | null
  /** How it asked. */
  readonly lastRoute: string | null
  /** When it last received an answer with nothing new. */
  readonly lastNothingNewAt: string | null
  /** It asks for the first page of the list alone, although there is more: it probably stops at an event type that it does not know. */
  readonly stoppedAfter: number | null
  /** It says that it has applied everything up to this number. */
  readonly acknowledged: {
    /** A number. */
    readonly sequenceNumber: number
    /** When it said so. */
    readonly at: string | null
  } | null
  /** Its last requests were refused. */
  readonly refused: {
    /** Why. */
    readonly code: string
    /** Since when. */
    readonly since: string | null
    /** How many requests. */
    readonly count: number
  } | null
  /** What it reads. */
  readonly views: readonly ConsumerView[]
  /**
   * From the publication of a listing until the consumer first reports it live, over 30 days; null: it has reported nothing about these
   * listings.
   */
  readonly timeToLive: TimeToLive | null
  /** The endpoint that the feed is sent to; null: the consumer requests it. */
  readonly webhook: ConsumerEndpoint | null
  /** How long it may be silent; null: nothing is expected, or not yet. */
  readonly expectedSeconds: number | null
  /** `learning`: it has been seen for less than 7 days. Further ones may come. */
  readonly expectation: 'set' | 'learned' | 'learning' | 'off' | (string & {}) | null
  /** It has been silent since then, which is longer than expected; null: it is not silent. */
  readonly silentSince: string | null
}

export interface ConsumerView {
  /** `all`, `sales`, `lettings`. */
  readonly view: string
  /** Everything of the view up to this number was sent. */
  readonly through: number
  /** Events of the view after it. */
  readonly lagEvents: number
  /** How long ago the first of them was published. */
  readonly lagSeconds: number
}

export interface ConsumerEndpoint {
  /** The endpoint. */
  readonly id: string
  /** Of the endpoint. */
  readonly label: string
  /** Only an enabled one is sent anything. */
  readonly state: 'enabled' | 'paused' | 'disabled'
  /** Why it is paused or disabled. */
  readonly reason: string | null
  /** Since when it has been. */
  readonly since: string | null
  /** Its receiver has refused everything since then, and is only probed. */
  readonly failingSince: string | null
  /** Properties or contacts whose oldest event is tried again. */
  readonly waiting: number
  /** Events that were given up. */
  readonly givenUp: number
}

/** Exactly one of subjectId and eventId. */
export interface ErasureRequest {
  /** Which feed of the tenant. */
  readonly feed: FeedName
  /** The property or contact. */
  readonly subjectId?: string | undefined
  /** The one event. */
  readonly eventId?: string | undefined
  /** Why; no text of your own. */
  readonly reason:
    | 'data_subject_request'
    | 'consent_withdrawn'
    | 'objection'
    | 'no_longer_needed'
    | 'unlawful'
    | 'legal_obligation'
    | 'published_in_error'
  /** Your reference for the case. Never a person’s name. */
  readonly caseRef?: string | null | undefined
  /** The day on which the request was received. */
  readonly receivedOn?: string | null | undefined
}

export interface ErasureCount {
  /** Always true: nothing was changed. */
  readonly dryRun: boolean
  /** The tenant. */
  readonly tenantId: string
  /** Which feed of the tenant. */
  readonly feed: FeedName
  /** The property or contact. */
  readonly subjectId?: string
  /** The one event. */
  readonly eventId?: string
  /** Events that would be reduced. */
  readonly events: number
}

/** A receipt. */
export interface Erasure {
  /** Of the erasure. */
  readonly id: string
  /** The tenant. */
  readonly tenantId: string
  /** Which feed of the tenant. */
  readonly feed: FeedName
  /** The property or contact. */
  readonly subjectId?: string
  /** The one event. */
  readonly eventId?: string
  /** Why. `replayed`: a restore had brought it back, and it was carried out again. */
  readonly reason:
    | 'data_subject_request'
    | 'consent_withdrawn'
    | 'objection'
    | 'no_longer_needed'
    | 'unlawful'
    | 'legal_obligation'
    | 'published_in_error'
    | 'replayed'
  /** Your reference for the case. Never a person’s name. */
  readonly caseRef?: string | null
  /** The day on which the request was received. */
  readonly receivedOn?: string | null
  /** The id of the key that asked for it. */
  readonly actor: string
  /**
   * `reduced`: no row has the payloads, and each node is waited for until it has forgotten them, a killed node for a minute; `unreachable`:
   * no row, page or answer has them; `overwritten`: the free space of the store has none either.
   */
  readonly state: 'reducing' | 'reduced' | 'unreachable' | 'overwritten'
  /** Events that are to be reduced. */
  readonly events: number
  /** How many of them have been. */
  readonly reduced: number
  /** The event that closed the subject; null if a single event was erased. */
  readonly closing: {
    /** Of the event. */
    readonly id: string
    /** Of the event. */
    readonly sequenceNumber: number
  } | null
  /** The feed's, after the last step. */
  readonly revision: number
  /** When it was asked for. */
  readonly begunAt: string
  /** When the last payload was removed. */
  readonly reducedAt: string | null
  /** When every node had forgotten it. */
  readonly unreachableAt: string | null
  /** When the free space of the store had been rewritten. */
  readonly overwrittenAt: string | null
  /** What the erasure does not reach, and what is left to do. */
  readonly notCovered: readonly {
    /** Stable: `backups` and others. Further ones may come. */
    readonly code: string
    /** What is left there, and what to do, in a sentence. */
    readonly detail: string
    /** Of `backups`: when they were started, the newest first, as far as the store knows. */
    readonly madeAt?: readonly string[]
  }[]
  /**
   * Keys that were sent what was erased, from `unreachable` on and where one receipt is asked for. Null: reads of this feed are not
   * recorded.
   */
  readonly recipients?: readonly ErasureRecipient[] | null
  /** A node crashed, and nothing tells what it had sent then: possibly any contact to any key that could read it. */
  readonly unknownTimes?: readonly UnknownTime[] | null
}

/** A key that was sent what was erased. */
export interface ErasureRecipient {
  /** Of the key; one that has ended is named as well. */
  readonly keyId: string
  /** Of the key, as its operator gave it. */
  readonly label: string
  /** `possibly`: the key could read the feed at one of the `unknownTimes`. */
  readonly certainty: 'sent' | 'possibly'
  readonly events: number | null
  /** Start of the hour in which it was first sent one of them. */
  readonly firstSentAt: string | null
  /** End of the hour in which it was last sent one of them. */
  readonly lastSentAt: string | null
  /** By then it had been sent the closing event; null: not so far, or nothing was closed. */
  readonly toldBy: string | null
  /** All of its consumers have acknowledged the closing event: the latest of their times; null: one has not, or none is known. */
  readonly acknowledgedAt: string | null
  /** Its consumers of the feed (PROTOCOL §14.4), by name. */
  readonly consumers: readonly {
    /** Of the consumer; `default`: the key itself. */
    readonly name: string
    /** When it last acknowledged, the closing event among what it has applied; null: not so far, or nothing was closed. */
    readonly acknowledgedAt: string | null
  }[]
}

export interface UnknownTime {
  /** Its start. */
  readonly from: string
  /** Its end. */
  readonly to: string
}

export interface HoldRequest {
  /** Which feed of the tenant. */
  readonly feed: FeedName
  /** The property or contact. */
  readonly subjectId: string
  /** Why it must be kept; no text of your own. */
  readonly ground: 'legal_claim' | 'legal_obligation' | 'complaint' | 'regulator' | 'law_enforcement'
  /** The last day of the hold, in UTC. */
  readonly until: string
  /** Your reference for the case. Never a person’s name. */
  readonly caseRef?: string | null | undefined
}

/** A property or contact that is not erased for now. */
export interface Hold {
  /** Of the hold. */
  readonly id: string
  /** The tenant. */
  readonly tenantId: string
  /** Which feed of the tenant. */
  readonly feed: FeedName
  /** The property or contact. */
  readonly subjectId: string
  /** Why it must be kept; no text of your own. */
  readonly ground: 'legal_claim' | 'legal_obligation' | 'complaint' | 'regulator' | 'law_enforcement'
  /** The last day of the hold, in UTC. */
  readonly until: string
  /** Your reference for the case. Never a person’s name. */
  readonly caseRef?: string | null
  /** The id of the key that asked for it. */
  readonly actor: string
  /** Only an active hold keeps anything. */
  readonly state: 'active' | 'expired' | 'ended'
  /** When it was asked for. */
  readonly addedAt: string
  /** When somebody ended it. */
  readonly endedAt: string | null
}

export interface RestrictionRequest {
  /** Only contacts are restricted. */
  readonly feed?: 'contact' | undefined
  /** The contact. */
  readonly subjectId: string
  /** Why; no text of your own. */
  readonly reason: 'accuracy_contested' | 'unlawful' | 'legal_claim' | 'objection'
  /** Your reference for the case. Never a person’s name. */
  readonly caseRef?: string | null | undefined
}

/** A contact that is kept and shown to nobody. */
export interface Restriction {
  /** Of the restriction. */
  readonly id: string
  /** The tenant. */
  readonly tenantId: string
  /** Only contacts are restricted. */
  readonly feed: 'contact'
  /** The contact. */
  readonly subjectId: string
  /** Why; no text of your own. */
  readonly reason: 'accuracy_contested' | 'unlawful' | 'legal_claim' | 'objection'
  /** Your reference for the case. Never a person’s name. */
  readonly caseRef?: string | null
  /** The id of the key that asked for it. */
  readonly actor: string
  /** `restricted`: no answer shows the contact; `lifted`: every answer does again. */
  readonly state: 'hiding' | 'hidden' | 'restricted' | 'lifting' | 'lifted' | 'erased'
  /** The event that removed the contact from consumers. */
  readonly closing: {
    /** Of the event. */
    readonly id: string
    /** Of the event. */
    readonly sequenceNumber: number
  }
  /** When it was asked for. */
  readonly begunAt: string
  /** When every node had forgotten it. */
  readonly restrictedAt: string | null
  /** When it was lifted, or the contact erased. */
  readonly endedAt: string | null
}

export interface ProblemError {
  /** Name of the query, path or header parameter. */
  readonly parameter?: string
  /** JSON pointer into the request body. */
  readonly pointer?: string
  /** Stable, machine-readable. */
  readonly code: string
  /** What was sent, what is allowed and what to do, in a sentence. */
  readonly message: string
}

/** The paths of a feed; those that end with `/` are followed by an id. */
interface FeedPaths {
  readonly list: string
  readonly get: string
  readonly events: string
  readonly stream: string
  readonly snapshot: string
  readonly digest: string
  readonly subjects: string
  readonly consumers: string
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
    consumers: '/v1/property-consumers/',
  },
  contact: {
    list: '/api/func/api/v1/contactevents/getevents',
    get: '/api/func/api/v1/contactevents/geteventbyid/',
    events: '/v1/contact-events',
    stream: '/v1/contact-events/stream',
    snapshot: '/v1/contact-events/snapshot',
    digest: '/v1/contact-events/digest',
    subjects: '/v1/contacts/',
    consumers: '/v1/contact-consumers/',
  },
}

/** The short codes that every service has: of which feed, and whether they say that the subject is gone (PROTOCOL §5.2). */
export const eventCodes = {
  PropertyPublished: { feed: 'property', isGone: false },
  PropertyUpdated: { feed: 'property', isGone: false },
  PropertyUnpublished: { feed: 'property', isGone: true },
  ContactCreated: { feed: 'contact', isGone: false },
  ContactUpdated: { feed: 'contact', isGone: false },
  ContactErased: { feed: 'contact', isGone: true },
} as const

export const headsPath = '/v1/heads'
export const erasuresPath = '/v1/erasures'
export const holdsPath = '/v1/holds'
export const restrictionsPath = '/v1/restrictions'
