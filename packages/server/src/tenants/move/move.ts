/** Moving one tenant from one store to another (docs/decisions/0019). */
import type { Ticks } from '@property-events/protocol'
import type { Actor } from '../../audit/actor.ts'
import type { MoveState } from '../../events/feed.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { StoreRecord } from '../../store/store-records.ts'

/** How much of a feed the other store already has. */
interface PartAlreadyThere {
  /** Position of the last event; 0 for none. */
  readonly position: number
  /** It has the ids that came with an unchanged payload before this time. */
  readonly skippedUntil: Ticks
}

export interface MoveStore extends TenantExport {
  /** Tenants in a state other than `open`. */
  states(): Promise<ReadonlyMap<string, MoveState>>
  /**
   * Changes the state for all feeds of the tenant in one commit, which waits for publications under way. Everything that is published or
   * requested after it resolves meets the new state, on every node and thread. `otherState`: the tenant is not in the state `from`, or
   * does not exist; nothing was changed.
   */
  change(tenantId: string, from: MoveState, to: MoveState, actor: Actor): Promise<'done' | 'otherState'>
}

/** The log's part. */
export interface TenantExport {
  /**
   * Yields what the tenant's feeds hold beyond what the other store has: events together with their ids and subjects, so that each piece
   * may be the last; skipped ids; finally each feed's counter as it was when the feed was begun. No snapshot is held meanwhile. A
   * counter's `stampFloor` is after every window that was answered before the call.
   */
  exportTenant(
    tenantId: string,
    held: (key: FeedKey) => PartAlreadyThere,
    take: (records: readonly StoreRecord[]) => Promise<void>,
  ): Promise<void>
}

const states: readonly string[] = [
  'open',
  'leaving',
  'left',
  'abandoned',
  'deleting',
] satisfies readonly MoveState[]

/** As engines store it; null for `open`. */
export function moveStateOf(text: string | null): MoveState {
  if (text === null) return 'open'
  if (isMoveState(text)) return text
  throw new Error(`the store says ${text} of a tenant, which no version of this program knows`)
}

export function moveText(state: MoveState): string | null {
  return state === 'open' ? null : state
}

function isMoveState(text: string): text is MoveState {
  return states.includes(text) || text.startsWith('arriving ')
}

/** Whether a move is under way, to another store or to this one. A tenant that has left, or was taken back, is no longer being moved. */
export function isBeingMoved(state: MoveState): boolean {
  return state === 'leaving' || state.startsWith('arriving ')
}
