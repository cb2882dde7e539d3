/**
 * THE PORT: everything the service keeps, and what each verb guarantees. One engine implements it; nothing else knows
 * which. Expected outcomes are values; a thrown error means the store itself failed (see `StorageFailure`).
 * Whatever stands here is tested on every engine by one suite, `test/storage/contract`.
 */
import type { Category, EventTypeCatalogue, FeedName, Ticks, ViewName } from '@property-events/protocol'
import type { KeyStore } from './key-store.ts'
import type { MoveStore } from './move-store.ts'
import type { NodeStore } from './node-store.ts'
import type { StoreRecord } from './store-records.ts'

export type * from './key-store.ts'
export type * from './move-store.ts'
export type * from './node-store.ts'

/** One tenant's feed: the unit of ordering (P1). */
export interface FeedKey {
  /** Lower-case UUID. */
  readonly tenantId: string
  readonly feed: FeedName
}

/** The same text for the same feed: what maps are keyed by. */
export function feedName({ tenantId, feed }: FeedKey): string {
  return `${tenantId} ${feed}`
}

/** An event as a publisher sent it, checked and hashed, with all that needs the store still open. */
export interface EventDraft {
  /** Lower-case UUID. */
  readonly id: string
  /** The publisher chose the id: it is the repeat key (D14), and stays taken, for 30 days, even when `unchanged` stores nothing. */
  readonly idGiven: boolean
  /** Lower-case UUID of the property or contact (D16). */
  readonly subjectId: string
  /** The same UUID as this draft spells it. The subject's first event decides for all later ones (D15). */
  readonly subjectSpelling: string
  /** As sent; `undefined`: the subject as its first event spells it (D15). */
  readonly transactionId: string | undefined
  readonly content: DraftContent
  /** The short code the publisher named; `undefined` lets the subject's previous state decide (D12). */
  readonly eventTypeShortCode: string | undefined
  /** The category the publisher named (D23). */
  readonly category: Category | undefined
  /** SHA-256 over payload text, type, transaction id and category as sent (D14). 32 bytes. */
  readonly contentHash: Uint8Array
  /** Internal loading only (D25): the time this event would like; it gets that, or the last one's plus a tick. */
  readonly wishedCreated?: Ticks
}

export type DraftContent = PayloadContent | RemovalContent

export interface PayloadContent {
  readonly kind: 'payload'
  /** The payload text, byte for byte as it will be served (D22). */
  readonly text: string
  /** SHA-256 of the text. 32 bytes. */
  readonly hash: Uint8Array
  /** The payload's own `published`; `undefined` where absent or null, which needs a named event type. */
  readonly published: boolean | undefined
  readonly branch: string | undefined
  /** What the payload's fields say about the category (D23). */
  readonly impliedCategory: Category | undefined
  /** Of the payload's `update_date` (`updateDateHashOf`); `null` where it has none. */
  readonly updateDateHash: Uint8Array | null
}

/** The subject's last payload with `published` false and `removal_reason` added (D26). */
export interface RemovalContent {
  readonly kind: 'removal'
  /** JSON text of the reason. */
  readonly reason: string | undefined
}

/** What one request publishes to one feed: stored whole, in order, or not at all (P6). */
export interface AppendBatch {
  readonly key: FeedKey
  readonly drafts: readonly EventDraft[]
  /** `skip`: a payload equal to its subject's latest stores nothing. */
  readonly unchanged: 'store' | 'skip'
}

/** One line of a receipt. A derived event stands before the event that caused it, with the same `index`. */
export interface AppendedEvent {
  /** Index of the draft. */
  readonly index: number
  readonly status: 'appended' | 'derived' | 'repeated' | 'unchanged'
  readonly id: string
  readonly eventType: number
  readonly eventTypeShortCode: string
  readonly transactionId: string
  /** Absent only in a preview, for what would be stored. */
  readonly stored?: { readonly sequenceNumber: number; readonly createdDate: string }
  /** What its publisher should know of it beside what came before; only for what is appended. */
  readonly remarks?: readonly AppendRemark[]
}

/** What only the subject's earlier events tell about a new one. */
export type AppendRemark =
  /** The payload is another one, or the property comes back, and `update_date` is what it was. */
  | 'updateDateUnchanged'
  /** The transaction id sent is the subject's UUID, but not as its first event spells it. */
  | 'otherSpelling'

export type AppendOutcome =
  /** Everything is on disk (P7), or was there before. */
  | { readonly kind: 'stored'; readonly events: readonly AppendedEvent[] }
  /** The id is taken by other content, or by an event whose content is gone (D14). */
  | { readonly kind: 'idConflict'; readonly index: number; readonly id: string }
  /** A removal of a subject that has no event. */
  | { readonly kind: 'unknownSubject'; readonly index: number; readonly subjectId: string }
  /** No such tenant. */
  | { readonly kind: 'unknownFeed' }
  /** The feed's head is more than 5 minutes ahead of the clock (D25). */
  | { readonly kind: 'clockBehind'; readonly headCreated: Ticks; readonly now: Ticks }
  /** The store was restored; numbers may have been shown that it does not hold (D13). `startEpoch` lifts it. */
  | { readonly kind: 'epochRequired' }
  /** The tenant is being moved to another store, or was (`MoveState`). Nothing of the batch is stored here. */
  | { readonly kind: 'tenantMoving' }

