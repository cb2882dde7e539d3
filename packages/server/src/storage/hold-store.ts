/**
 * The port's part for holds (D17, docs/decisions/0028): a property or contact that is on hold is not erased, nor reduced by
 * retention, until a day has passed or the hold is ended.
 */
import type { HoldGround } from '@property-events/protocol'
import type { Actor } from './audit-store.ts'
import type { FeedKey } from './feed-key.ts'

export interface HoldRequest {
  /** UUIDv7. Added again with the same one, the hold that is there is answered. */
  readonly holdId: string
  readonly key: FeedKey
  /** Lower-case UUID of the property or contact. */
  readonly subjectId: string
  readonly ground: HoldGround
  /** At most 40 characters of `[A-Za-z0-9-]`: no person's name. */
  readonly caseRef: string | undefined
  /** The first millisecond at which it holds no more. */
  readonly untilMs: number
  /** The hold is on record in the same commit. */
  readonly actor: Actor
}

/** What is kept of a hold, for ever. */
export interface Hold extends Omit<HoldRequest, 'actor'> {
  readonly actor: string
  readonly addedMs: number
  /** When its expiry was reported, once. */
  readonly reportedMs: number | undefined
  /** When it was ended, and by whom. One that has only expired was not. */
  readonly endedMs: number | undefined
  readonly endedBy: string | undefined
}

export type AddHoldOutcome =
  | { readonly kind: 'added'; readonly hold: Hold }
  /** No such tenant. */
  | { readonly kind: 'unknownFeed' }
  /** The feed has no event of the property or contact. */
  | { readonly kind: 'unknownTarget' }
  /** The tenant is being moved to another store, or was. */
  | { readonly kind: 'tenantMoving' }

export type EndHoldOutcome =
  | { readonly kind: 'ended'; readonly hold: Hold }
  /** The tenant has none of this id. */
  | { readonly kind: 'unknownHold' }
  /** The tenant is being moved to another store, or was: the other store would not be told. */
  | { readonly kind: 'tenantMoving' }

/** A subject is on hold, by this one of its holds: the one that lasts longest. */
export interface OnHold {
  readonly kind: 'onHold'
  readonly holdId: string
  readonly untilMs: number
}

export interface HoldStore {
  /**
   * Durable when it resolves. No erasure of the subject, nor of one of its events, begins after that while the hold lasts; one
   * that had begun before goes on.
   */
  add(request: HoldRequest): Promise<AddHoldOutcome>
  /**
   * Ends a hold of the tenant, before its time or after. One that was ended before stays as it is. In the order of `add`, so that a
   * move takes along what was ended before the tenant was closed.
   */
  end(tenantId: string, holdId: string, actor: Actor): Promise<EndHoldOutcome>
  /** One of the tenant; `undefined`: it has none of this id. */
  find(tenantId: string, holdId: string): Promise<Hold | undefined>
  /** Those of the tenant after the given id, in the order in which they were added, `limit` at most. */
  list(tenantId: string, after: string | undefined, limit: number): Promise<readonly Hold[]>
  /** The hold that keeps a subject now; `undefined`: none does. For those who reduce or erase by rule. */
  active(key: FeedKey, subjectId: string): Promise<OnHold | undefined>
  /** Of each hold that has expired it tells once, over all nodes, and notes in the audit that it did. */
  reportExpired(): Promise<readonly Hold[]>
}

export type HoldState = 'active' | 'expired' | 'ended'

export function holdState({ untilMs, endedMs }: Pick<Hold, 'untilMs' | 'endedMs'>, nowMs: number): HoldState {
  if (endedMs !== undefined) return 'ended'
  return untilMs > nowMs ? 'active' : 'expired'
}

/** A hold that has just been added. */
export function addedHold(request: HoldRequest, addedMs: number): Hold {
  return { ...request, addedMs, reportedMs: undefined, endedMs: undefined, endedBy: undefined }
}
