/**
 * The port's part for erasure (D17, docs/decisions/0027): payloads go, numbers stay. An erasure begins in one commit and is carried out
 * in steps that any node can continue, so that no step holds a feed's counter for longer than a moment.
 */
import type { ErasureReason } from '@property-events/protocol'
import type { FeedRefusal } from '../../events/feed.ts'
import type { Actor } from '../../audit/actor.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { OnHold } from '../hold/hold.ts'
import type { DisclosurePiece } from '../disclosure/disclosure.ts'

/** Everything about one property or contact, or one event that is not its subject's latest. Lower-case UUIDs. */
export type ErasureTarget =
  | { readonly kind: 'subject'; readonly subjectId: string }
  | { readonly kind: 'event'; readonly eventId: string }

export interface ErasureRequest {
  /** UUIDv7. If an erasure is begun again with the same id, the existing one is returned. */
  readonly erasureId: string
  readonly key: FeedKey
  readonly target: ErasureTarget
  readonly reason: ErasureReason
  /** At most 40 characters of `[A-Za-z0-9-]`: no person's name. */
  readonly caseRef: string | undefined
  /** `YYYY-MM-DD`: when the request was received. */
  readonly receivedOn: string | undefined
  /** The commit that begins the erasure also records it in the audit. */
  readonly actor: Actor
  /** Lower-case UUID for the event that closes the subject. */
  readonly closingEventId: string
}

/**
 * - `reducing`: earlier events still have their payloads
 * - `reduced`: no row of the store has one; nodes may still have earlier pages
 * - `unreachable`: no row, segment or answer has one
 * - `overwritten`: the free space of the store has none either
 */
export type ErasureState = 'reducing' | 'reduced' | 'unreachable' | 'overwritten'

/** The record of an erasure, kept for ever. */
export interface Erasure extends Omit<ErasureRequest, 'actor' | 'closingEventId'> {
  readonly actor: string
  readonly state: ErasureState
  /** The event that closed the subject; `undefined` if one event was erased. */
  readonly closing: { readonly eventId: string; readonly sequenceNumber: number } | undefined
  /** The number of events to reduce, and how many of them have been reduced. Events that an earlier erasure reduced count as well. */
  readonly events: number
  readonly reduced: number
  /** The feed's revision after the last step that removed a payload. */
  readonly revision: number
  /** Milliseconds since 1970, like the next ones. */
  readonly begunMs: number
  readonly reducedMs: number | undefined
  readonly unreachableMs: number | undefined
  readonly overwrittenMs: number | undefined
}

export type BeginErasureOutcome =
  | { readonly kind: 'begun'; readonly erasure: Erasure }
  | ErasureRefusal
  /** As for an append: nothing was begun. */
  | FeedRefusal
  | { readonly kind: 'clockBehind'; readonly headCreated: bigint; readonly now: bigint }

export type ErasureRefusal =
  /** No such tenant. */
  | { readonly kind: 'unknownFeed' }
  /** The feed has no event of the subject, or no event with this id. */
  | { readonly kind: 'unknownTarget' }
  /** The subject's latest event holds its present state: a subject can only be erased as a whole. */
  | { readonly kind: 'eventIsLatest' }
  /** The subject must not be erased yet (`HoldStore`). */
  | OnHold

export type ReduceOutcome =
  /** More is left. */
  | { readonly kind: 'reduced'; readonly events: number }
  /** Nothing of it is left to reduce; the erasure is `reduced`, or further. */
  | { readonly kind: 'finished' }
  /** Another node is working on it. */
  | { readonly kind: 'busy' }
  /** What another store has already taken over must not change here. */
  | FeedRefusal

/**
 * What keys had been sent of the feed when an erasure became `unreachable`. Anything sent after that has no payload any more, and the
 * pieces of an hour cannot tell the two apart.
 */
export interface EarlierDisclosures {
  /** Pieces of this hour (since 1970) and later are given here; those of earlier hours are in the ledger. */
  readonly fromHour: number
  readonly pieces: readonly DisclosurePiece[]
  /** A run had reported nothing since this time, so it may have sent more than the pieces show. */
  readonly doubtMs: number | undefined
}

/** What a step raised the revision for. */
export interface Reduction {
  /** The feed's revision after that step. */
  readonly revision: number
  /** The numbers of the events whose payloads it reduced, ascending. */
  readonly sequenceNumbers: readonly number[]
}

