/**
 * The port's part for erasure (D17, docs/decisions/0027): payloads go, numbers stay. An erasure is begun in one commit and carried
 * out in steps that any node goes on with, so that no step holds a feed's counter for longer than a moment.
 */
import type { ErasureReason } from '@property-events/protocol'
import type { Actor } from './audit-store.ts'
import type { FeedKey } from './feed-key.ts'
import type { OnHold } from './hold-store.ts'
import type { SentPiece } from './ledger-store.ts'

/** Everything about one property or contact, or one event that is not its subject's latest. Lower-case UUIDs. */
export type ErasureTarget =
  | { readonly kind: 'subject'; readonly subjectId: string }
  | { readonly kind: 'event'; readonly eventId: string }

export interface ErasureRequest {
  /** UUIDv7. Begun again with the same one, the erasure that is there is answered. */
  readonly erasureId: string
  readonly key: FeedKey
  readonly target: ErasureTarget
  readonly reason: ErasureReason
  /** At most 40 characters of `[A-Za-z0-9-]`: no person's name. */
  readonly caseRef: string | undefined
  /** `YYYY-MM-DD`: when the request was received. */
  readonly receivedOn: string | undefined
  /** The erasure is on record in the same commit that begins it. */
  readonly actor: Actor
  /** Lower-case UUID for the event that closes the subject. */
  readonly closingEventId: string
}

/**
 * - `reducing`: earlier events still have their payloads
 * - `reduced`: no row of the store has one; nodes may still have pages of before
 * - `unreachable`: no row, segment or answer has one
 * - `overwritten`: nor has the free space of the store
 */
export type ErasureState = 'reducing' | 'reduced' | 'unreachable' | 'overwritten'

/** What is kept of an erasure, for ever. */
export interface Erasure extends Omit<ErasureRequest, 'actor' | 'closingEventId'> {
  readonly actor: string
  readonly state: ErasureState
  /** The event that closed the subject; `undefined` where one event was erased. */
  readonly closing: { readonly eventId: string; readonly sequenceNumber: number } | undefined
  /** Events that were to be reduced, and how many of them have been. Those that an earlier erasure reduced count as well. */
  readonly events: number
  readonly reduced: number
  /** The feed's revision after the last step that found a payload to take. */
  readonly revision: number
  /** Milliseconds since 1970, as the next ones. */
  readonly begunMs: number
  readonly reducedMs: number | undefined
  readonly unreachableMs: number | undefined
  readonly overwrittenMs: number | undefined
}

export type BeginErasureOutcome =
  | { readonly kind: 'begun'; readonly erasure: Erasure }
  | ErasureRefusal
  /** As an append answers: nothing was begun. */
  | { readonly kind: 'epochRequired' }
  | { readonly kind: 'tenantMoving' }
  | { readonly kind: 'clockBehind'; readonly headCreated: bigint; readonly now: bigint }

export type ErasureRefusal =
  /** No such tenant. */
  | { readonly kind: 'unknownFeed' }
  /** The feed has no event of it, or no event with this id. */
  | { readonly kind: 'unknownTarget' }
  /** The subject's latest event says how the subject is now: a subject is erased as a whole. */
  | { readonly kind: 'eventIsLatest' }
  /** The subject must not be erased yet (`HoldStore`). */
  | OnHold

export type ReduceOutcome =
  /** More is left. */
  | { readonly kind: 'reduced'; readonly events: number }
  /** Nothing is left of it to reduce; the erasure is `reduced`, or further. */
  | { readonly kind: 'finished' }
  /** Another node is at it, or the tenant is being moved to another store, or was (`MoveState`). */
  | { readonly kind: 'busy' }

/**
 * What keys had been sent of the feed when an erasure became `unreachable`: what is sent after that has no payload any more, and
 * the pieces of an hour do not tell one from the other.
 */
export interface SentBefore {
  /** Pieces of this hour (since 1970) and later are given here; those of earlier hours are the ledger's. */
  readonly fromHour: number
  readonly pieces: readonly SentPiece[]
  /** A run had said nothing since this time: it may have sent what no piece tells. */
  readonly doubtMs: number | undefined
}

