/** The port's part for who has seen what (D28): what each consumer was sent, what it says of it, and what it was refused. */
import type { FeedView } from './branch-view.ts'
import type { FeedKey } from './feed-key.ts'
import type { NumberRange } from './number-ranges.ts'

/** A key, or a part of what a key is used for, which names itself; `defaultConsumer` is the key itself. */
export interface ConsumerName {
  readonly key: FeedKey
  readonly keyId: string
  readonly name: string
}

export const defaultConsumer = 'default'

/** Names that a consumer can give. */
export function isConsumerName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)
}

/** Consumers of a feed that name themselves. What a further one reads is not kept. */
export const namedConsumersPerFeed = 200

/** How an answer was asked for. */
export type ReadRoute =
  | 'list'
  | 'current'
  | 'event'
  | 'run'
  | 'wait'
  | 'stream'
  | 'snapshot'
  | 'latest'
  | 'history'

/** `single`: events that were asked for one by one. They are never a part of a range without gaps. */
export type ReadView = FeedView | 'single'

/** What the numbers of a range are: ordinals of the view, positions in the feed, or sequence numbers. */
export type ReadSpace = 'ordinals' | 'positions' | 'numbers'

/** A part of what is kept of a consumer: what it was sent of one view. */
export interface ReadPart {
  readonly view: ReadView
  readonly space: ReadSpace
  /** Of ordinals and positions, which mean something else in another epoch; empty for numbers. */
  readonly epoch: string
}

/** How the last answer went. */
export interface LastAnswer {
  /** Milliseconds since 1970, as all times here. */
  readonly askedMs: number
  readonly status: number
  readonly route: ReadRoute
}

/** What a consumer was sent within one minute by one route. */
export interface SentMinute {
  /** Minutes since 1970, UTC. */
  readonly minute: number
  readonly route: ReadRoute
  /** Ascending. */
  readonly ranges: readonly NumberRange[]
}

/** What has been noted of a consumer and one part since the last addition. */
export interface NotedReading extends ConsumerName, ReadPart, LastAnswer {
  /** When it was last told that there is nothing new; `undefined`: not in this time. */
  readonly quietMs: number | undefined
  readonly minutes: readonly SentMinute[]
  /** Sent in minutes that are not given, as a copy brings them: ascending; of no part that is `single`. */
  readonly earlierRanges?: readonly NumberRange[]
}

/** A part as it is kept. */
export interface KeptReading extends ConsumerName, ReadPart, LastAnswer {
  readonly quietMs: number | undefined
  /** All that it was ever sent of it, `mostRanges` ranges at most: the first, and the highest. Empty for `single`. */
  readonly ranges: readonly NumberRange[]
}

/** Ranges that are kept of a part. */
export const mostRanges = 500

/** Rows of `SentMinute` that are kept of a consumer. */
export const mostSentRows = 2_000

/** Requests of a consumer that were refused with a code, since it was last answered. */
export interface ConsumerRefusal {
  readonly keyId: string
  readonly name: string
  /** `undefined`: refused before the tenant was known. */
  readonly tenantId: string | undefined
  readonly code: string
  readonly status: number
  readonly sinceMs: number
  readonly lastMs: number
  readonly count: number
}

/** What a consumer says that it has done everything up to. */
export interface Acknowledgement extends ConsumerName {
  readonly sequenceNumber: number
  readonly epoch: string
  readonly acknowledgedMs: number
}

export type Outcome = 'live' | 'held' | 'refused'

/** What became of a property at a consumer, as it says. */
export interface ConsumerResult {
  readonly tenantId: string
  /** Lower-case UUID. */
  readonly subjectId: string
  readonly keyId: string
  readonly name: string
  /** Of the event that it speaks of. */
  readonly sequenceNumber: number
  readonly outcome: Outcome
  readonly code: string | undefined
  readonly message: string | undefined
  readonly url: string | undefined
  readonly resultMs: number
}

