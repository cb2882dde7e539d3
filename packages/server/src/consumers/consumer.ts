/** The port's part for who has seen what (D28): what each consumer was sent, what it reports about that, and what it was refused. */
import type { Turn, TurnsQuery } from '../events/listings.ts'
import type { FeedView } from '../events/branches/branch-view.ts'
import type { FeedKey } from '../events/feed-key.ts'
import { joinRanges } from '../runtime/number-ranges.ts'
import type { NumberRange } from '../runtime/number-ranges.ts'

/** A key, or one of several uses of a key, which gives its own name; `defaultConsumer` is the key itself. */
export interface ConsumerName {
  readonly key: FeedKey
  readonly keyId: string
  readonly name: string
}

export const defaultConsumer = 'default'

/** Whether a consumer may use this name. */
export function isConsumerName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)
}

/** The most named consumers of a feed. The reads of further ones are not kept. */
export const namedConsumersPerFeed = 200

/** The route by which an answer was requested; `webhook`: it was sent without being requested. */
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
  | 'webhook'

/** `single`: events that were read one by one. They are never part of a range without gaps. */
export type ReadView = FeedView | 'single'

/**
 * What the numbers of a range are: ordinals of the view, positions in the feed, or sequence numbers. `latest`: sequence numbers again, of
 * which only events were sent that were still their subject's latest; `positions` of a whole view are such, too.
 */
export type ReadSpace = 'ordinals' | 'positions' | 'numbers' | 'latest'

/** A part of the record of a consumer: what it was sent of one view. */
export interface ReadPart {
  readonly view: ReadView
  readonly space: ReadSpace
  /** For ordinals and positions, which mean something else in another epoch; else empty. */
  readonly epoch: string
}

/** The outcome of the last answer. */
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

/** What a consumer has read of one part since its reads were last stored. */
export interface NewRead extends ConsumerName, ReadPart, LastAnswer {
  /** When it was last told that there is nothing new; `undefined`: not in this period. */
  readonly quietMs: number | undefined
  readonly minutes: readonly SentMinute[]
  /** Numbers sent at times that are not recorded, as a copy brings them: ascending; never for the part `single`. */
  readonly earlierRanges?: readonly NumberRange[]
}

/** A part as stored. */
export interface StoredRead extends ConsumerName, ReadPart, LastAnswer {
  readonly quietMs: number | undefined
  /** Everything it was ever sent of this part, `mostRanges` ranges at most: the first, and the highest. Empty for `single`. */
  readonly ranges: readonly NumberRange[]
}

/** The most ranges that are kept for a part. */
export const mostRanges = 500

/**
 * The most rows of the log of what was first sent that are kept for a consumer: more than one for each minute of office hours in two years.
 * They stop a consumer that reads single events here and there.
 */
export const mostSentRows = 500_000

/** Numbers of a part that were first sent to a consumer in the same minute, by the same route. */
export interface SentRange extends ReadPart {
  readonly range: NumberRange
  /** Minutes since 1970, UTC. */
  readonly minute: number
  readonly route: ReadRoute
}

/** Requests of a consumer that were refused with a code, since it last got an answer. */
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

/** The number up to which a consumer reports that it has done everything. */
export interface Acknowledgement extends ConsumerName {
  readonly sequenceNumber: number
  readonly epoch: string
  readonly acknowledgedMs: number
}

export type Outcome = 'live' | 'held' | 'refused'

/** What became of a property at a consumer, as the consumer reports. */
export interface ConsumerResult {
  readonly tenantId: string
  /** Lower-case UUID. */
  readonly subjectId: string
  readonly keyId: string
  readonly name: string
  /** The number of the event that the result is about. */
  readonly sequenceNumber: number
  readonly outcome: Outcome
  readonly code: string | undefined
  readonly message: string | undefined
  readonly url: string | undefined
  readonly resultMs: number
}

/** A change of outcome or address in what a consumer reports about a property, or the first report after it was published or withdrawn. */
export type ResultChange = Omit<ConsumerResult, 'message'>

/** A property from an event by which it became published to its removal. */
export interface Listing {
  /** Lower-case UUID. */
  readonly subjectId: string
  /** Of the event by which it became published. */
  readonly sequenceNumber: number
  readonly publishedMs: number
  readonly category: string | null
  readonly branch: string | null
  /** The number of its removal; `undefined`: it is still published. */
  readonly removed: number | undefined
}

/** What a consumer reported about a listing: about any of its versions. */
export interface FirstLive {
  /** Which of the listings given, from 0. */
  readonly listing: number
  readonly keyId: string
  readonly name: string
  /** When it first reported the listing live, as far as the log of results tells. */
  readonly liveMs: number | undefined
  /** Its latest report about the property is of the listing, and says so. */
  readonly isLive: boolean
}

/** A consumer reports for the first time that it shows the latest event of a property. */
export interface WentLive {
  readonly keyId: string
  readonly name: string
  /** From the commit of the event to the consumer's report; negative only if the clocks of nodes differ. */
  readonly afterMs: number
}

/** What is logged of results that are put: their changes; or nothing, for a copy, which brings the log beside them. */
export type LoggedResults = 'changes' | 'nothing'

/** The outcome of results that were put. */
export interface PutResults {
  /** The results by which the latest event of a property has become live. */
  readonly live: readonly WentLive[]
  /** How many results have names beyond `namedConsumersPerFeed`, and are not kept. */
  readonly leftOut: number
}

/** A number to look for in what a consumer was sent. */
export interface SentSearch extends ConsumerName, ReadPart {
  readonly number: number
}