/** The records of erasures, the nodes that have said that they hold nothing from before, and what was reduced. */
export interface ErasureRecords {
  /** Erasures that are `reducing` or `reduced`, the oldest first, with the nodes that have said that they hold nothing from before. */
  open(): Promise<readonly OpenErasure[]>
  /**
   * The node no longer holds anything that it read of the feed before the erasure was `reduced`, and has added what it had sent of it to
   * the ledger. When every live node (`NodeStore.live`) has said so, the erasure becomes `unreachable`. A caller that only checks passes
   * no node.
   */
  acknowledge(erasureId: string, nodeId: string | undefined): Promise<'unreachable' | 'waiting'>
  /** What keys had been sent by then; `undefined`: it is not `unreachable`. */
  sentBefore(erasureId: string): Promise<EarlierDisclosures | undefined>
  /**
   * The `unreachable` erasures of every tenant, the oldest first: their rows are reduced, and free space may still hold the old bytes.
   */
  waiting(): Promise<readonly WaitingErasure[]>
  /**
   * Makes those of them that are `unreachable` `overwritten`: the caller has read them with `waiting`, and has rewritten the store since
   * then (`StorageEngine.rewrite`). The same commit records the rewrite in the audit. Returns how many there were.
   */
  markOverwritten(erasureIds: readonly string[], actor: Actor): Promise<number>
  /** One erasure of the tenant; `undefined` if it has none with this id. */
  find(tenantId: string, erasureId: string): Promise<Erasure | undefined>
  /** The tenant's erasures after the given id, in the order in which they were begun, at most `limit`. */
  list(tenantId: string, after: string | undefined, limit: number): Promise<readonly Erasure[]>
  /**
   * What steps after a revision have reduced, in whole steps, with at most `limit` events; a single step may have more. For copies that
   * keep the history of a feed. `branches`: only events in one of them; a step without any is left out.
   */
  reductions(
    key: FeedKey,
    afterRevision: number,
    limit: number,
    branches?: readonly string[],
  ): Promise<readonly Reduction[]>
}

/** What reduces events, in the log. */
export interface Erasing {
  /**
   * Begins an erasure in one commit, durable when it resolves. For a subject it appends the event that closes it, itself without a
   * payload. It covers the subject's events up to that one, and none that is published later.
   */
  begin(request: ErasureRequest): Promise<BeginErasureOutcome>
  /**
   * Like `begin` for a subject, if the event at this position is still its latest. `changed`: it is not, and nothing was begun. For
   * erasures that nobody requested.
   */
  beginUnchanged(
    request: ErasureRequest,
    position: number,
  ): Promise<BeginErasureOutcome | { readonly kind: 'changed' }>
  /** How many events `begin` would reduce. Nothing is changed. */
  count(
    key: FeedKey,
    target: ErasureTarget,
  ): Promise<{ readonly kind: 'counted'; readonly events: number } | ErasureRefusal>
  /**
   * Reduces the next events of an erasure, at most `limit` and fewer if they are large, in one commit that raises the feed's revision.
   * Ids, numbers, times, types and categories stay, and the ids stay taken; content hashes are removed. If nothing is left, the erasure
   * becomes `reduced`.
   */
  reduce(erasureId: string, limit: number): Promise<ReduceOutcome>
}

export interface ErasureStore extends ErasureRecords, Erasing {}

export interface WaitingErasure {
  readonly erasureId: string
  /** Milliseconds since 1970. */
  readonly unreachableMs: number
}

/** For an operator: how many erasures wait to be overwritten, and since when the oldest does, in milliseconds since 1970. */
export interface WaitingErasures {
  readonly count: number
  readonly oldestMs: number | undefined
}

export interface OpenErasure extends Erasure {
  readonly acknowledgedBy: readonly string[]
}

/**
 * The clocks of nodes may differ by this much: pieces of hours that ended no longer than this before an erasure began are recorded with
 * it.
 */
const clocksDifferMs = 600_000

/** The first hour whose pieces are recorded with an erasure. */
export function firstDisclosureHour(begunMs: number): number {
  return Math.floor((begunMs - clocksDifferMs) / 3_600_000)
}

/** A step reads at most this much, whatever its limit: 4 ms of writing. */
const bytesPerReduction = 1_048_576

/** The rows that one step takes, one at least, and whether these are all. */
export function rowsOfStep<Row>(
  rows: Iterable<Row>,
  limit: number,
  bytesOf: (row: Row) => number,
): { readonly rows: readonly Row[]; readonly isLast: boolean } {
  const taken: Row[] = []
  let bytes = 0
  for (const row of rows) {
    bytes += bytesOf(row)
    const isFull = taken.length >= limit || bytes > bytesPerReduction
    if (taken.length > 0 && isFull) return { rows: taken, isLast: false }
    taken.push(row)
  }
  return { rows: taken, isLast: true }
}