/** The last committed event of a feed. `position` 0 and no `created`: the feed is empty. */
export interface Head {
  readonly position: number
  /** Of the last event; the epoch's offset when the feed is empty. */
  readonly sequenceNumber: number
  readonly created: Ticks | undefined
  /** Changes when numbers were carried past a gap (D13). */
  readonly epoch: string
  /** Rises when stored payloads are reduced (D17). */
  readonly revision: number
}

export interface LocateQuery {
  readonly key: FeedKey
  readonly view: ViewName
  /** First tick inside the window. */
  readonly from?: Ticks
  /** First tick behind the window. */
  readonly to?: Ticks
}

/** A contiguous run of a view's ordinals (of positions, for the view `all`). */
export interface ViewRange {
  readonly key: FeedKey
  readonly view: ViewName
  /** The first ordinal, from 1. */
  readonly first: number
  readonly count: number
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
  readonly view: ViewName
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
   * `lockWaitMs`: how long, at most, it waits for a feed that somebody else holds, before it rejects with `feed_locked`.
   * Left out: as long as a commit may take. Where feeds cannot be held by others, nothing waits and nothing is rejected.
   */
  append(batches: readonly AppendBatch[], lockWaitMs?: number): Promise<readonly AppendOutcome[]>
  /** What `append` would answer for this batch alone, without storing, numbering or reserving anything. */
  preview(batch: AppendBatch): Promise<AppendOutcome>
  /**
   * View and window to a range, with index probes only (P5). `undefined`: no such tenant. With a window that is still
   * open it answers in a moment at which no stamped event is waiting for its commit, and every later stamp lies behind
   * that moment (P3). Rejects with `tenant_moving` where such windows are not answered any more (`MoveState`).
   */
  locate(query: LocateQuery): Promise<Located | undefined>
  /**
   * The events of a located range, or of a part of one, in order: pieces of bytes that join to `json,json,json`. They are the
   * caller's own, who frees their memory when they have been used (`freeBytes`).
   */
  readRange(range: ViewRange): Promise<readonly Uint8Array[]>
  /** The event with this id, in either case of its letters already lowered; `undefined` if the feed has none. */
  readEvent(key: FeedKey, id: string): Promise<StoredEvent | undefined>
  /**
   * Where the event stands that took this id, lower case; `undefined`: nothing did. Its own id is another one where the
   * id came with an unchanged payload (decision 0003), so whoever reads there looks at what it says.
   * At once where the engine need not wait for it; then it throws what it would reject with.
   */
  positionOf(key: FeedKey, id: string): number | undefined | Promise<number | undefined>
  /** The next events behind a number, at most `limit`, ascending. */
  readAfter(query: ReadAfterQuery): Promise<readonly StoredEvent[]>
  /** The subject's latest event, in whatever category it is; `undefined`: the feed has none. */
  readLatest(key: FeedKey, subjectId: string): Promise<StoredEvent | undefined>
  /** The events of one subject behind a number, at most `limit`, ascending. Costs what the subject's history is long. */
  readSubject(query: ReadSubjectQuery): Promise<readonly StoredEvent[]>
  /** The feed's head; `undefined`: no such tenant. */
  head(key: FeedKey): Promise<Head | undefined>
  /**
   * Calls the listener when a feed may have got events that can now be read; with `undefined`, any feed may have. What
   * this process appends is told at once; what others append soon, on an engine that hears of it. A hint to look, which
   * may come for nothing or, from elsewhere, not at all: whoever waits also looks now and then. Returns how to stop.
   */
  watch(listener: (key: FeedKey | undefined) => void): () => void
  /**
   * A number that differs from what it was whenever the feed has changed: by an append of this node at the latest when that
   * is acknowledged, and by anybody's at the latest when a read of this node shows it (P8). Told from memory; may differ for
   * nothing.
   */
  changeCount(key: FeedKey): number
}

/** A state of the store that somebody still reads, or may. */
export interface HeldSnapshot {
  /** `catalog_slot` keeps versions of the database's catalogues and none of ours. */
  readonly holder: 'session' | 'standby' | 'slot' | 'catalog_slot' | 'prepared'
  /** How many transactions have begun since. */
  readonly transactions: number
  /** For how long, as far as the store tells. */
  readonly seconds: number | undefined
  /** For an operator: what to look for. */
  readonly name: string
}

/** What is recorded once, when a store is created. */
export interface StoreSettings {
  /** Random: the same in a backup of the store, another in every other store. */
  readonly storeId: string
  readonly catalogue: EventTypeCatalogue
  /** The offset of the first epoch: numbers begin behind it (D13). */
  readonly startSequence: number
}

