/** Grants by branch (D11): what can be limited, and how a store keeps a grant. */
import { hasAtMost, maxBranchLength, maxGrantedBranches } from '@property-events/protocol/plain'
import type { GrantScope } from '@property-events/protocol'
import { storedBranches } from '../events/branches/branch-view.ts'
import { grantOfScopes, scopeWords } from './key.ts'
import type { Grant } from './key.ts'

/**
 * Scopes that can be limited. Erasing removes the events of every branch that a property has been in, and administration shows the tenant
 * as a whole.
 */
export const branchScopes = [
  'property:read',
  'property:publish',
  'property:webhooks',
] as const satisfies readonly GrantScope[]

/** A set of branches in a grant: each once, in the order of code units. `undefined`: not 1 to 100 texts of 1 to 100 characters. */
export function grantedBranches(given: readonly string[]): readonly string[] | undefined {
  const branches = [...new Set(given)].toSorted()
  const isUsable = branches.every(
    (branch) => branch.length > 0 && hasAtMost(branch, maxBranchLength) && isStorable(branch),
  )
  return isUsable && branches.length > 0 && branches.length <= maxGrantedBranches ? branches : undefined
}

/** The first scope of a grant that cannot be limited to branches. */
export function unlimitedScope(scopes: readonly GrantScope[]): GrantScope | undefined {
  return scopes.find((scope) => !branchScopes.some((one) => one === scope))
}

/** Published text has neither of these (PROTOCOL §4.8), and PostgreSQL accepts neither. A line feed would join two names into one. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !/[\0\n]/.test(text)
}

/** A grant in the columns of a store. */
interface GrantColumns {
  readonly scopes: string
  /** A JSON list; `null`: the grant covers all branches. */
  readonly branches: string | null
}

export function grantColumns(grant: Grant): GrantColumns {
  const { branches } = grant
  const scopes = scopeWords(grant).join(' ')
  return { scopes, branches: branches === undefined ? null : JSON.stringify(branches) }
}

/** From columns: the scopes that this program knows, in their stored order. */
export function grantOf(tenantId: string, { scopes, branches }: GrantColumns): Grant {
  const grant = grantOfScopes(tenantId, scopes)
  return branches === null ? grant : { ...grant, branches: storedBranches(branches) }
}