/**
 * What is kept of a result that is about the event which closes an erased property. Its words and the address of its page may have been made
 * of the payloads that are gone.
 */
export function withoutWords(result: ConsumerResult): ConsumerResult {
  return { ...result, code: undefined, message: undefined, url: undefined }
}

/** A consumer says for the first time that it shows the latest event of a property. */
export interface WentLive {
  readonly keyId: string
  readonly name: string
  /** From the commit of the event until the consumer's word; not negative unless clocks of nodes differ. */
  readonly afterMs: number
}

/** What became of results that were put. */
export interface PutResults {
  /** Those by which the latest event of a property has become live. */
  readonly live: readonly WentLive[]
  /** How many are of names beyond `namedConsumersPerFeed`, and are not kept. */
  readonly leftOut: number
}

/** Where an event is looked for in what consumers were sent. */
export interface SentSearch extends ReadPart {
  readonly key: FeedKey
  readonly number: number
  /** Rows of earlier minutes are not looked at. */
  readonly fromMinute: number
}

/** The first time that an event was sent to a consumer. */
export interface FirstSent {
  readonly keyId: string
  readonly name: string
  readonly minute: number
  readonly route: ReadRoute
}

export interface TidyRequest {
  /** Of these, no more than `mostRows` rows of minutes stay. */
  readonly consumers: readonly ConsumerName[]
  readonly mostRows: number
  /** Rows of earlier minutes go, some thousands at a time. */
  readonly beforeMinute: number
}

export interface ConsumerStore {
  /**
   * Joins readings to those that are kept, in one commit; 500 at most. Whatever is added by two nodes, in whatever order, comes to the
   * same. Those of a consumer beyond `namedConsumersPerFeed` are left out.
   */
  add(readings: readonly NotedReading[]): Promise<void>
  /** Joins refusals to those that are kept: counts add up, times widen. One that was silent for an hour begins anew. 500 at most. */
  addRefusals(refusals: readonly ConsumerRefusal[]): Promise<void>
  /** Forward only within an epoch, and always to another epoch. 500 at most. */
  acknowledge(acknowledgements: readonly Acknowledgement[]): Promise<void>
  /**
   * Of each property and consumer the one with the highest number stays, of equal numbers the later. 1,000 at most. Those of a consumer
   * beyond `namedConsumersPerFeed` are left out. A result is about the property's last event up to its number. If the payload of that was
   * erased, or is being erased, nothing is kept, however late it comes; where it is the property's latest, the outcome is (`withoutWords`).
   */
  putResults(results: readonly ConsumerResult[]): Promise<PutResults>
  /** What is kept of the consumers of a feed, by key, name and part. */
  readings(key: FeedKey): Promise<readonly KeptReading[]>
  acknowledgements(key: FeedKey): Promise<readonly Acknowledgement[]>
  /** Of keys, in no order. */
  refusals(keyIds: readonly string[]): Promise<readonly ConsumerRefusal[]>
  /** What consumers say of a property. */
  results(tenantId: string, subjectId: string): Promise<readonly ConsumerResult[]>
  /** When each consumer of a feed was first sent an event, of the minutes that are kept. */
  firstSent(search: SentSearch): Promise<readonly FirstSent[]>
  /** The rows of minutes that are kept of a consumer, ascending by minute. */
  sentMinutes(consumer: ConsumerName): Promise<readonly (ReadPart & SentMinute)[]>
  /** Results after a property, by property: for a copy. */
  resultsAfter(
    tenantId: string,
    afterSubjectId: string | undefined,
    limit: number,
  ): Promise<readonly ConsumerResult[]>
  /** Removes what is kept no longer. Safe to call from any number of nodes at once. */
  tidy(request: TidyRequest): Promise<void>
}

/** A refusal after a pause that is longer begins anew. */
export const refusalPauseMs = 3_600_000
