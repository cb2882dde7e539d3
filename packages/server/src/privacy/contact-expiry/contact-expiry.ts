/**
 * The port's part for contacts that have not changed for a long time (D17, docs/decisions/0034): a list that the agency can look at, and
 * take contacts off, before they are erased.
 */
import type { Ticks } from '@property-events/protocol'
import type { FeedRefusal } from '../../events/feed.ts'
import type { Actor } from '../../audit/actor.ts'
import { beginningOfDay, millisecondsPerDay } from '../retention/rules.ts'

/** A contact on the list, with its latest event. */
export interface ExpiringContact {
  readonly subjectId: string
  /** The position of its latest event. */
  readonly position: number
  /** When that event was made or, if later, when the agency kept the contact. Milliseconds since 1970. */
  readonly unchangedSinceMs: number
  /** The beginning of the day on which it was put on the list. */
  readonly listedMs: number
}

export interface ExpiryStep {
  readonly tenantId: string
  /** Contacts that have neither changed nor been kept since before this are put on the list. */
  readonly before: Ticks
  /** The day from which they are on it. */
  readonly todayMs: number
  /** The number of contacts to look at. */
  readonly limit: number
}

export interface ExpiryStore {
  /**
   * Puts contacts on the list, in one commit. Contacts whose latest event is an erased one are left off. Returns how many it looked at: 0
   * when none is left.
   */
  enlist(step: ExpiryStep): Promise<number>
  /**
   * Contacts on the list after the given one, by their ids, at most `limit`, without those that have changed since they were put on it.
   */
  listed(tenantId: string, after: string | undefined, limit: number): Promise<readonly ExpiringContact[]>
  /**
   * Takes the contact off the list, and keeps it off for as long as if it had changed now. Copies and moves of the tenant include this.
   */
  keep(tenantId: string, subjectId: string, actor: Actor): Promise<KeepOutcome>
}

/** `unknownContact`: the tenant has none with this reference, or it was erased, or is restricted. */
export type KeepOutcome = { readonly kind: 'kept' } | { readonly kind: 'unknownContact' } | FeedRefusal

/** How long a contact is on the list before it is erased. */
export const expiryNoticeDays = 30

const contactsPerPiece = 200

/** The beginning of the day on which the contact is erased, by a rule of this many days. Milliseconds since 1970. */
export function expiryDayMs({ unchangedSinceMs, listedMs }: ExpiringContact, days: number): number {
  const unchanged = beginningOfDay(unchangedSinceMs) + (days + 1) * millisecondsPerDay
  return Math.max(unchanged, listedMs + expiryNoticeDays * millisecondsPerDay)
}

/** The contacts on the list, in no order. */
export async function* listedContacts(
  expiry: ExpiryStore,
  tenantId: string,
): AsyncGenerator<ExpiringContact> {
  for (let after: string | undefined; ;) {
    const piece = await expiry.listed(tenantId, after, contactsPerPiece)
    yield* piece
    after = piece.at(-1)?.subjectId
    if (piece.length < contactsPerPiece) return
  }
}