export interface TidyRequest {
  /** At most `mostRows` rows of what was first sent are kept for each of these. */
  readonly consumers: readonly ConsumerName[]
  readonly mostRows: number
  /** What was first sent, or reported as a result, before this time is removed, some thousands of rows at a time. */
  readonly beforeMs: number
}

export interface ConsumerStore {
  /**
   * Joins readings to the stored ones, in one commit; 500 at most. The result does not depend on the order in which two nodes add.
   * Readings of a consumer beyond `namedConsumersPerFeed` are left out.
   */
  add(readings: readonly NewRead[]): Promise<void>
  /** Joins refusals to the stored ones: counts add up, times widen. After an hour of silence, a refusal begins again. 500 at most. */
  addRefusals(refusals: readonly ConsumerRefusal[]): Promise<void>
  /** Moves forward only within an epoch, and always to another epoch. 500 at most. */
  acknowledge(acknowledgements: readonly Acknowledgement[]): Promise<void>
  /**
   * Keeps the result with the highest number for each property and consumer, and of equal numbers the later. 1,000 at most. Results of a
   * consumer beyond `namedConsumersPerFeed` are left out. A result is about the property's last event up to its number. If the payload of
   * that event was erased or is being erased, the result is not kept, however late it arrives; if the event is also the property's latest,
   * only the outcome is kept (`withoutWords`).
   */
  putResults(results: readonly ConsumerResult[], log?: LoggedResults): Promise<PutResults>
  /** The stored readings of the consumers of a feed, by key, name and part. */
  readings(key: FeedKey): Promise<readonly StoredRead[]>
  acknowledgements(key: FeedKey): Promise<readonly Acknowledgement[]>
  /** Refusals of these keys, in no order. */
  refusals(keyIds: readonly string[]): Promise<readonly ConsumerRefusal[]>
  /** What consumers report about a property. */
  results(tenantId: string, subjectId: string): Promise<readonly ConsumerResult[]>
  /** When each of the numbers was first sent, as far as that is recorded, in the order of the searches. */
  firstSent(searches: readonly SentSearch[]): Promise<readonly (SentRange | undefined)[]>
  /** What was first sent to a consumer and when, after one of the ranges: by part, ascending. */
  sentAfter(
    consumer: ConsumerName,
    after: SentRange | undefined,
    limit: number,
  ): Promise<readonly SentRange[]>
  /** Results after a property, by property: for a copy. */
  resultsAfter(
    tenantId: string,
    afterSubjectId: string | undefined,
    limit: number,
  ): Promise<readonly ConsumerResult[]>
  /** The changes of what consumers report about a property: by consumer, the oldest first. */
  resultChanges(tenantId: string, subjectId: string): Promise<readonly ResultChange[]>
  /** The changes after one of them, in the order of the above, by property: for a copy. */
  resultChangesAfter(
    tenantId: string,
    after: ResultChange | undefined,
    limit: number,
  ): Promise<readonly ResultChange[]>
  /** The events by which properties of a tenant became published or were removed, the newest first. */
  turns(query: TurnsQuery): Promise<readonly Turn[]>
  /** What consumers reported about these listings of a tenant; 1,000 at most. */
  firstLive(tenantId: string, listings: readonly Listing[]): Promise<readonly FirstLive[]>
  /** Those of the numbers at which the property was withdrawn: its last event up to the number is a removal. */
  removalsAmong(tenantId: string, subjectId: string, numbers: readonly number[]): Promise<ReadonlySet<number>>
  /** Removes what is no longer kept, and returns whether there may be more. Any number of nodes may call it at the same time. */
  tidy(request: TidyRequest): Promise<boolean>
}

/** After a longer pause, a refusal begins again. */
export const refusalPauseMs = 3_600_000

/** The first range, which shows what was sent without a gap, and the highest ones. */
export function keptRanges(ranges: readonly NumberRange[]): readonly NumberRange[] {
  const [first] = ranges
  if (first === undefined || ranges.length <= mostRanges) return ranges
  return [first, ...ranges.slice(1 - mostRanges)]
}

/** What is kept of a part after a reading. Events that were read one by one never become ranges. */
export function joinedRead(kept: StoredRead | undefined, reading: NewRead): StoredRead {
  const { minutes, earlierRanges = [], ...latest } = reading
  const added = latest.view === 'single' ? [] : [...earlierRanges, ...minutes.flatMap(({ ranges }) => ranges)]
  const ranges = keptRanges(joinRanges(kept?.ranges ?? [], added))
  if (kept === undefined) return { ...latest, ranges }
  const quietMs = Math.max(kept.quietMs ?? 0, latest.quietMs ?? 0)
  const last = latest.askedMs >= kept.askedMs ? latest : kept
  return { ...last, ranges, quietMs: quietMs === 0 ? undefined : quietMs }
}

/** Whether a result replaces the stored one. */
export function isLater(result: ConsumerResult, kept: ConsumerResult | undefined): boolean {
  if (kept === undefined || result.sequenceNumber > kept.sequenceNumber) return true
  return result.sequenceNumber === kept.sequenceNumber && result.resultMs >= kept.resultMs
}

/** Whether the replacing result is the first report that the version is live. */
export function saysLiveAnew(
  { outcome, sequenceNumber }: ConsumerResult,
  before: ConsumerResult | undefined,
): boolean {
  if (outcome !== 'live') return false
  return before === undefined || before.sequenceNumber < sequenceNumber || before.outcome !== 'live'
}
