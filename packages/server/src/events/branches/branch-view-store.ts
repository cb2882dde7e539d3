/**
 * The port's part for views of sets of branches (D11, docs/decisions/0042). The grants of usable keys determine which sets there are:
 * nobody requests a set, and nobody removes one by hand. Sets are filled and dropped in steps, on any node.
 */
import { branchSetId } from './branch-view.ts'
import type { BranchSetId } from './branch-view.ts'
import type { FoundKey, Grant } from '../../keys/key.ts'

/**
 * - `filling`: events are being copied to its views, and what is published meanwhile waits for its turn
 * - `ready`: each append adds its events
 * - `dropping`: no key is limited to these branches any more
 */
export type BranchSetState = 'filling' | 'ready' | 'dropping'

/** A set of branches of a tenant's property feed. */
export interface BranchSet {
  readonly tenantId: string
  readonly set: BranchSetId
  readonly branches: readonly string[]
  readonly state: BranchSetState
  /** While the set is being filled: the position up to which events have been copied. */
  readonly filled: number
}

/** `more`: there is another step. `done`: the views are ready, or gone. `busy`: another node is working on the set. */
export type BranchSetStep = 'more' | 'done' | 'busy'

export interface BranchViewStore {
  /** All sets, in the order of tenants. */
  sets(): Promise<readonly BranchSet[]>
  /**
   * The sets that still need steps: those that a grant names and that were not begun, which this call begins; those that are being filled
   * or dropped; and those that no grant of a usable key names any more.
   */
  due(): Promise<readonly Pick<BranchSet, 'tenantId' | 'set'>[]>
  /**
   * Takes one step, in one commit, of at most this many events. Publishers wait only for the last step of a set, which takes the feed's
   * counter. The last step also changes `KeyStore.keysVersion`.
   */
  step(of: Pick<BranchSet, 'tenantId' | 'set'>, limit: number): Promise<BranchSetStep>
}

/** The scope of a grant by branch that needs views; publishing needs none. */
export const scopeOfViews = 'property:read'

/** The sets whose views the grants of a key read. */
export function setsOfGrants(grants: readonly Grant[]): readonly Pick<BranchSet, 'tenantId' | 'set'>[] {
  return grants.flatMap(({ tenantId, scopes, branches }) =>
    branches !== undefined && scopes.includes(scopeOfViews) ? [{ tenantId, set: branchSetId(branches) }] : [],
  )
}

/** What a key sees of its views. `ready`: the sets that are ready. */
export function viewsBeingMade(
  wanted: readonly Pick<BranchSet, 'tenantId' | 'set'>[],
  ready: readonly Pick<BranchSet, 'tenantId' | 'set'>[],
): Pick<FoundKey, 'viewsBeingMade'> {
  const made = new Set(ready.map(({ tenantId, set }) => `${tenantId} ${set}`))
  const missing = wanted.filter(({ tenantId, set }) => !made.has(`${tenantId} ${set}`))
  return missing.length === 0 ? {} : { viewsBeingMade: missing.map(({ tenantId }) => tenantId) }
}
