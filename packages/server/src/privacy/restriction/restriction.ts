/**
 * The port's part for restricting contacts (D17, docs/decisions/0033): what was published about a contact is kept, but shown to nobody,
 * until the restriction is lifted. The bytes are in a separate table that no answer reads, and the events are in their reduced form
 * meanwhile.
 */
import type { RestrictionReason } from '@property-events/protocol'
import type { AppendOutcome } from '../../events/append/append-batch.ts'
import type { Actor } from '../../audit/actor.ts'
import type { ReduceOutcome } from '../erasure/erasure.ts'
import type { ReadSubjectQuery, StoredEvent } from '../../events/event-log.ts'
import type { FeedKey } from '../../events/feed-key.ts'

export interface RestrictionRequest {
  /** UUIDv7. If a restriction is begun again with the same id, the existing one is returned. */
  readonly restrictionId: string
  /** The key of a contact feed. */
  readonly key: FeedKey
  /** Lower-case UUID. */
  readonly subjectId: string
  readonly reason: RestrictionReason
  /** At most 40 characters of `[A-Za-z0-9-]`: no person's name. */
  readonly caseRef: string | undefined
  /** The commit that begins the restriction also records it in the audit. */
  readonly actor: Actor
  /** Lower-case UUID for the event that removes the contact from consumers' copies. */
  readonly closingEventId: string
}

/**
 * - `hiding`: earlier events still show their payloads
 * - `hidden`: no event shows one; nodes may still have earlier pages
 * - `restricted`: no answer shows one
 * - `lifting`: the contact was published again; earlier events get their payloads back
 * - `lifted`: everything is as it was
 * - `erased`: an erasure of the contact ended it
 */
export type RestrictionState = 'hiding' | 'hidden' | 'restricted' | 'lifting' | 'lifted' | 'erased'

/** The record of a restriction, kept for ever. */
export interface Restriction extends Omit<RestrictionRequest, 'actor' | 'closingEventId'> {
  readonly actor: string
  readonly state: RestrictionState
  /** The event that removed the contact from consumers' copies. */
  readonly closing: { readonly eventId: string; readonly sequenceNumber: number }
  /** Milliseconds since 1970, like the next ones. */
  readonly begunMs: number
  readonly restrictedMs: number | undefined
  /** When it was ended, and by whom: lifted, or erased. */
  readonly endedMs: number | undefined
  readonly endedBy: string | undefined
}

/** The progress of its steps, as positions. */
export interface RestrictionProgress {
  readonly nextPosition: number
  readonly lastPosition: number
}

export interface OpenRestriction extends Restriction {
  readonly acknowledgedBy: readonly string[]
}

type NotAppended = Exclude<
  AppendOutcome,
  { readonly kind: 'stored' | 'idConflict' | 'unknownSubject' | 'unknownFeed' | 'branchNotGranted' }
>

export type RestrictOutcome =
  /** It has begun, or there was one already. */
  | { readonly kind: 'restricted'; readonly restriction: Restriction }
  /** No such tenant. */
  | { readonly kind: 'unknownFeed' }
  /** The feed has no event of the contact. */
  | { readonly kind: 'unknownTarget' }
  /** As for an append: nothing was begun. */
  | NotAppended

export type LiftOutcome =
  /** It is being lifted, or has ended before. */
  | { readonly kind: 'lifting'; readonly restriction: Restriction }
  /** The tenant has none with this id. */
  | { readonly kind: 'unknownRestriction' }
  | NotAppended

export interface LiftRequest {
  readonly tenantId: string
  readonly restrictionId: string
  readonly actor: Actor
  /** Lower-case UUID for the event that publishes the contact again. */
  readonly reopeningEventId: string
}

/** The records of restrictions, and the nodes that have said that they hold nothing from before. */
export interface RestrictionRecords {
  /** Restrictions that are `hiding`, `hidden` or `lifting`, the oldest first, with the nodes that hold nothing from before. */
  open(): Promise<readonly OpenRestriction[]>
  /** Like `ErasureStore.acknowledge`: when every live node has said so, a `hidden` restriction becomes `restricted`. */
  acknowledge(restrictionId: string, nodeId: string | undefined): Promise<'restricted' | 'waiting'>
  /** One restriction of the tenant; `undefined` if it has none with this id. */
  find(tenantId: string, restrictionId: string): Promise<Restriction | undefined>
  /** The tenant's restrictions after the given id, in the order in which they were begun, at most `limit`. */
  list(tenantId: string, after: string | undefined, limit: number): Promise<readonly Restriction[]>
}

/** What hides events and shows them again, in the log. */
export interface Restricting {
  /**
   * Begins a restriction in one commit, durable when it resolves: it appends the event that removes the contact from consumers' copies,
   * and hides the latest event before it. From then on, anything published about the contact is stored but not shown.
   */
  begin(request: RestrictionRequest): Promise<RestrictOutcome>
  /**
   * Lifts a restriction: in one commit it appends an event with the contact's latest published payload, in its published form. Later
   * steps give earlier events their payloads back.
   */
  lift(request: LiftRequest): Promise<LiftOutcome>
  /**
   * Hides the next events of a restriction, or shows them again: at most `limit` and fewer if they are large, in one commit that raises
   * the feed's revision. Types, ids, numbers and times stay, and a repeat of an id remains a repeat.
   */
  step(restrictionId: string, limit: number): Promise<ReduceOutcome>
  /** What is kept of a contact and not shown, as it was published: for operators, who may reveal it. */
  kept(query: ReadSubjectQuery): Promise<readonly StoredEvent[]>
}

export interface RestrictionStore extends RestrictionRecords, Restricting {}

/** Whether the restriction prevents the contact from being shown. */
export function isInForce({ state }: Pick<Restriction, 'state'>): boolean {
  return state === 'hiding' || state === 'hidden' || state === 'restricted'
}

/** Whether a restriction has ended and nothing is left to do for it. */
export function isOver({ state }: Pick<Restriction, 'state'>): boolean {
  return state === 'lifted' || state === 'erased'
}
