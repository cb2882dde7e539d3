/**
 * The port's part for holds (D17, docs/decisions/0028): a property or contact on hold is neither erased nor reduced by retention, until a
 * day has passed or the hold is ended.
 */
import type { HoldGround } from '@property-events/protocol'
import type { FeedRefusal } from '../../events/feed.ts'
import type { Actor } from '../../audit/actor.ts'
import type { FeedKey } from '../../events/feed-key.ts'

export interface HoldRequest {
  /** UUIDv7. If a hold is added again with the same id, the existing one is returned. */
  readonly holdId: string
  readonly key: FeedKey
  /** Lower-case UUID of the property or contact. */
  readonly subjectId: string
  readonly ground: HoldGround
  /** At most 40 characters of `[A-Za-z0-9-]`: no person's name. */
  readonly caseRef: string | undefined
  /** The first millisecond at which the hold has expired. */
  readonly untilMs: number
  /** The same commit records the hold in the audit. */
  readonly actor: Actor
}

/** The record of a hold, kept for ever. */
export interface Hold extends Omit<HoldRequest, 'actor'> {
  readonly actor: string
  readonly addedMs: number
  /** When its expiry was reported, once. */
  readonly reportedMs: number | undefined
  /** When it was ended, and by whom; not set for a hold that has only expired. */
  readonly endedMs: number | undefined
  readonly endedBy: string | undefined
}

export type AddHoldOutcome =
  | { readonly kind: 'added'; readonly hold: Hold }
  /** The feed has no event of the property or contact. */
  | { readonly kind: 'unknownTarget' }
  | FeedRefusal

export type EndHoldOutcome =
  | { readonly kind: 'ended'; readonly hold: Hold }
  /** The tenant has none with this id. */
  | { readonly kind: 'unknownHold' }
  | FeedRefusal

/** A subject is on hold; this is its longest-lasting hold. */
export interface OnHold {
  readonly kind: 'onHold'
  readonly holdId: string
  readonly untilMs: number
}

export interface HoldStore {
  /**
   * Durable when it resolves. After that, no erasure of the subject or of one of its events begins while the hold lasts; one that began
   * earlier continues.
   */
  add(request: HoldRequest): Promise<AddHoldOutcome>
  /**
   * Ends a hold of the tenant, before its time or after. A hold that was ended earlier stays as it is. Ordered with `add`, so that a move
   * includes holds that were ended before the tenant was closed.
   */
  end(tenantId: string, holdId: string, actor: Actor): Promise<EndHoldOutcome>
  /** One hold of the tenant; `undefined` if it has none with this id. */
  find(tenantId: string, holdId: string): Promise<Hold | undefined>
  /** The tenant's holds after the given id, in the order in which they were added, at most `limit`. */
  list(tenantId: string, after: string | undefined, limit: number): Promise<readonly Hold[]>
  /** The hold that protects a subject now; `undefined`: none does. For code that reduces or erases by rule. */
  active(key: FeedKey, subjectId: string): Promise<OnHold | undefined>
  /** Returns each expired hold once, over all nodes, and records in the audit that it did. */
  reportExpired(): Promise<readonly Hold[]>
}

type HoldState = 'active' | 'expired' | 'ended'

export function holdState({ untilMs, endedMs }: Pick<Hold, 'untilMs' | 'endedMs'>, nowMs: number): HoldState {
  if (endedMs !== undefined) return 'ended'
  return untilMs > nowMs ? 'active' : 'expired'
}

/** The row of a new hold. */
export function addedHold(request: HoldRequest, addedMs: number): Hold {
  return { ...request, addedMs, reportedMs: undefined, endedMs: undefined, endedBy: undefined }
}
