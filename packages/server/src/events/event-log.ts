/** The port's part for events: appending them, and every way of reading them. */
import type { Ticks, ViewName } from '@property-events/protocol'
import type { AppendBatch, AppendOutcome } from './append/append-batch.ts'
import type { FeedView } from './branches/branch-view.ts'
import type { LiveQuery, LiveStep } from './live-subjects.ts'
import type { FeedKey } from './feed-key.ts'
import type { NumberRange } from '../runtime/number-ranges.ts'

/** The last committed event of a feed. `position` 0 and no `created`: the feed is empty. */
export interface Head {
  readonly position: number
  /** The number of the last event; the epoch's offset if the feed is empty. */
  readonly sequenceNumber: number
  readonly created: Ticks | undefined
  /** Changes when numbers continue after a gap (D13). */
  readonly epoch: string
  /** Rises when stored payloads are erased (D17). */
  readonly revision: number
  /** Rises when superseded payloads are removed because of their age (D17). No answer shows it. */
  readonly thinned: number
}

/** Shows whether a feed has changed, without looking at an event. */
export interface FeedVersion {
  readonly key: FeedKey
  readonly epoch: string
  /** Rises whenever an event is appended, a payload is reduced or an epoch begins. */
  readonly count: number
}

/** The versions of all feeds in one state of the store. Since counts never fall, equal sums over equally many feeds mean the same state. */
export interface FeedVersionsTotal {
  readonly feeds: number
  /** The sum of their counts. */
  readonly total: bigint
  /** The sum of the weights of their epochs (`epochWeight`): an epoch may begin without a new number. */
  readonly epochs: number
}

export interface LocateQuery {
  readonly key: FeedKey
  readonly view: FeedView
  /** First tick inside the window. */
  readonly from?: Ticks
  /** First tick after the window. */
  readonly to?: Ticks
}

/** A contiguous run of a view's ordinals (of positions, for the view `all`). */
export interface ViewRange {
  readonly key: FeedKey
  readonly view: FeedView
  /** The first ordinal, from 1. */
  readonly first: number
  readonly count: number
  /** Positions of events of the feed, ascending. If present, ordinals are those of this list, and not the view's. */
  readonly positions?: Float64Array
  /** Of the feed, read for the same request: events may then come from memory, as they were in it. Left out: as they are now. */
  readonly head?: Head
}

/** What matches a query, and the state of the feed in which it was found. Ordinals never move, so the range stays valid. */
export interface Located {
  readonly range: ViewRange
  readonly head: Head
  /** Of an open window: every event that is not visible yet will be stamped at this moment or later (P3). */
  readonly settled?: Ticks
}

/** One event and its bytes on the wire: a JSON object as in spec §2.1, UTF-8, never parsed again. */
export interface StoredEvent {
  readonly sequenceNumber: number
  readonly json: Uint8Array
}

export interface ReadAfterQuery extends Pick<ViewRange, 'key' | 'view' | 'head'> {
  /** Only events with a greater sequence number; 0 for all. */
  readonly after: number
  readonly limit: number
  /** Only events that are still their subject's latest. */
  readonly latestOnly: boolean
}

export interface ReadSubjectQuery {
  readonly key: FeedKey
  /** Lower-case UUID of the property or contact (D16). */
  readonly subjectId: string
  /** Only events with a greater sequence number; 0 for all. */
  readonly after: number
  readonly limit: number
  /** Only events in these branches (`EventStore.readEvent`). */
  readonly branches?: readonly string[] | undefined
}

/** Which latest events of subjects to return, ascending by position, so that the next step begins after the last of this one. */
export interface LatestQuery {
  readonly key: FeedKey
  /** For a category: subjects whose latest event is in it. */
  readonly view: FeedView
  /** Only greater positions; 0 for all. */
  readonly after: number
  /** Only positions up to this one. */
  readonly through: number
  readonly limit: number
}

/** Which subjects to look at, by the position of their latest event, and as of which earlier position. */
export interface EarlierQuery {
  readonly key: FeedKey
  /** For a category: subjects that were in it then. */
  readonly view: FeedView
  /** Only latest events with greater positions; not less than `through`. */
  readonly after: number
  /** The last position of that time. */
  readonly through: number
  /** The number of subjects to look at. */
  readonly limit: number
}

