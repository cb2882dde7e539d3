/** The port's part for events: appending them, and every way of reading them. */
import type { Ticks, ViewName } from '@property-events/protocol'
import type { AppendBatch, AppendOutcome } from './append-batch.ts'
import type { FeedView } from './branch-view.ts'
import type { LiveQuery, LiveStep } from './live-subjects.ts'
import type { FeedKey } from './feed-key.ts'

/** The last committed event of a feed. `position` 0 and no `created`: the feed is empty. */
export interface Head {
  readonly position: number
  /** Of the last event; the epoch's offset when the feed is empty. */
  readonly sequenceNumber: number
  readonly created: Ticks | undefined
  /** Changes when numbers were carried past a gap (D13). */
  readonly epoch: string
  /** Rises when stored payloads are erased (D17). */
  readonly revision: number
  /** Rises when superseded payloads are taken because of their age (D17). No answer shows it. */
  readonly thinned: number
}

/** By what a feed is seen to have changed, without looking at an event. */
export interface FeedMark {
  readonly key: FeedKey
  readonly epoch: string
  /** Rises whenever an event is appended, a payload is reduced or an epoch begins. */
  readonly count: number
}

/** Of one state of the store. As no count ever falls, the same sums of as many feeds are the same state. */
export interface MarksTotal {
  readonly feeds: number
  /** The sum of their counts. */
  readonly total: bigint
  /** The sum of the weights of their epochs (`epochWeight`): one may begin without a number in between. */
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
  /** Positions of events of the feed, ascending: where it is there, ordinals are those of this list, and not the view's. */
  readonly positions?: Float64Array
}

/** What matches a query, and the state of the feed it was found in. Ordinals never move, so the range stays true. */
export interface Located {
  readonly range: ViewRange
  readonly head: Head
}

/** One event and its bytes on the wire: a JSON object as in spec §2.1, UTF-8, never parsed again. */
export interface StoredEvent {
  readonly sequenceNumber: number
  readonly json: Uint8Array
}

export interface ReadAfterQuery {
  readonly key: FeedKey
  readonly view: FeedView
  /** Events with a greater sequence number; 0 for all. */
  readonly after: number
  readonly limit: number
  /** Only events that are still their subject's latest. */
  readonly latestOnly: boolean
}

export interface ReadSubjectQuery {
  readonly key: FeedKey
  /** Lower-case UUID of the property or contact (D16). */
  readonly subjectId: string
  /** Events with a greater sequence number; 0 for all. */
  readonly after: number
  readonly limit: number
  /** Only events of these branches (`EventStore.readEvent`). */
  readonly branches?: readonly string[] | undefined
}

/** Which latest events of subjects are asked for. Ascending by position, so that the next step begins after the last of this one. */
export interface LatestQuery {
  readonly key: FeedKey
  /** Of a category: those whose latest event is in it. */
  readonly view: FeedView
  /** Greater positions; 0 for all. */
  readonly after: number
  /** Not greater positions. */
  readonly through: number
  readonly limit: number
}

/** Which subjects are asked for, by the position of their latest event, and as of which earlier one. */
export interface EarlierQuery {
  readonly key: FeedKey
  /** Of a category: subjects that were in it then. */
  readonly view: FeedView
  /** Latest events with greater positions; not less than `through`. */
  readonly after: number
  /** The last position of that time. */
  readonly through: number
  /** Subjects to look at. */
  readonly limit: number
}

export interface EarlierStep {
  /** Of each subject's last event at `through` or before it; in no order, and none for a subject that had no event yet. */
  readonly positions: readonly number[]
  /** The next step is after this position; `undefined`: this was the last. */
  readonly next: number | undefined
}

/** Of which view, and before which times, events are counted. */
export interface TallyQuery {
  readonly key: FeedKey
  readonly view: ViewName
  /** In any order. */
  readonly times: readonly Ticks[]
}

/** All of one state of the feed (P4). */
export interface Tally {
  /** The events of the view. */
  readonly total: number
  /** How many of them lie before each time, in the order of the times. */
  readonly before: readonly number[]
}

/** What the counter of a feed says, without a look at an event. */
export interface FeedCount {
  readonly key: FeedKey
  /** Of the last event; `undefined`: the feed is empty. */
  readonly created: Ticks | undefined
  /** Subjects that are there: whose latest event is no removal. `undefined`: not counted yet after an upgrade. */
  readonly live: number | undefined
}

/** Which latest events are asked for, the newest first. */
export interface NewestQuery {
  readonly key: FeedKey
  readonly view: ViewName
  /** Positions less than this one; `undefined`: from the newest. */
  readonly before: number | undefined
  readonly limit: number
}

/** The latest event of a subject. */
export interface LatestEvent extends StoredEvent {
  readonly position: number
  /** False: it is a removal. */
  readonly live: boolean
}

