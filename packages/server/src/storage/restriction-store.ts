/**
 * The port's part for restricting contacts (D17, docs/decisions/0033): what was published of a contact is kept, and shown to
 * nobody, until the restriction is lifted. The bytes lie in a table of their own that no answer reads, and the events stand in
 * their reduced form meanwhile.
 */
import type { RestrictionReason } from '@property-events/protocol'
import type { AppendOutcome } from './append-batch.ts'
import type { Actor } from './audit-store.ts'
import type { ReduceOutcome } from './erasure-store.ts'
import type { ReadSubjectQuery, StoredEvent } from './event-store.ts'
import type { FeedKey } from './feed-key.ts'

export interface RestrictionRequest {
  /** UUIDv7. Begun again with the same one, the restriction that is there is answered. */
  readonly restrictionId: string
  /** Of a contact feed. */
  readonly key: FeedKey
  /** Lower-case UUID. */
  readonly subjectId: string
  readonly reason: RestrictionReason
  /** At most 40 characters of `[A-Za-z0-9-]`: no person's name. */
  readonly caseRef: string | undefined
  /** The restriction is on record in the same commit that begins it. */
  readonly actor: Actor
  /** Lower-case UUID for the event that takes the contact from consumers. */
  readonly closingEventId: string
}

/**
 * - `hiding`: earlier events still show their payloads
 * - `hidden`: no event shows one; nodes may still have pages of before
 * - `restricted`: no answer shows one
 * - `lifting`: it was published again; earlier events get their payloads back
 * - `lifted`: all is as it was
 * - `erased`: an erasure of the contact ended it
 */
export type RestrictionState = 'hiding' | 'hidden' | 'restricted' | 'lifting' | 'lifted' | 'erased'

/** What is kept of a restriction, for ever. */
export interface Restriction extends Omit<RestrictionRequest, 'actor' | 'closingEventId'> {
  readonly actor: string
  readonly state: RestrictionState
  /** The event that took the contact from consumers. */
  readonly closing: { readonly eventId: string; readonly sequenceNumber: number }
  /** Milliseconds since 1970, as the next ones. */
  readonly begunMs: number
  readonly restrictedMs: number | undefined
  /** When it was ended, and by whom: lifted, or erased. */
  readonly endedMs: number | undefined
  readonly endedBy: string | undefined
}

/** How far its steps have come: positions. */
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
  /** As an append answers: nothing was begun. */
  | NotAppended

export type LiftOutcome =
  /** It is being lifted, or was ended before. */
  | { readonly kind: 'lifting'; readonly restriction: Restriction }
  /** The tenant has none of this id. */
  | { readonly kind: 'unknownRestriction' }
  | NotAppended

export interface LiftRequest {
  readonly tenantId: string
  readonly restrictionId: string
  readonly actor: Actor
  /** Lower-case UUID for the event that publishes the contact again. */
  readonly reopeningEventId: string
}

export interface RestrictionStore {
  /**
   * Begins a restriction in one commit, durable when it resolves: it appends the event that takes the contact from consumers, and
   * hides the latest event before it. From then on what is published of the contact is stored and not shown.
   */
  begin(request: RestrictionRequest): Promise<RestrictOutcome>
  /**
   * Lifts a restriction: in one commit it appends an event with the latest that was published of the contact, as what it was
   * published. Later steps give earlier events their payloads back.
   */
  lift(request: LiftRequest): Promise<LiftOutcome>
  /**
   * Hides the next events of a restriction, or shows them again: `limit` at most and fewer where they are large, in one commit that
   * raises the feed's revision. Types, ids, numbers and times stay, and ids stay what they were: a repeat is a repeat.
   */
  step(restrictionId: string, limit: number): Promise<ReduceOutcome>
  /** Those that are `hiding`, `hidden` or `lifting`, the oldest first, with the nodes that hold nothing of before. */
  open(): Promise<readonly OpenRestriction[]>
  /** As `ErasureStore.acknowledge`: when every live node has said so, a `hidden` restriction becomes `restricted`. */
  acknowledge(restrictionId: string, nodeId: string | undefined): Promise<'restricted' | 'waiting'>
  /** One of the tenant; `undefined`: it has none of this id. */
  find(tenantId: string, restrictionId: string): Promise<Restriction | undefined>
  /** Those of the tenant after the given id, in the order in which they were begun, `limit` at most. */
  list(tenantId: string, after: string | undefined, limit: number): Promise<readonly Restriction[]>
  /** What is kept of a contact and not shown, as it was published: for operators, who may reveal it. */
  kept(query: ReadSubjectQuery): Promise<readonly StoredEvent[]>
}

/** The restriction keeps the contact from being shown. */
export function isInForce({ state }: Pick<Restriction, 'state'>): boolean {
  return state === 'hiding' || state === 'hidden' || state === 'restricted'
}

/** What an ended restriction that nothing is left to do for is. */
export function isOver({ state }: Pick<Restriction, 'state'>): boolean {
  return state === 'lifted' || state === 'erased'
}