export interface EarlierStep {
  /** The position of each subject's last event at or before `through`; in no order, and none for a subject that had no event yet. */
  readonly positions: readonly number[]
  /** The next step begins after this position; `undefined`: this was the last. */
  readonly next: number | undefined
}

/** The view whose events are counted, and the times before which they are counted. */
export interface TallyQuery {
  readonly key: FeedKey
  readonly view: ViewName
  /** In any order. */
  readonly times: readonly Ticks[]
}

/** All from one state of the feed (P4). */
export interface Tally {
  /** The events of the view. */
  readonly total: number
  /** How many of them are before each time, in the order of the times. */
  readonly before: readonly number[]
}

/** What the counter of a feed shows, without looking at an event. */
export interface FeedCount {
  readonly key: FeedKey
  /** The time of the last event; `undefined`: the feed is empty. */
  readonly created: Ticks | undefined
  /** The number of live subjects: those whose latest event is not a removal. */
  readonly live: number
}

/** Which latest events to return, the newest first. */
export interface NewestQuery {
  readonly key: FeedKey
  readonly view: ViewName
  /** Only positions less than this one; `undefined`: from the newest. */
  readonly before: number | undefined
  readonly limit: number
}

/** The latest event of a subject. */
export interface LatestEvent extends StoredEvent {
  readonly position: number
  /** False: the event is a removal. */
  readonly live: boolean
}

/** The place of an event in its feed. */
export interface EventPosition {
  readonly position: number
  readonly sequenceNumber: number
}

export interface SubjectPositionsQuery {
  readonly key: FeedKey
  /** Lower-case UUID. */
  readonly subjectId: string
  /** Only events with a greater position; 0 for all. */
  readonly after: number
  readonly limit: number
}

export interface SubjectsQuery {
  readonly key: FeedKey
  readonly view: 'all' | 'numbers'
  readonly range: NumberRange
}

/** An event's number in the requested view, and its subject. */
export interface NumberedSubject {
  readonly number: number
  readonly subjectId: string
}