/** A feed that publishing is refused to until a new epoch begins in it (D13). */
export interface WaitingFeed {
  readonly key: FeedKey
  /** The highest number the store holds of it, or has counted past. */
  readonly heldNumber: number
  /** The highest number that a node has told to have shown, where it is not in the store. */
  readonly shownNumber: number | undefined
}

/** What a node has shown of a feed, and its store does not hold (any more). */
export interface LostNumbers {
  readonly key: FeedKey
  readonly shownNumber: number
  readonly heldNumber: number
}

/** Which feeds publishing is refused to until a new epoch begins (D13): none, some of them, or every one. */
export type EpochNeed = 'none' | 'some' | 'all'

export interface StorageEngine extends AsyncDisposable {
  readonly events: EventStore
  readonly keys: KeyStore
  readonly nodes: NodeStore
  readonly moves: MoveStore
  /** As recorded in the store. */
  readonly settings: StoreSettings
  /**
   * Begins a new epoch in every feed, or in the given ones (D13): the next number of each is greater than `continueAfter`, every
   * number the store holds of it, and every number that a node has told to have shown. Lifts `epochRequired` there.
   */
  startEpoch(continueAfter: number, feeds?: readonly FeedKey[]): Promise<void>
  /**
   * Lifts `epochRequired` without a new epoch, where an operator knows that this is the whole of the store that was served
   * before, moved or upgraded. `missing`: a node has shown numbers that are not here, and nothing is changed.
   */
  acceptHistory(): Promise<'accepted' | 'missing'>
  /** The feeds that wait for a new epoch: all of them, where the whole store does. */
  waitingFeeds(): Promise<readonly WaitingFeed[]>
  /** Calls the listener with all that this node has shown and finds missing, whenever that changes. Returns how to stop. */
  onLoss(listener: (lost: readonly LostNumbers[]) => void): () => void
  /** Where `append` answers `epochRequired` now. Rejects, as `ping` does, when the store does not answer. */
  epochNeed(): Promise<EpochNeed>
  /**
   * Copies the store, while it is in use, to a new file that opens as a store; it then needs `startEpoch`. Rejects with
   * the `StorageRefusal` `already_exists` rather than replace a file.
   */
  backup(path: string): Promise<void>
  /**
   * Hands over everything the feeds hold as of one moment, piece by piece, each taken before the next is read: of each
   * feed the events behind the position `after` names, all ids and subjects, and its counter; last the record of the whole.
   */
  exportRecords(
    after: (key: FeedKey) => number,
    take: (records: readonly StoreRecord[]) => Promise<void>,
  ): Promise<void>
  /**
   * Puts such records in place, in one commit. Their tenants exist, and events follow on what the feed holds; otherwise it
   * rejects with a `StorageFailure` and changes nothing. Ids and subjects may come again. For filling a new store:
   * nobody publishes to it meanwhile (a first record `whole` with `needsEpoch` sees to that).
   */
  importRecords(records: readonly StoreRecord[]): Promise<void>
  /**
   * Removes ids that came with an unchanged payload more than 30 days ago (decision 0003), a few hundred at most, so
   * that nobody waits for it for more than a moment. Answers how many it removed: 0 when there is none left.
   * Any number of nodes may call it at once.
   */
  forgetSkippedIds(): Promise<number>
  /**
   * What keeps old versions of rows alive, the oldest of each kind: all that is written meanwhile stays beside them, and
   * slows whoever looks for it. Empty on an engine that keeps no versions.
   */
  heldSnapshots(): Promise<readonly HeldSnapshot[]>
  /** Resolves when the store answers; rejects with a `StorageFailure`. */
  ping(): Promise<void>
  /** Finishes what was begun, then closes. Safe to call twice. */
  close(): Promise<void>
}

/** The only error engines throw. `code` decides what a caller is told; `cause` is for the log. */
export class StorageFailure extends Error {
  /**
   * `storage_damaged`: bytes of the store are not what was written; reading them again does not help.
   * `tenant_moving`: nothing is wrong with the store, but the tenant is at home in another one (`MoveState`).
   */
  readonly code:
    | 'storage_full'
    | 'storage_unavailable'
    | 'storage_damaged'
    | 'storage_closed'
    | 'feed_locked'
    | 'tenant_moving'
  /**
   * `batches`: the store works and has stored nothing of what it was given, because it could not store all of it: without
   * the batch that is at fault, the others may succeed.
   */
  readonly scope: 'store' | 'batches'
  constructor(code: StorageFailure['code'], cause?: unknown, scope: StorageFailure['scope'] = 'store') {
    super(code, { cause })
    this.name = 'StorageFailure'
    this.code = code
    this.scope = scope
  }
}

/** A store that cannot be opened, or copied, as asked. `message` is a sentence for the operator that says what to do. */
export class StorageRefusal extends Error {
  readonly code:
    | 'newer_schema'
    | 'other_catalogue'
    | 'other_start_sequence'
    | 'not_a_store'
    | 'in_use'
    | 'old_server'
    | 'not_permitted'
    | 'already_exists'
  constructor(code: StorageRefusal['code'], message: string) {
    super(message)
    this.name = 'StorageRefusal'
    this.code = code
  }
}