export interface EventStore {
  /** So many appends to different feeds are usefully under way at once: 1 where there is one writer. */
  readonly appendsAtOnce: number
  /**
   * Commits all batches at once, in order, and answers with one outcome each. A batch that is refused leaves no trace
   * and does not touch the others. Durable when it resolves (P7). Appends to the same feed take effect in the order of
   * the calls. Rejects only with a `StorageFailure`: with `storage_unavailable` of the scope `store` all of it may be
   * stored or nothing, which a repeat by its ids tells (D14), or these same batches, given once more; else nothing is.
   *
   * `lockWaitMs`: how long, at most, it waits for a feed that another session holds, before it rejects with `feed_locked`.
   * Left out: as long as a commit may take. Where no other session can hold a feed, nothing waits and nothing is rejected.
   */
  append(batches: readonly AppendBatch[], lockWaitMs?: number): Promise<readonly AppendOutcome[]>
  /** What `append` would answer for this batch alone, without storing, numbering or reserving anything. */
  preview(batch: AppendBatch): Promise<AppendOutcome>
  /**
   * View and window to a range, with index probes only (P5). `undefined`: no such tenant. With a window that is still
   * open it answers in a moment at which no stamped event is waiting for its commit, and every later stamp comes after
   * that moment (P3). Rejects with `tenant_moving` where such windows are not answered any more (`MoveState`).
   */
  locate(query: LocateQuery): Promise<Located | undefined>
  /**
   * How many events of a view lie before each time: one probe of an index for each, all of one state. `undefined`: no such tenant. It waits
   * for no commit, so that it may say less of the last moments than a window would.
   */
  tally(query: TallyQuery): Promise<Tally | undefined>
  /**
   * The events of a located range, or of a part of one, in order: pieces of bytes that join to `json,json,json`. They are the
   * caller's own: it frees their memory when they have been used (`freeBytes`).
   */
  readRange(range: ViewRange): Promise<readonly Uint8Array[]>
  /** As `readRange`, for at most 100 events. `undefined`: they have more than `maxBytes` together, and none was read. */
  readRangeWithin(range: ViewRange, maxBytes: number): Promise<readonly Uint8Array[] | undefined>
  /** The length of each event of a located range, in bytes and in order. Costs little: no event is read. */
  measureRange(range: ViewRange): Promise<readonly number[]>
  /**
   * The event with this id, in either case of its letters already lowered; `undefined` if the feed has none. Its bytes are the caller's own.
   * `branches`: an event of another one, or of none, is not there.
   */
  readEvent(key: FeedKey, id: string, branches?: readonly string[]): Promise<StoredEvent | undefined>
  /**
   * Where the event stands that took this id, lower case; `undefined`: nothing did. Its own id is another one where the
   * id came with an unchanged payload (decision 0003), so the reader has to compare it.
   * At once where the engine need not wait for it; then it throws what it would reject with.
   */
  positionOf(key: FeedKey, id: string): number | undefined | Promise<number | undefined>
  /** The next events after a number, at most `limit`, ascending. Their bytes are the caller's own, as those of `readRange` are. */
  readAfter(query: ReadAfterQuery): Promise<readonly StoredEvent[]>
  /** Positions of events that are their subject's latest now, at most `limit`. No event is read. */
  latestPositions(query: LatestQuery): Promise<readonly number[]>
  /** The latest events of subjects, the newest first, at most `limit`. Their bytes are the caller's own. */
  readNewest(query: NewestQuery): Promise<readonly LatestEvent[]>
  /** Looks at no more than `limit` subjects, in the order of their latest events' positions, of those greater than `after`. */
  earlierPositions(query: EarlierQuery): Promise<EarlierStep>
  /** Of the next `limit` subjects by reference, those that are shown now. A range of their key: no event is read. */
  liveSubjects(query: LiveQuery): Promise<LiveStep>
  /**
   * The subject's latest event, in whatever category it is; `undefined`: the feed has none. Its bytes are the caller's own. `branches`: the
   * latest of those that are of one of them.
   */
  readLatest(key: FeedKey, subjectId: string, branches?: readonly string[]): Promise<StoredEvent | undefined>
  /** The events of one subject after a number, at most `limit`, ascending; their bytes as those of `readAfter`. Costs what the subject's history is long. */
  readSubject(query: ReadSubjectQuery): Promise<readonly StoredEvent[]>
  /** The feed's head; `undefined`: no such tenant. */
  head(key: FeedKey): Promise<Head | undefined>
  /** The same of many feeds, all of one state of the store, in the order of the keys. */
  heads(keys: readonly FeedKey[]): Promise<readonly (Head | undefined)[]>
  /** The marks of every feed, or of those that are named and exist, all of one state of the store. Costs some microseconds a feed. */
  marks(keys?: readonly FeedKey[]): Promise<readonly FeedMark[]>
  /** What the marks of every feed come to. Costs a tenth of reading them. */
  marksTotal(): Promise<MarksTotal>
  /** What the counters say: of the feeds of a tenant, or of all, in no order. Costs some microseconds a feed. */
  counts(tenantId?: string): Promise<readonly FeedCount[]>
  /**
   * Calls the listener when a feed may have got events that can now be read; with `undefined`, any feed may have. What
   * this process appends is told at once; what others append soon, on an engine that hears of it. A hint to look, which
   * may come for nothing or, from elsewhere, not at all: a listener that waits also looks now and then. Returns how to stop.
   */
  watch(listener: (key: FeedKey | undefined) => void): () => void
  /**
   * A number that differs from what it was whenever the feed has changed: by an append of this node at the latest when that
   * is acknowledged, and by an append of any node at the latest when a read of this node shows it (P8). Told from memory; may differ for
   * nothing.
   */
  changeCount(key: FeedKey): number
}
