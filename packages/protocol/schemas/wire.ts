/** What is on the wire (PROTOCOL). Written by `npm run openapi`. Do not edit. */

/** Its members are those of its JSON Schema. */
type PropertyPayload = object
type ContactPayload = object

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

/** Something that differs from the payload before. */
export interface PayloadChange {
  /** RFC 6901, into the payload of this event. For an item that is gone, its last part is the index in the list before. */
  readonly pointer: string
  /** The value before; absent: there was none. */
  readonly from?: unknown
  /** The value now; absent: there is none. */
  readonly to?: unknown
  /** The index of the item in the list before. */
  readonly movedFrom?: number
}

/** One event of a subject. */
export interface HistoryEvent {
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
  /** With `changes=true`: what differs from the payload of the event before, at most 200 changes. Null: see `changesAbsent`. */
  readonly changes?: readonly PayloadChange[] | null
  /**
   * Why there are no changes: no event is before, or the payload of this one or of the one before is gone or is no object. Further values
   * may come.
   */
  readonly changesAbsent?: 'first_version' | 'erased' | 'thinned' | 'not_an_object' | (string & {})
  /** How many further changes are not listed. */
  readonly moreChanges?: number
}

/** Events of one subject in ascending sequenceNumber. */
export interface History {
  readonly items: readonly HistoryEvent[]
  /** Ask for the events after this number next. */
  readonly next: number
  /** The feed's last number. Nothing is left to read when `next` has reached it. */
  readonly head: number
  /** Changes when numbers continue after a gap, as after a restore: begin again. */
  readonly epoch: string
  /** Rises when stored payloads were reduced. A copy of the latest events need do nothing. */
  readonly revision: number
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

export interface Heads {
  readonly heads: readonly FeedHead[]
  /** For `since`: asks for the feeds that change after this answer. */
  readonly next: string
}

/** A property that must not be shown any more. */
export interface Removal {
  /** The property. */
  readonly agentRef: string
  readonly reason?: number | string | null | undefined
}

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

/** One property event to publish. */
export type PropertyPublication = PropertyState | PropertyRemoval

/** One contact event to publish. */
export interface ContactPublication {
  readonly payload: ContactPayload | string
  readonly eventType?: string | null | undefined
  readonly id?: string | null | undefined
  readonly transactionId?: string | null | undefined
}

export interface Publications {
  /** The newest first. */
  readonly items: readonly PublicationMinute[]
  /** Send it as `after` to get what comes next; null at the end. */
  readonly next: string | null
}

export interface PublicationMinute {
  /** Beginning of the minute. */
  readonly at: string
  /** Which feed of the tenant. */
  readonly feed: FeedName
  /** Of the key that published. */
  readonly keyId: string
  /** How many there were, including refused ones but not dry runs. */
  readonly requests: number
  /** Events that were stored, including those that the service added. */
  readonly stored: number
  /** Events that had been stored before. */
  readonly repeated: number
  /** Events that were equal to their subject's latest, and were not stored. */
  readonly unchanged: number
  /** The lowest `sequenceNumber` that was given; null: none was. */
  readonly firstNumber: number | null
  /** The highest `sequenceNumber` that was given. */
  readonly lastNumber: number | null
  /** How often each code was in the receipts. */
  readonly warnings: Readonly<Record<string, number>>
  /**
   * Examples of where each of these codes arose: JSON pointers into an event, the first five in the order of their text; `*` stands for a
   * name that is not in the contract. The values are not kept.
   */
  readonly warningPlaces: Readonly<Record<string, readonly string[]>>
  /** Requests of which nothing was stored. */
  readonly refused: number
  /** Those that are kept one by one: the first 100 of a key and hour. */
  readonly refusals: readonly PublicationRefusal[]
}

export interface PublicationRefusal {
  /** When it was answered. */
  readonly at: string
  /** As in the answer, and in the log of the service. */
  readonly requestId: string
  /** Of the problem. */
  readonly code: string
  /** The first 10. The values are not kept. */
  readonly faults: readonly {
    /** JSON pointer into the request body; `*` stands for a name that is not in the contract. Empty: the request as a whole. */
    readonly pointer: string
    /** As in `errors` of the answer. */
    readonly code: string
  }[]
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

export interface DutyCounts {
  /** False: duties are switched off for the tenant. */
  readonly advised: boolean
  /** Properties that are shown now, among those that this call has looked at. */
  readonly properties: number
  /** Send it as `after` to get what comes next; null at the end. */
  readonly next: string | null
  /** By duty. */
  readonly items: readonly DutyCount[]
}

export interface DutyCount {
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

/** What a consumer says that it has applied. */
export interface Acknowledgement {
  /** Everything up to this number has been applied. */
  readonly sequenceNumber: number
  /** Changes when numbers continue after a gap, as after a restore: begin again. */
  readonly epoch: string
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

/** How long a publisher or consumer may be silent. */
export interface ExpectedIntervalRequest {
  /** 0: nothing is expected; null: it is learned. */
  readonly seconds: number | null
}

/** How long a publisher or consumer may be silent, and how that was decided. */
export interface ExpectedInterval {
  /** How long it may be silent; null: nothing is expected, or not yet. */
  readonly expectedSeconds: number | null
  /** `learning`: it has been seen for less than 7 days. Further ones may come. */
  readonly expectation: 'set' | 'learned' | 'learning' | 'off' | (string & {}) | null
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

export interface WebhookEventMessage {
  /** What the message says. */
  readonly type: 'property.event' | 'contact.event'
  /** When it was sent. */
  readonly timestamp: string
  /** What it is about. */
  readonly data: {
    /** Which feed of the tenant. */
    readonly feed: FeedName
    /** Changes when numbers continue after a gap, as after a restore: begin again. */
    readonly epoch: string
    /** Byte for byte as in the feed; `thin`: without `payload`, with `subject`. */
    readonly event: FeedEvent
    /** With `changes`: of the version acknowledged last; null: there was none. */
    readonly changesSince?: number | null
    /** With `changes`, as in a history. */
    readonly changes?: readonly PayloadChange[] | null
  }
}

export interface WebhookEpochMessage {
  /** What the message says. */
  readonly type: 'feed.epochChanged'
  /** When it was sent. */
  readonly timestamp: string
  /** What it is about. */
  readonly data: {
    /** Which feed of the tenant. */
    readonly feed: FeedName
    /** Changes when numbers continue after a gap, as after a restore: begin again. */
    readonly epoch: string
    /** The epoch before. */
    readonly previousEpoch: string
    /** Events of the new epoch come after it. */
    readonly after: number
  }
}

export interface WebhookNotice {
  /** What the message says. */
  readonly type: 'webhook.failing' | 'webhook.disabled' | 'webhook.recovered'
  /** When it was sent. */
  readonly timestamp: string
  /** What it is about. */
  readonly data: {
    /** Of the webhook. */
    readonly endpointId: string
    /** For people: what it is for. */
    readonly label: string
    /** Its address. */
    readonly url: string
    /** Why; null: it says itself. */
    readonly reason: string | null
    /** When it happened. */
    readonly since: string
  }
}

/** An address to which events are posted. */
export interface Webhook {
  /** Of the webhook. */
  readonly id: string
  /** The tenant. */
  readonly tenantId: string
  /** Which feed of the tenant. */
  readonly feed: FeedName
  /** `operations`: what happens to the other webhooks of the feed, in place of its events. It never changes. */
  readonly events: 'feed' | 'operations'
  /** Where events are posted: an https address that is public. */
  readonly url: string
  /** For people: what it is for. */
  readonly label: string
  /** Which events, as in a list. */
  readonly apiEventType: 'property' | 'salesproperty' | 'lettingsproperty' | 'contact'
  /** `thin`: without the payload. Contacts are always thin. */
  readonly payload: 'full' | 'thin'
  /** Adds what has changed since the version that this webhook acknowledged last. */
  readonly changes: boolean
  /** `latest`: an event is left out when a later one of its property is known. */
  readonly mode: 'every' | 'latest'
  /** `cloudevents`: each event as a CloudEvent in JSON. */
  readonly format: 'event' | 'cloudevents'
  /** Requests at once. */
  readonly concurrency: number
  /** Null: no limit. */
  readonly maxPerSecond: number | null
  /** How long an answer may take. */
  readonly timeoutSeconds: number
  /** Only `enabled` sends. */
  readonly state: 'enabled' | 'paused' | 'disabled'
  /** Why it does not send; null: it does. Further ones may come. */
  readonly reason: 'asked' | 'copied' | 'operator' | 'key_revoked' | 'failing' | 'gone' | (string & {}) | null
  /** Since when it does not send. */
  readonly stateSince: string | null
  /** Of the key whose rights it has. */
  readonly keyId: string
  /** When it was made. */
  readonly createdAt: string
  /** How far it is, as last written. */
  readonly cursor: {
    /** Nothing up to this number is left, but for what waits. */
    readonly settled: number
    /** Changes when numbers continue after a gap, as after a restore: begin again. */
    readonly epoch: string
    /** Of the event that was acknowledged last. */
    readonly acknowledged: number | null
    /** When that was. */
    readonly acknowledgedAt: string | null
  }
  /** Properties or contacts whose oldest event is tried again. */
  readonly waiting: number
  /** Events that were given up. */
  readonly givenUp: number
  /** It has been failing since then; null: it is not. */
  readonly failingSince: string | null
  /** The newest first. Each of them signs. */
  readonly secrets: readonly WebhookSecretState[]
}

export interface WebhookSecretState {
  /** Of the secret. */
  readonly id: string
  /** When it was made. */
  readonly createdAt: string
  /** It signs until then; null: until it is replaced. */
  readonly endsAt: string | null
}

export interface Webhooks {
  readonly items: readonly Webhook[]
  /** Null at the end. */
  readonly next: string | null
}

export interface NewWebhook {
  /** Where events are posted: an https address that is public. */
  readonly url: string
  /** Which feed of the tenant. */
  readonly feed: FeedName
  /** `operations`: what happens to the other webhooks of the feed, in place of its events. It never changes. */
  readonly events?: 'feed' | 'operations' | undefined
  /** For people: what it is for. */
  readonly label?: string | undefined
  /** Which events, as in a list. Left out: all of the feed. */
  readonly apiEventType?: 'property' | 'salesproperty' | 'lettingsproperty' | 'contact' | undefined
  /** `thin`: without the payload. Contacts are always thin. */
  readonly payload?: 'full' | 'thin' | undefined
  /** Adds what has changed since the version that this webhook acknowledged last. */
  readonly changes?: boolean | undefined
  /** `latest`: an event is left out when a later one of its property is known. */
  readonly mode?: 'every' | 'latest' | undefined
  /** `cloudevents`: each event as a CloudEvent in JSON. */
  readonly format?: 'event' | 'cloudevents' | undefined
  /** Requests at once. */
  readonly concurrency?: number | undefined
  /** Null: no limit. */
  readonly maxPerSecond?: number | null | undefined
  /** How long an answer may take. */
  readonly timeoutSeconds?: number | undefined
  /** Which events: those after this number. Left out: those after `head`. */
  readonly after?: number | 'head' | undefined
}

export interface MadeWebhook {
  /** What requests are signed with. It is shown only in this answer. */
  readonly secret: string
  /** Of the webhook. */
  readonly id: string
  /** The tenant. */
  readonly tenantId: string
  /** Which feed of the tenant. */
  readonly feed: FeedName
  /** `operations`: what happens to the other webhooks of the feed, in place of its events. It never changes. */
  readonly events: 'feed' | 'operations'
  /** Where events are posted: an https address that is public. */
  readonly url: string
  /** For people: what it is for. */
  readonly label: string
  /** Which events, as in a list. */
  readonly apiEventType: 'property' | 'salesproperty' | 'lettingsproperty' | 'contact'
  /** `thin`: without the payload. Contacts are always thin. */
  readonly payload: 'full' | 'thin'
  /** Adds what has changed since the version that this webhook acknowledged last. */
  readonly changes: boolean
  /** `latest`: an event is left out when a later one of its property is known. */
  readonly mode: 'every' | 'latest'
  /** `cloudevents`: each event as a CloudEvent in JSON. */
  readonly format: 'event' | 'cloudevents'
  /** Requests at once. */
  readonly concurrency: number
  /** Null: no limit. */
  readonly maxPerSecond: number | null
  /** How long an answer may take. */
  readonly timeoutSeconds: number
  /** Only `enabled` sends. */
  readonly state: 'enabled' | 'paused' | 'disabled'
  /** Why it does not send; null: it does. Further ones may come. */
  readonly reason: 'asked' | 'copied' | 'operator' | 'key_revoked' | 'failing' | 'gone' | (string & {}) | null
  /** Since when it does not send. */
  readonly stateSince: string | null
  /** Of the key whose rights it has. */
  readonly keyId: string
  /** When it was made. */
  readonly createdAt: string
  /** How far it is, as last written. */
  readonly cursor: {
    /** Nothing up to this number is left, but for what waits. */
    readonly settled: number
    /** Changes when numbers continue after a gap, as after a restore: begin again. */
    readonly epoch: string
    /** Of the event that was acknowledged last. */
    readonly acknowledged: number | null
    /** When that was. */
    readonly acknowledgedAt: string | null
  }
  /** Properties or contacts whose oldest event is tried again. */
  readonly waiting: number
  /** Events that were given up. */
  readonly givenUp: number
  /** It has been failing since then; null: it is not. */
  readonly failingSince: string | null
  /** The newest first. Each of them signs. */
  readonly secrets: readonly WebhookSecretState[]
}

/** Members that are left out stay as they are. */
export interface WebhookChange {
  /** Where events are posted: an https address that is public. */
  readonly url?: string | undefined
  /** For people: what it is for. */
  readonly label?: string | undefined
  /** Which events, as in a list. Left out: all of the feed. */
  readonly apiEventType?: 'property' | 'salesproperty' | 'lettingsproperty' | 'contact' | undefined
  /** `thin`: without the payload. Contacts are always thin. */
  readonly payload?: 'full' | 'thin' | undefined
  /** Adds what has changed since the version that this webhook acknowledged last. */
  readonly changes?: boolean | undefined
  /** `latest`: an event is left out when a later one of its property is known. */
  readonly mode?: 'every' | 'latest' | undefined
  /** `cloudevents`: each event as a CloudEvent in JSON. */
  readonly format?: 'event' | 'cloudevents' | undefined
  /** Requests at once. */
  readonly concurrency?: number | undefined
  /** Null: no limit. */
  readonly maxPerSecond?: number | null | undefined
  /** How long an answer may take. */
  readonly timeoutSeconds?: number | undefined
  /** Enabled, it goes on where it stood. */
  readonly state?: 'enabled' | 'paused' | undefined
}

export interface ChangedWebhook {
  /** Only if it had none that could be used: shown only in this answer. */
  readonly secret?: string
  /** Of the webhook. */
  readonly id: string
  /** The tenant. */
  readonly tenantId: string
  /** Which feed of the tenant. */
  readonly feed: FeedName
  /** `operations`: what happens to the other webhooks of the feed, in place of its events. It never changes. */
  readonly events: 'feed' | 'operations'
  /** Where events are posted: an https address that is public. */
  readonly url: string
  /** For people: what it is for. */
  readonly label: string
  /** Which events, as in a list. */
  readonly apiEventType: 'property' | 'salesproperty' | 'lettingsproperty' | 'contact'
  /** `thin`: without the payload. Contacts are always thin. */
  readonly payload: 'full' | 'thin'
  /** Adds what has changed since the version that this webhook acknowledged last. */
  readonly changes: boolean
  /** `latest`: an event is left out when a later one of its property is known. */
  readonly mode: 'every' | 'latest'
  /** `cloudevents`: each event as a CloudEvent in JSON. */
  readonly format: 'event' | 'cloudevents'
  /** Requests at once. */
  readonly concurrency: number
  /** Null: no limit. */
  readonly maxPerSecond: number | null
  /** How long an answer may take. */
  readonly timeoutSeconds: number
  /** Only `enabled` sends. */
  readonly state: 'enabled' | 'paused' | 'disabled'
  /** Why it does not send; null: it does. Further ones may come. */
  readonly reason: 'asked' | 'copied' | 'operator' | 'key_revoked' | 'failing' | 'gone' | (string & {}) | null
  /** Since when it does not send. */
  readonly stateSince: string | null
  /** Of the key whose rights it has. */
  readonly keyId: string
  /** When it was made. */
  readonly createdAt: string
  /** How far it is, as last written. */
  readonly cursor: {
    /** Nothing up to this number is left, but for what waits. */
    readonly settled: number
    /** Changes when numbers continue after a gap, as after a restore: begin again. */
    readonly epoch: string
    /** Of the event that was acknowledged last. */
    readonly acknowledged: number | null
    /** When that was. */
    readonly acknowledgedAt: string | null
  }
  /** Properties or contacts whose oldest event is tried again. */
  readonly waiting: number
  /** Events that were given up. */
  readonly givenUp: number
  /** It has been failing since then; null: it is not. */
  readonly failingSince: string | null
  /** The newest first. Each of them signs. */
  readonly secrets: readonly WebhookSecretState[]
}

export interface WebhookSecretRequest {
  /** How long the present secrets sign as well. */
  readonly overlapSeconds?: number | undefined
}

/** The receiver’s answer to a test message. */
export interface WebhookTest {
  /** What an event would have been after this answer. */
  readonly outcome: 'acknowledged' | 'refused' | 'unreachable' | 'postponed'
  /** Of the answer; null: there was none. */
  readonly status: number | null
  /** The beginning of the answer; null: there was none. */
  readonly answer: string | null
  /** How long it took. */
  readonly milliseconds: number
  /** The same as a sentence. */
  readonly detail: string
}

export interface WebhookCursor {
  /** The next event that is sent is the one after it. */
  readonly after: number | 'head'
  /** `replay`: `feed.epochChanged` is sent again first. `skip`: one that was not sent yet is left out. */
  readonly epoch?: 'replay' | 'skip' | undefined
}

/** Exactly one of the two. */
export interface WebhookResend {
  /** Of one event. */
  readonly sequenceNumber?: number | undefined
  /** Everything that was given up. */
  readonly givenUp?: true | undefined
}

export interface WebhookResent {
  /** How many properties or contacts are sent again. */
  readonly properties: number
}

/** Tries of the last 7 days, at most 10,000. */
export interface WebhookDeliveries {
  /** The newest first. */
  readonly items: readonly WebhookDelivery[]
  /** Null at the end. */
  readonly next: number | null
}

export interface WebhookDelivery {
  /** Of the try: rises with time. */
  readonly number: number
  /** When it ended. */
  readonly at: string
  /** As in `webhook-id`. */
  readonly messageId: string
  /** Null: it was no event of the feed. */
  readonly sequenceNumber: number | null
  /** Null: it was no event of the feed. */
  readonly subject: string | null
  /** What became of it. */
  readonly outcome: 'acknowledged' | 'refused' | 'unreachable' | 'postponed' | 'givenUp'
  /** Of the answer; null: there was none. */
  readonly status: number | null
  /** How long it took. */
  readonly milliseconds: number
  /** The beginning of the answer, or why there was none; null: it was not kept. */
  readonly answer: string | null
}

export interface WebhookWaiting {
  /** At most 1,000, by their numbers. */
  readonly waiting: readonly WebhookWaitingSubject[]
  /** By their numbers. */
  readonly givenUp: readonly WebhookGivenUpEvent[]
  /** Null at the end. */
  readonly next: number | null
}

export interface WebhookWaitingSubject {
  /** The property or contact. */
  readonly subject: string
  /** Of the event that is tried again. */
  readonly sequenceNumber: number
  /** How often it was refused. */
  readonly tries: number
  /** When it is tried next; null: at once. */
  readonly nextTryAt: string | null
}

export interface WebhookGivenUpEvent {
  /** The property or contact. */
  readonly subject: string
  /** Of the event. */
  readonly sequenceNumber: number
  /** When it was given up. */
  readonly at: string
}

export interface WebhookPause {
  /** False: it may be enabled again by its owner, and is. */
  readonly paused: boolean
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

export interface Erasures {
  readonly erasures: readonly Erasure[]
  readonly next: string | null
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

export interface Holds {
  readonly holds: readonly Hold[]
  readonly next: string | null
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

export interface Restrictions {
  readonly restrictions: readonly Restriction[]
  readonly next: string | null
}

/** A contact that will be erased because it has not changed. */
export interface ExpiringContact {
  /** The contact. */
  readonly contactRef: string
  /** It is erased on this day (UTC), if nothing changes. */
  readonly erasedOn: string
  /** When it changed last, or was kept last. */
  readonly unchangedSince: string
  /** Since when it is on the list. */
  readonly listedOn: string
}

export interface ExpiringContacts {
  readonly contacts: readonly ExpiringContact[]
  readonly next: string | null
}

export interface KeptContact {
  /** The tenant. */
  readonly tenantId: string
  /** The contact. */
  readonly contactRef: string
  /** Always true. */
  readonly kept: boolean
}

export interface ExposedContact {
  /** The contact. */
  readonly contactRef: string
  /** `possibly`: only a part of the hour in which it was sent was asked for. */
  readonly certainty: 'sent' | 'possibly'
  /** Start of the first hour in which it was sent. */
  readonly firstSentAt: string
  /** End of the last hour in which it was sent. */
  readonly lastSentAt: string
}

/** Contacts that a key was sent. */
export interface Exposure {
  /** Of the key. */
  readonly keyId: string
  /** The tenant whose contacts these are. */
  readonly tenantId: string
  /** As it was asked for. */
  readonly from: string
  /** As it was asked for. */
  readonly to: string
  /** By reference. */
  readonly contacts: readonly ExposedContact[]
  /** A node crashed, or still runs and has not yet recorded what it sent then: possibly any contact that the key could read. */
  readonly unknownTimes: readonly UnknownTime[]
  /** Send it as `after` to get more. */
  readonly next: string | null
}

export interface ReducedEvents {
  /** The revisions that reduced anything, ascending, each with its events. */
  readonly items: readonly {
    /** Of the feed, since these events were reduced. */
    readonly revision: number
    readonly sequenceNumbers: readonly number[]
  }[]
  /** Ask for what was reduced after this revision next. */
  readonly next: number
  /** The feed's. Nothing is left to read when `next` has reached it. */
  readonly revision: number
  /** Changes when numbers continue after a gap, as after a restore: begin again. */
  readonly epoch: string
}

export interface ShownSettings {
  /** In the order of the list. */
  readonly items: readonly ShownSetting[]
  /** Send it as `after` to get what comes next; null at the end. */
  readonly next: string | null
}

export interface ShownSetting {
  /** Name of the setting, as in its flag. */
  readonly name: string
  /** The environment variable that can set it. */
  readonly variable: string
  /** A secret is `(not shown)`; null: none. */
  readonly value: unknown
  /** The flag or variable that sets it, or `default`. */
  readonly source: string
}

export interface Health {
  /** The worst of all findings. */
  readonly status: 'ok' | 'warn' | 'fail'
  /** One for each check. */
  readonly items: readonly Finding[]
  /** These are all. */
  readonly next: null
}

export interface Finding {
  /** What was looked at. */
  readonly check: string
  /** How it is. */
  readonly status: 'ok' | 'warn' | 'fail'
  /** What was found. */
  readonly detail: string
  /** What to do; null: nothing. */
  readonly remedy: string | null
}

export interface ActorName {
  /** `key:` or `cli:` and an opaque id. */
  readonly actor: string
  /** Null: it has none. */
  readonly name: string | null
}

export interface ActorNameChange {
  /** For people. Null erases it, and the rows of the audit stay. */
  readonly name: string | null
}

export interface Tenant {
  /** Of the tenant. */
  readonly tenantId: string
  /** What people call it; no two tenants have the same. */
  readonly name: string
  /** Null: it has none. */
  readonly reference: string | null
  /** Its keys are refused. */
  readonly suspended: boolean
  /** Its receipts warn of duties by law. */
  readonly duties: boolean
  /** Null: it is not leaving. */
  readonly leaving: {
    /** Since when nothing can be published for it. */
    readonly since: string
    /** From then on its keys are refused. */
    readonly readingEndsAt: string
    /** When the last of its properties was removed; null: they are being removed. */
    readonly unpublishedAt: string | null
  } | null
  /** Null: it is not being deleted. */
  readonly deletion: {
    /** Of the certificate. */
    readonly id: string
    /** How far the deletion has got. */
    readonly state: 'exporting' | 'deleting' | 'forgetting'
  } | null
  /** When it was created. */
  readonly createdAt: string
}

export interface Tenants {
  /** In the order of the list. */
  readonly items: readonly ListedTenant[]
  /** Send it as `after` to get what comes next; null at the end. */
  readonly next: string | null
}

export interface ListedTenant {
  /** Of the tenant. */
  readonly tenantId: string
  /** What people call it; no two tenants have the same. */
  readonly name: string
  /** Null: it has none. */
  readonly reference: string | null
  /** Its keys are refused. */
  readonly suspended: boolean
  /** Its receipts warn of duties by law. */
  readonly duties: boolean
  /** Null: it is not leaving. */
  readonly leaving: {
    /** Since when nothing can be published for it. */
    readonly since: string
    /** From then on its keys are refused. */
    readonly readingEndsAt: string
    /** When the last of its properties was removed; null: they are being removed. */
    readonly unpublishedAt: string | null
  } | null
  /** Null: it is not being deleted. */
  readonly deletion: {
    /** Of the certificate. */
    readonly id: string
    /** How far the deletion has got. */
    readonly state: 'exporting' | 'deleting' | 'forgetting'
  } | null
  /** When it was created. */
  readonly createdAt: string
  /** With `order=lastPublish`: of the last event of its feeds; null if it never published. */
  readonly lastPublishedAt?: string | null
}

export interface NewTenant {
  /** Its id, if it already has one; left out, a new one is created. */
  readonly tenantId?: string | undefined
  /** What people call it; no two tenants have the same. */
  readonly name: string
  /** Your own name for it, such as its number in a CRM; no two tenants have the same. */
  readonly reference?: string | undefined
}

/** Members that are left out stay as they are. */
export interface TenantChange {
  /** What people call it; no two tenants have the same. */
  readonly name?: string | undefined
  /** Null removes it. */
  readonly reference?: string | null | undefined
  /** Its keys are refused. */
  readonly suspended?: boolean | undefined
  /** Its receipts warn of duties by law. */
  readonly duties?: boolean | undefined
}

export interface TenantImport {
  /** Your own name for it, such as its number in a CRM; no two tenants have the same. */
  readonly reference: string
  /** What people call it; no two tenants have the same. */
  readonly name: string
  /** Keys to create with it. */
  readonly keys?: readonly NewTenantKey[] | undefined
}

export interface NewTenantKey {
  /** For people: what the key is for. */
  readonly label?: string | undefined
  /** What it may do for this tenant. */
  readonly scopes: readonly Scope[]
}

export type Scope =
  | 'property:read'
  | 'contact:read'
  | 'property:publish'
  | 'contact:publish'
  | 'property:erase'
  | 'contact:erase'
  | 'property:webhooks'
  | 'contact:webhooks'

export interface ImportedTenants {
  /** Tenants that were created. */
  readonly created: number
  /** Lines whose reference a tenant had already. */
  readonly known: number
  /** Lines for which nothing was created. */
  readonly refused: number
  /** One for each line, in their order. */
  readonly items: readonly ImportedTenant[]
}

export interface ImportedTenant {
  /** Of the line. */
  readonly reference: string
  /** `failed`: the store did not answer; send the file again. */
  readonly outcome: 'created' | 'known' | 'name_taken' | 'failed'
  /** Of the tenant that has the reference. */
  readonly tenantId: string | null
  /** Those that were created. */
  readonly keys: readonly {
    /** Of the key. */
    readonly keyId: string
    /** For people: what the key is for. */
    readonly label: string
    /** The key itself. It is shown only in this answer. */
    readonly key: string
  }[]
}

export interface FeedStates {
  /** In the order of the list. */
  readonly items: readonly FeedState[]
  /** Send it as `after` to get what comes next; null at the end. */
  readonly next: string | null
}

export interface FeedState {
  /** Which feed of the tenant. */
  readonly feed: FeedName
  /** Of the feed's last event. */
  readonly sequenceNumber: number
  /** Changes when numbers continue after a gap, as after a restore. */
  readonly epoch: string
  /** Rises when stored payloads were reduced. */
  readonly revision: number
  /** Events of each view, by its `apiEventType`. */
  readonly counts: Readonly<Record<string, number>>
  /** Properties or contacts whose latest event is not a removal. */
  readonly live: number
  /** Of the feed's last event; null in an empty feed. */
  readonly lastPublishedAt: string | null
}

export interface Properties {
  /** The newest change first. */
  readonly items: readonly FoundProperty[]
  /** Send it as `after` to get what comes next; null at the end. */
  readonly next: string | null
  /** How many properties this call has looked at. */
  readonly searched: number
}

export interface FoundProperty {
  /** The property, as its payload spells it. */
  readonly agentRef: string
  /** False: its latest event is a removal. */
  readonly live: boolean
  /** The address as shown to the public, or else its lines. */
  readonly address: string | null
  /** Both parts. */
  readonly postcode: string | null
  /** The agent's own reference. */
  readonly reference: string | null
  /** The `service_reference` of the payload. */
  readonly serviceReference: string | null
  /** Of the latest event. */
  readonly eventId: string
  /** Of the latest event. */
  readonly sequenceNumber: number
  /** Of the latest event. */
  readonly eventTypeShortCode: string
  /** Of the latest event, unchanged. */
  readonly createdDate: string
}

export interface FeedRate {
  /** Which feed of the tenant. */
  readonly feed: FeedName
  /** The view that is counted; null: all events. */
  readonly apiEventType: string | null
  /** The beginning. */
  readonly from: string
  /** The end, which the counts do not include. */
  readonly to: string
  /** One for each part, in order. */
  readonly counts: readonly number[]
}

export interface MaskedContact {
  /** Of the event. */
  readonly sequenceNumber: number
  /** Of the event. */
  readonly id: string
  /** Its type. */
  readonly eventTypeShortCode: string
  /** When it was stored, UTC. */
  readonly createdDate: string
  /** The payload. Everything that names or reaches a person is `•••`. */
  readonly contact: Readonly<Record<string, unknown>>
}

export interface MaskedContacts {
  /** In the order of the list. */
  readonly items: readonly MaskedContact[]
  /** Send it as `after` to get what comes next; null at the end. */
  readonly next: string | null
}

export interface RevealRequest {
  /** Why; no text of your own. */
  readonly reason:
    | 'subject_request'
    | 'support'
    | 'complaint'
    | 'correction'
    | 'legal_obligation'
    | 'security_incident'
}

export interface AuditRows {
  /** In the order of the list. */
  readonly items: readonly AuditRow[]
  /** Send it as `after` to get what comes next; null at the end. */
  readonly next: string | null
}

export interface AuditRow {
  /** Of the row. */
  readonly id: string
  /** By the clock of the node that made the change. */
  readonly at: string
  /** `key:` or `cli:` and an opaque id, or `service`. */
  readonly actor: string
  /** Its name, if it has one and an operator key asks. It is kept apart from the row, and can be erased. */
  readonly actorName: string | null
  /** What was done, such as `key.created`. Further ones may come. */
  readonly action: string
  /** Of the tenant; null where it concerns none. */
  readonly tenantId: string | null
  /** Id of what was changed. */
  readonly target: string | null
  /** Details of the action; never a name. */
  readonly detail: Readonly<Record<string, unknown>>
}

export interface Faults {
  /** The worst kind first. */
  readonly items: readonly ServiceFault[]
  /** Send it as `after` to get what comes next; null at the end. */
  readonly next: string | null
  /** There are more of a kind than are listed. */
  readonly hasMore: boolean
  /** As of when. */
  readonly at: string
}

export interface ServiceFault {
  /** What it is. Further ones may come. */
  readonly code:
    | 'key_refused'
    | 'publication_refused'
    | 'publisher_silent'
    | 'consumer_silent'
    | 'key_ending'
    | (string & {})
  /** Null: its key opens several tenants, or none. */
  readonly tenantId: string | null
  /** What the tenant is called. */
  readonly tenantName: string | null
  /** `property` or `contact`: of a publisher. */
  readonly feed: string | null
  /** Of a consumer or a key. */
  readonly keyId: string | null
  /** Of the key. */
  readonly label: string | null
  /** As in `x-feed-consumer`; `default`: the key itself. */
  readonly consumer: string | null
  /** Since when it is so; of a key that ends, when it was last used. */
  readonly since: string
  /** When the key ends, or has ended; null: it does not. */
  readonly endsAt: string | null
  /** The code that it is refused with. */
  readonly reason: string | null
  /** Requests that were refused since then. */
  readonly refusals: number | null
}

export interface TenantFacts {
  /** In the order of the list. */
  readonly items: readonly TenantActivity[]
  /** Send it as `after` to get what comes next; null at the end. */
  readonly next: string | null
}

export interface TenantActivity {
  /** Of the tenant. */
  readonly tenantId: string
  /** Of the feed's last event. */
  readonly sequenceNumber: number
  /** Properties that have not been removed. */
  readonly live: number
  /** The last 24 hours of the clock, the present one last. */
  readonly published: readonly number[]
  /** The consumer that is furthest behind, of those whose keys work; null: nobody reads the feed. */
  readonly furthest: {
    /** Of its key. */
    readonly keyId: string
    /** Of its key. */
    readonly label: string
    /** As in `x-feed-consumer`; `default`: the key itself. */
    readonly name: string
    /** Events that it has not been sent. */
    readonly lagEvents: number
    /** How long ago the first of them was published. */
    readonly lagSeconds: number
  } | null
  /** Requests of consumers that were refused since their last answer. */
  readonly refused: number
}

export interface FoundThings {
  /** Tenant by tenant. */
  readonly items: readonly FoundThing[]
  /** Send it as `after` to get what comes next; null at the end. */
  readonly next: string | null
  /** How far this call has searched. */
  readonly searched: Searched
}

export interface FoundThing {
  /** What it is. */
  readonly kind: 'property' | 'contact' | 'event'
  /** Whose it is. */
  readonly tenantId: string
  /** What the tenant is called. */
  readonly tenantName: string
  /** In which feed it is. */
  readonly feed: FeedName
  /** Of a property, as its payload spells it. */
  readonly agentRef: string | null
  /** Of a contact. */
  readonly contactRef: string | null
  /** Of a property: false if its latest event is a removal. */
  readonly live: boolean | null
  /** Of a property. */
  readonly address: string | null
  /** Of a property. */
  readonly postcode: string | null
  /** Of a property: the agent's own. */
  readonly reference: string | null
  /** Of the event, or of the latest one of the property. */
  readonly sequenceNumber: number | null
  /** Of the same event. */
  readonly eventTypeShortCode: string | null
}

/** How far this call has searched. */
export interface Searched {
  /** Tenants that this call has searched. */
  readonly tenants: number
  /** How many tenants there are, as of a few seconds ago. */
  readonly of: number
  /** Properties that it has read. */
  readonly properties: number
}

export interface Key {
  /** Id of the key: the part after `pev_` in its text. */
  readonly keyId: string
  /** For people: what the key is for. */
  readonly label: string
  /** It belongs to no tenant, and opens no feed. */
  readonly operator: boolean
  /** Of an operator key. */
  readonly scopes: readonly AdminScope[]
  /** What it may do, tenant by tenant. */
  readonly grants: readonly Grant[]
  /** Addresses and networks that it may be used from. Empty: any. */
  readonly networks: readonly string[]
  /** Null: the default rate. */
  readonly rate: KeyRate | null
  /** When it was created. */
  readonly createdAt: string
  /** When it ends by itself; null: never. */
  readonly expiresAt: string | null
  /** When somebody ended it. */
  readonly revokedAt: string | null
  /** When it was last used, at most a minute old. */
  readonly lastUsedAt: string | null
  /** Id of the key that it replaced in a rotation. */
  readonly replaces: string | null
}

export type AdminScope = 'admin:inspect' | 'admin:manage' | 'admin:reveal' | 'admin:erase' | 'admin:audit'

export interface Grant {
  /** The tenant. */
  readonly tenantId: string
  /** What it may do there. */
  readonly scopes: readonly GrantScope[]
  /** Which parts of contacts are read with `contact:read`. Left out: all. It never changes for a key. */
  readonly contact?: ContactGrant | undefined
  /**
   * Only properties of these branches, by the `branch_id` of their payloads, compared exactly. Only with `property:read`,
   * `property:publish` and `property:webhooks`. Left out: all.
   */
  readonly branches?: readonly string[] | undefined
}

export type GrantScope =
  | 'property:read'
  | 'contact:read'
  | 'property:publish'
  | 'contact:publish'
  | 'property:erase'
  | 'contact:erase'
  | 'property:webhooks'
  | 'contact:webhooks'
  | 'tenant:inspect'
  | 'tenant:manage'

/** Which parts of contacts are read with `contact:read`. Left out: all. It never changes for a key. */
export interface ContactGrant {
  /** Only contacts with one of these roles; the others appear as erased. Left out: all. */
  readonly roles?: readonly ContactRole[] | undefined
  /** Only these members of the payload. Left out: all of them but `notes`. */
  readonly fields?: readonly ContactField[] | undefined
}

export type ContactRole =
  | 'applicant'
  | 'buyer'
  | 'vendor'
  | 'landlord'
  | 'tenant'
  | 'guarantor'
  | 'solicitor'
  | 'mortgage_broker'
  | 'surveyor'
  | 'developer'
  | 'contractor'
  | 'other'

export type ContactField =
  | 'kind'
  | 'title'
  | 'first_name'
  | 'middle_name'
  | 'last_name'
  | 'suffix'
  | 'salutation'
  | 'company_name'
  | 'company_number'
  | 'job_title'
  | 'roles'
  | 'communications'
  | 'address'
  | 'branch_id'
  | 'properties'
  | 'notes'
  | 'create_date'
  | 'update_date'
  | 'service_reference'

/** Of this key, over all nodes together. */
export interface KeyRate {
  /** Requests a second. */
  readonly perSecond: number
  /** Requests at once. */
  readonly burst: number
}

export interface Keys {
  /** In the order of the list. */
  readonly items: readonly Key[]
  /** Send it as `after` to get what comes next; null at the end. */
  readonly next: string | null
}

export interface IssuedKey {
  /** The key itself. It is shown only in this answer. */
  readonly key: string
  /** Id of the key: the part after `pev_` in its text. */
  readonly keyId: string
  /** For people: what the key is for. */
  readonly label: string
  /** It belongs to no tenant, and opens no feed. */
  readonly operator: boolean
  /** Of an operator key. */
  readonly scopes: readonly AdminScope[]
  /** What it may do, tenant by tenant. */
  readonly grants: readonly Grant[]
  /** Addresses and networks that it may be used from. Empty: any. */
  readonly networks: readonly string[]
  /** Null: the default rate. */
  readonly rate: KeyRate | null
  /** When it was created. */
  readonly createdAt: string
  /** When it ends by itself; null: never. */
  readonly expiresAt: string | null
  /** When somebody ended it. */
  readonly revokedAt: string | null
  /** When it was last used, at most a minute old. */
  readonly lastUsedAt: string | null
  /** Id of the key that it replaced in a rotation. */
  readonly replaces: string | null
}

export interface NewKey {
  /** For people: what the key is for. */
  readonly label?: string | undefined
  /** Make an operator key, which has `scopes` and no grants. */
  readonly operator?: boolean | undefined
  /** Of an operator key. */
  readonly scopes?: readonly AdminScope[] | undefined
  /** What it may do, tenant by tenant. */
  readonly grants?: readonly Grant[] | undefined
  /** When it ends by itself. */
  readonly expiresAt?: string | null | undefined
  /** Left out: the default rate. */
  readonly rate?: KeyRate | null | undefined
  /** Left out: any. */
  readonly networks?: readonly string[] | null | undefined
}

/** Members that are left out stay as they are. */
export interface KeyChange {
  /** For people: what the key is for. */
  readonly label?: string | undefined
  /** Null: it never ends by itself. */
  readonly expiresAt?: string | null | undefined
  /** Null: the default rate. */
  readonly rate?: KeyRate | null | undefined
  /** Null: any. */
  readonly networks?: readonly string[] | null | undefined
}

export interface RotateRequest {
  /** How long the old key keeps working. */
  readonly overlapHours?: number | undefined
}

export interface RotatedKey {
  /** The key itself. It is shown only in this answer. */
  readonly key: string
  /** Id of the key: the part after `pev_` in its text. */
  readonly keyId: string
  /** For people: what the key is for. */
  readonly label: string
  /** It belongs to no tenant, and opens no feed. */
  readonly operator: boolean
  /** Of an operator key. */
  readonly scopes: readonly AdminScope[]
  /** What it may do, tenant by tenant. */
  readonly grants: readonly Grant[]
  /** Addresses and networks that it may be used from. Empty: any. */
  readonly networks: readonly string[]
  /** Null: the default rate. */
  readonly rate: KeyRate | null
  /** When it was created. */
  readonly createdAt: string
  /** When it ends by itself; null: never. */
  readonly expiresAt: string | null
  /** When somebody ended it. */
  readonly revokedAt: string | null
  /** When it was last used, at most a minute old. */
  readonly lastUsedAt: string | null
  /** Id of the key that it replaced in a rotation. */
  readonly replaces: string | null
  /** The key that it replaces. */
  readonly replaced: {
    /** Of the old key. */
    readonly keyId: string
    /** When it ends. */
    readonly expiresAt: string
  }
}

export interface KeyUsage {
  /** Of the key. */
  readonly keyId: string
  /** What is counted together. */
  readonly by: 'hour' | 'day'
  /** By time, operation and status. */
  readonly items: readonly UsageItem[]
}

export interface UsageItem {
  /** Beginning of the hour or day. */
  readonly at: string
  /** `operationId` of this description. */
  readonly operation: string
  /** Of the answers. */
  readonly status: number
  /** How many there were. */
  readonly requests: number
  /** Of the bodies of the answers, as they were sent. */
  readonly bytes: number
}

export interface Deletion {
  /** Of the deletion. */
  readonly id: string
  /** The tenant. */
  readonly tenantId: string
  /** Its name, until it is deleted. */
  readonly name: string | null
  /** `deleted`: no row, page or answer holds anything of it any more. */
  readonly state: 'exporting' | 'deleting' | 'forgetting' | 'deleted'
  /** Who began it, without a name. */
  readonly actor: string
  /** Whether it is exported first. */
  readonly export: 'file' | 'none'
  /** Null: nothing was written, or not yet. */
  readonly exported: {
    /** Name of the file. */
    readonly file: string
    /** Its size. */
    readonly bytes: number
    /** SHA-256 of it, in hexadecimal digits. */
    readonly sha256: string
  } | null
  /** The feeds as they were. */
  readonly feeds: readonly DeletedFeed[]
  /** Rows by kind. */
  readonly counts: OwnedCounts
  /** When it was closed. */
  readonly begunAt: string
  /** When the last of it was deleted, and its name became free. */
  readonly deletedAt: string | null
}

export interface DeletedFeed {
  /** Which feed. */
  readonly feed: FeedName
  /** Of its last event; if it had none, the number after which its numbers would have begun. */
  readonly sequenceNumber: number
  /** Its epoch. */
  readonly epoch: string
  /** Its revision. */
  readonly revision: number
  /** Its events. */
  readonly events: number
  /** When its last event was stored. */
  readonly lastPublishedAt: string | null
  /**
   * Of the events removed so far: SHA-256 of the digest before and of the line `sequenceNumber id`, event by event, beginning with 32 zero
   * bytes. Hexadecimal digits.
   */
  readonly digest: string
}

/** Rows by kind. */
export interface OwnedCounts {
  /** Events of both feeds. */
  readonly events: number
  /** Properties and contacts. */
  readonly subjects: number
  /** Keys that open no other tenant. */
  readonly keys: number
  /** Grants of keys that stay, because they open other tenants too. */
  readonly grants: number
  /** Receipts of erasures. */
  readonly erasures: number
  /** Holds. */
  readonly holds: number
  /** Restrictions. */
  readonly restrictions: number
  /** Rows of the ledger of what was sent. */
  readonly sent: number
}

export interface Deletions {
  /** In the order of the list. */
  readonly items: readonly Deletion[]
  /** Send it as `after` to get what comes next; null at the end. */
  readonly next: string | null
}

export interface DeletionPlan {
  /** Nothing was changed. */
  readonly dryRun: true
  /** The tenant. */
  readonly tenantId: string
  /** Its feeds. */
  readonly feeds: readonly OwnedFeed[]
  /** Rows by kind. */
  readonly counts: OwnedCounts
  /** Why it cannot be deleted now; null: it can. */
  readonly refusedBecause: string | null
}

export interface OwnedFeed {
  /** Which feed. */
  readonly feed: FeedName
  /** Of its last event; if it had none, the number after which its numbers would have begun. */
  readonly sequenceNumber: number
  /** Its epoch. */
  readonly epoch: string
  /** Its revision. */
  readonly revision: number
  /** Its events. */
  readonly events: number
  /** When its last event was stored. */
  readonly lastPublishedAt: string | null
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

export interface PublishReceipt {
  /** One for each event of the request, in its order, and those that the service added. */
  readonly events: readonly ReceiptEvent[]
  /** True when every event of the request had been stored before. */
  readonly repeated: boolean
  /** The first 100 of the request, and the first 50 about the fields of one payload. */
  readonly warnings: readonly PublishWarning[]
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

export interface Problem {
  /** A URI reference that names the code. */
  readonly type: string
  /** The problem in a few words, the same for every request. */
  readonly title: string
  /** As in the head of the answer. */
  readonly status: number
  /** What was wrong with this request, and what to do. */
  readonly detail: string
  /** The path of the request, without its query. */
  readonly instance: string
  /** Stable, machine-readable. Further ones may come. */
  readonly code: ProblemCode | (string & {})
  /** Names the request in the log of the service. */
  readonly requestId: string
  /** At most 100, and of one payload at most 20. */
  readonly errors?: readonly ProblemError[]
}

export type ProblemCode =
  | 'invalid_parameter'
  | 'invalid_target'
  | 'invalid_host'
  | 'malformed_request'
  | 'invalid_body'
  | 'webhook_address_refused'
  | 'unauthorized'
  | 'key_expired'
  | 'key_revoked'
  | 'key_disabled'
  | 'key_scope'
  | 'key_network'
  | 'missing_scope'
  | 'ambiguous_tenant'
  | 'branch_not_granted'
  | 'scope_not_held'
  | 'tenant_not_found'
  | 'key_not_found'
  | 'contact_not_found'
  | 'event_not_found'
  | 'subject_not_found'
  | 'erasure_not_found'
  | 'hold_not_found'
  | 'restriction_not_found'
  | 'deletion_not_found'
  | 'webhook_not_found'
  | 'path_not_found'
  | 'method_not_allowed'
  | 'not_acceptable'
  | 'request_timeout'
  | 'id_conflict'
  | 'unknown_subject'
  | 'cursor_beyond_head'
  | 'event_is_latest'
  | 'on_hold'
  | 'webhook_limit'
  | 'subject_waiting'
  | 'tenant_exists'
  | 'tenant_in_use'
  | 'key_ended'
  | 'epoch_changed'
  | 'moment_expired'
  | 'body_too_large'
  | 'target_too_long'
  | 'unsupported_media_type'
  | 'unsupported_charset'
  | 'unsupported_content_encoding'
  | 'expectation_failed'
  | 'rate_limited'
  | 'too_many_at_once'
  | 'too_many_snapshots'
  | 'too_many_waiting'
  | 'too_many_failures'
  | 'headers_too_large'
  | 'console_session_ended'
  | 'login_link_spent'
  | 'console_foreign_request'
  | 'console_needs_https'
  | 'console_needs_fresh_sign_in'
  | 'internal_error'
  | 'storage_damaged'
  | 'storage_full'
  | 'storage_unavailable'
  | 'clock_behind'
  | 'overloaded'
  | 'epoch_required'
  | 'tenant_moving'
  | 'maintenance'
  | 'view_being_made'
  | 'sequence_not_reached'
  | 'unsupported_http_version'

/** The names of all schemas in the description of the service. */
export type SchemaName =
  | 'FeedEvent'
  | 'EventPage'
  | 'EventRun'
  | 'PayloadChange'
  | 'HistoryEvent'
  | 'History'
  | 'FeedHead'
  | 'Heads'
  | 'PropertyPayload'
  | 'ContactPayload'
  | 'EnergyCertificate'
  | 'Obligations'
  | 'Room'
  | 'SizeRange'
  | 'Risks'
  | 'Address'
  | 'PriceInformation'
  | 'Details'
  | 'MediaItem'
  | 'Principal'
  | 'Consent'
  | 'Communication'
  | 'ContactAddress'
  | 'ContactProperty'
  | 'Removal'
  | 'PropertyState'
  | 'PropertyRemoval'
  | 'PropertyPublication'
  | 'ContactPublication'
  | 'Publications'
  | 'DutyLists'
  | 'DutyCounts'
  | 'FeedDigest'
  | 'Acknowledgement'
  | 'ConsumerResult'
  | 'ResultsReceipt'
  | 'PropertyConsumer'
  | 'PropertyConsumers'
  | 'Consumer'
  | 'Consumers'
  | 'ExpectedIntervalRequest'
  | 'ExpectedInterval'
  | 'TermsConsumer'
  | 'PropertyTerms'
  | 'WebhookEventMessage'
  | 'WebhookEpochMessage'
  | 'WebhookNotice'
  | 'Webhook'
  | 'Webhooks'
  | 'NewWebhook'
  | 'MadeWebhook'
  | 'WebhookChange'
  | 'ChangedWebhook'
  | 'WebhookSecretRequest'
  | 'WebhookTest'
  | 'WebhookCursor'
  | 'WebhookResend'
  | 'WebhookResent'
  | 'WebhookDeliveries'
  | 'WebhookWaiting'
  | 'WebhookPause'
  | 'ErasureRequest'
  | 'ErasureCount'
  | 'Erasure'
  | 'Erasures'
  | 'HoldRequest'
  | 'Hold'
  | 'Holds'
  | 'RestrictionRequest'
  | 'Restriction'
  | 'Restrictions'
  | 'ExpiringContact'
  | 'ExpiringContacts'
  | 'KeptContact'
  | 'ExposedContact'
  | 'Exposure'
  | 'ReducedEvents'
  | 'ShownSettings'
  | 'Health'
  | 'ActorName'
  | 'ActorNameChange'
  | 'Tenant'
  | 'Tenants'
  | 'NewTenant'
  | 'TenantChange'
  | 'TenantImport'
  | 'ImportedTenants'
  | 'FeedStates'
  | 'Properties'
  | 'FeedRate'
  | 'MaskedContact'
  | 'MaskedContacts'
  | 'RevealRequest'
  | 'AuditRows'
  | 'Faults'
  | 'TenantFacts'
  | 'FoundThings'
  | 'Key'
  | 'Keys'
  | 'IssuedKey'
  | 'NewKey'
  | 'KeyChange'
  | 'RotateRequest'
  | 'RotatedKey'
  | 'KeyUsage'
  | 'Deletion'
  | 'Deletions'
  | 'DeletionPlan'
  | 'ReceiptEvent'
  | 'PublishWarning'
  | 'PublishReceipt'
  | 'ProblemError'
  | 'Problem'
