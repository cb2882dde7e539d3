/**
 * The port's part for contacts that have not changed for long (D17, docs/decisions/0034): a list that the agency can look at, and keep
 * contacts off, before they are erased.
 */
import type { Ticks } from '@property-events/protocol'
import type { Actor } from './audit-store.ts'

/** A contact on the list, with its latest event. */
export interface ExpiringContact {
  readonly subjectId: string
  /** Of its latest event. */
  readonly position: number
  /** When that was made or, where it comes later, when the agency has said that the contact is to be kept. Milliseconds since 1970. */
  readonly unchangedSinceMs: number
  /** The beginning of the day on which it came on the list. */
  readonly listedMs: number
}

export interface ExpiryStep {
  readonly tenantId: string
  /** Contacts that have not changed, nor were kept, since before this are to be on the list. */
  readonly before: Ticks
  /** Since when they are on it. */
  readonly todayMs: number
  /** So many are looked at. */
  readonly limit: number
}

export interface ExpiryStore {
  /**
   * Puts contacts on the list, in one commit. Those whose latest event is an erased one are left off. Answers how many it looked at:
   * 0 when there is none left.
   */
  enlist(step: ExpiryStep): Promise<number>
  /** Those on the list after the given one, by their ids, `limit` at most. Without those that have changed since they came on it. */
  listed(tenantId: string, after: string | undefined, limit: number): Promise<readonly ExpiringContact[]>
  /**
   * Takes the contact off the list, and off it for as long as if it had changed now. Copies and moves of the tenant take it along.
   */
  keep(tenantId: string, subjectId: string, actor: Actor): Promise<KeepOutcome>
}

/**
 * - `unknownContact`: the tenant has none with this reference, or it was erased, or is restricted
 * - `tenantMoving`: the tenant is being moved to another store, or was, which would not be told
 */
export type KeepOutcome = 'kept' | 'unknownContact' | 'tenantMoving'