export interface EventStore {
  /** How many appends to different feeds are usefully under way at once: 1 if there is one writer. */
  readonly appendsAtOnce: number
  /**
   * Commits all batches at once, in order, and returns one outcome for each. A refused batch leaves no trace and does not affect the
   * others. Durable when it resolves (P7). Appends to the same feed take effect in the order of the calls. Rejects only with a
   * `StorageFailure`. With `storage_unavailable` of the scope `store`, all of it may be stored or nothing; a repeat by its ids shows
   * which (D14), or giving these same batches once more. With any other failure nothing is stored.
   *
   * `lockWaitMs`: how long, at most, it waits for a feed that another session holds, before it rejects with `feed_locked`. Left out: as
   * long as a commit may take. If no other session can hold a feed, nothing waits and nothing is rejected.
   */
  append(batches: readonly AppendBatch[], lockWaitMs?: number): Promise<readonly AppendOutcome[]>
  /** What `append` would return for this batch alone, without storing, numbering or reserving anything. */
  preview(batch: AppendBatch): Promise<AppendOutcome>
  /**
   * From a view and a window to a range, with index probes only (P5). `undefined`: no such tenant. With a window that is still open, it
   * answers at a moment when no stamped event is waiting for its commit, and every later stamp comes after that moment (P3). Rejects with
   * `tenant_moving` if such windows are no longer answered (`MoveState`).
   */
  locate(query: LocateQuery): Promise<Located | undefined>
  /**
   * How many events of a view are before each time: one index probe for each, all from one state. `undefined`: no such tenant. It waits
   * for no commit, so it may show less of the last moments than a window would.
   */
  tally(query: TallyQuery): Promise<Tally | undefined>
  /**
   * The events of a located range, or of a part of one, in order: pieces of bytes that join to `json,json,json`. They belong to the
   * caller, who frees their memory after use (`freeBytes`).
   */
  readRange(range: ViewRange): Promise<readonly Uint8Array[]>
  /** Like `readRange`, for at most 100 events. `undefined`: they have more than `maxBytes` together, and none was read. */
  readRangeWithin(range: ViewRange, maxBytes: number): Promise<readonly Uint8Array[] | undefined>
  /** The length of each event of a located range, in bytes and in order. It is cheap: no event is read. */
  measureRange(range: ViewRange): Promise<readonly number[]>
  /**
   * The event with this id, already in lower case; `undefined` if the feed has none. Its bytes belong to the caller. `branches`: an event
   * in another branch, or in none, does not exist.
   */
  readEvent(key: FeedKey, id: string, branches?: readonly string[]): Promise<StoredEvent | undefined>
  /**
   * The position of the event that took this id, lower case; `undefined`: none did. The event's own id differs if the id came with an
   * unchanged payload (decision 0003), so the reader has to compare it. Synchronous if the engine need not wait; it then throws what it
   * would reject with.
   */
  positionOf(key: FeedKey, id: string): number | undefined | Promise<number | undefined>
  /** The next events after a number, at most `limit`, ascending. Their bytes belong to the caller, as with `readRange`. */
  readAfter(query: ReadAfterQuery): Promise<readonly StoredEvent[]>
  /** Positions of events that are their subject's latest now, at most `limit`. No event is read. */
  latestPositions(query: LatestQuery): Promise<readonly number[]>
  /** The latest events of subjects, the newest first, at most `limit`. Their bytes belong to the caller. */
  readNewest(query: NewestQuery): Promise<readonly LatestEvent[]>
  /** Looks at no more than `limit` subjects, in the order of their latest events' positions, from those greater than `after`. */
  earlierPositions(query: EarlierQuery): Promise<EarlierStep>
  /** Of the next `limit` subjects by reference, those that are shown now. A range of their key: no event is read. */
  liveSubjects(query: LiveQuery): Promise<LiveStep>
  /**
   * The subject's latest event, in any category; `undefined`: the feed has none. Its bytes belong to the caller. `branches`: the latest
   * of the events in one of them. `upTo`: the latest of those whose number is not greater.
   */
  readLatest(
    key: FeedKey,
    subjectId: string,
    branches?: readonly string[],
    upTo?: number,
  ): Promise<StoredEvent | undefined>
  /**
   * The events of one subject after a number, at most `limit`, ascending; their bytes as with `readAfter`. The cost depends on the length
   * of the subject's history.
   */
  readSubject(query: ReadSubjectQuery): Promise<readonly StoredEvent[]>
  /** The places of the events of one subject, ascending, at most `limit`. No event is read. */
  subjectPositions(query: SubjectPositionsQuery): Promise<readonly EventPosition[]>
  /** The subjects of a range of events, ascending; numbers without an event are left out. At most `numbersPerBlock` numbers (privacy/disclosure). */
  subjectsIn(query: SubjectsQuery): Promise<readonly NumberedSubject[]>
  /** The feed's head; `undefined`: no such tenant. */
  head(key: FeedKey): Promise<Head | undefined>
  /** The heads of many feeds, all from one state of the store, in the order of the keys. */
  heads(keys: readonly FeedKey[]): Promise<readonly (Head | undefined)[]>
  /** The versions of every feed, or of those that are named and exist, all from one state of the store. Costs some microseconds per feed. */
  versions(keys?: readonly FeedKey[]): Promise<readonly FeedVersion[]>
  /** The totals of the versions of every feed. Costs a tenth of reading the versions. */
  versionsTotal(): Promise<FeedVersionsTotal>
  /** What the counters show: for the feeds of a tenant, or for all, in no order. Costs some microseconds per feed. */
  counts(tenantId?: string): Promise<readonly FeedCount[]>
  /**
   * Calls the listener when a feed may have new events to read; with `undefined`, any feed may have. Appends of this process are reported
   * at once; those of others soon, on an engine that hears of them. The call is a hint: it may come without reason or, for other
   * processes, not at all, so a waiting listener also looks now and then. Returns a function that stops it.
   */
  watch(listener: (key: FeedKey | undefined) => void): () => void
  /**
   * A number that changes whenever the feed has changed: for an append of this node at the latest when it is acknowledged, and for an
   * append of any node at the latest when a read on this node shows it (P8). It comes from memory, and may change without reason.
   */
  changeCount(key: FeedKey): number
  /**
   * Call it before an open window is located. What it returns gives later moments that can take the place of `settled`, without asking the
   * store, if `changeCount`, read after it, is still as it was before the window was located: all that was stamped before is counted.
   * `undefined`: only the store knows. Left out by an engine whose store others write to.
   */
  settledLater?(): () => Ticks | undefined
}
