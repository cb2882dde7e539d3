/**
 * The port's part for views of sets of branches (D11, docs/decisions/0042). Which there are follows from the grants of the keys that can be
 * used: nobody asks for a set, and none is given up by hand. They are filled and dropped in steps, on whatever node.
 */
import { branchSetId } from './branch-view.ts'
import type { BranchSetId } from './branch-view.ts'
import type { FoundKey, Grant } from './key-store.ts'

/**
 * - `filling`: events are copied to its views, and what is published meanwhile waits for its turn
 * - `ready`: each append enters its events
 * - `dropping`: no key is limited to these branches any more
 */
export type BranchSetState = 'filling' | 'ready' | 'dropping'

/** A set of branches of a tenant's property feed. */
export interface BranchSet {
  readonly tenantId: string
  readonly set: BranchSetId
  readonly branches: readonly string[]
  readonly state: BranchSetState
  /** While it is being filled: the position that events have been copied up to. */
  readonly filled: number
}

/** `more`: there is another step. `done`: its views are ready, or gone. `busy`: another node is at it. */
export type BranchSetStep = 'more' | 'done' | 'busy'

export interface BranchViewStore {
  /** All sets, in the order of tenants. */
  sets(): Promise<readonly BranchSet[]>
  /**
   * The sets that have steps before them: those that a grant names and that were not begun, which are begun with this; those that are
   * being filled or dropped; and those that no grant of a usable key names any more.
   */
  due(): Promise<readonly Pick<BranchSet, 'tenantId' | 'set'>[]>
  /**
   * One step, in one commit, of so many events. Publishers wait for none but the last one of a set, which takes the feed's counter. With
   * the last, `KeyStore.keysVersion` is another.
   */
  step(of: Pick<BranchSet, 'tenantId' | 'set'>, limit: number): Promise<BranchSetStep>
}

/** A grant by branch, as far as it asks for views: publishing needs none. */
export const scopeOfViews = 'property:read'

/** The sets whose views the grants of a key read. */
export function setsOfGrants(grants: readonly Grant[]): readonly Pick<BranchSet, 'tenantId' | 'set'>[] {
  return grants.flatMap(({ tenantId, scopes, branches }) =>
    branches !== undefined && scopes.includes(scopeOfViews) ? [{ tenantId, set: branchSetId(branches) }] : [],
  )
}

/** What a key is told by. `ready`: those of its sets that are. */
export function viewsBeingMade(
  wanted: readonly Pick<BranchSet, 'tenantId' | 'set'>[],
  ready: readonly Pick<BranchSet, 'tenantId' | 'set'>[],
): Pick<FoundKey, 'viewsBeingMade'> {
  const made = new Set(ready.map(({ tenantId, set }) => `${tenantId} ${set}`))
  const missing = wanted.filter(({ tenantId, set }) => !made.has(`${tenantId} ${set}`))
  return missing.length === 0 ? {} : { viewsBeingMade: missing.map(({ tenantId }) => tenantId) }
}