/** What a step raised the revision for. */
export interface Reduction {
  /** The feed's revision since that step. */
  readonly revision: number
  /** Of the events whose payloads it reduced, ascending. */
  readonly sequenceNumbers: readonly number[]
}

export interface ErasureStore {
  /**
   * Begins an erasure in one commit, durable when it resolves. Of a subject it appends the event that closes it, itself without
   * a payload; events of the subject up to there are to be reduced, and none that is published later.
   */
  begin(request: ErasureRequest): Promise<BeginErasureOutcome>
  /**
   * As `begin` of a subject, where the event at this position is still its latest. `changed`: it is not, and nothing was begun. For
   * erasing what nobody has asked for.
   */
  beginUnchanged(
    request: ErasureRequest,
    position: number,
  ): Promise<BeginErasureOutcome | { readonly kind: 'changed' }>
  /** How many events `begin` would have reduced. Nothing is changed. */
  count(
    key: FeedKey,
    target: ErasureTarget,
  ): Promise<{ readonly kind: 'counted'; readonly events: number } | ErasureRefusal>
  /**
   * Reduces the next events of an erasure, `limit` at most and fewer where they are large, in one commit that raises the feed's
   * revision. Ids, numbers, times, types and categories stay, and the ids stay taken; content hashes go. Where nothing is left
   * the erasure becomes `reduced`.
   */
  reduce(erasureId: string, limit: number): Promise<ReduceOutcome>
  /** Erasures that are `reducing` or `reduced`, the oldest first, with the nodes that have said they hold nothing of before. */
  open(): Promise<readonly OpenErasure[]>
  /**
   * The node holds nothing that it read of the feed before the erasure was `reduced`, and has added to the ledger what it had sent of
   * it. When every live node (`NodeStore.live`) has
   * said so, the erasure becomes `unreachable`; also asked with no node, by one that only looks.
   */
  acknowledge(erasureId: string, nodeId: string | undefined): Promise<'unreachable' | 'waiting'>
  /** What keys had been sent then; `undefined`: it is not `unreachable`, or became so with a version that did not note it. */
  sentBefore(erasureId: string): Promise<SentBefore | undefined>
  /** Of every tenant, those that are `unreachable`, the oldest first: their rows are reduced, and free space may hold what they were. */
  waiting(): Promise<readonly WaitingErasure[]>
  /**
   * Those of them that are `unreachable` become `overwritten`: the caller has read them with `waiting`, and rewritten the store
   * since then (`StorageEngine.rewrite`). That it was rewritten is on record in the same commit. Answers how many they were.
   */
  markOverwritten(erasureIds: readonly string[], actor: Actor): Promise<number>
  /** One of the tenant; `undefined`: it has none of this id. */
  find(tenantId: string, erasureId: string): Promise<Erasure | undefined>
  /** Those of the tenant after the given id, in the order in which they were begun, `limit` at most. */
  list(tenantId: string, after: string | undefined, limit: number): Promise<readonly Erasure[]>
  /**
   * What steps after a revision have reduced, in whole steps, of `limit` events at most; a single step may have more. For
   * copies that keep the history of a feed. `branches`: only events that are of one of them; a step without any is left out.
   */
  reductions(
    key: FeedKey,
    afterRevision: number,
    limit: number,
    branches?: readonly string[],
  ): Promise<readonly Reduction[]>
}

export interface WaitingErasure {
  readonly erasureId: string
  /** Milliseconds since 1970. */
  readonly unreachableMs: number
}

/** For an operator: how many wait to be overwritten, and since when the oldest does, in milliseconds since 1970. */
export interface WaitingErasures {
  readonly count: number
  readonly oldestMs: number | undefined
}

export interface OpenErasure extends Erasure {
  readonly acknowledgedBy: readonly string[]
}

/** Clocks of nodes may differ by so much: pieces of hours that ended no longer before an erasure began are noted with it. */
const clocksDifferMs = 600_000

/** The first hour whose pieces are noted with an erasure. */
export function firstNotedHour(begunMs: number): number {
  return Math.floor((begunMs - clocksDifferMs) / 3_600_000)
}

/** A step reads this much at most, whatever its limit: 4 ms of writing. */
export const bytesPerReduction = 1_048_576
