/**
 * Limits the sets of branches in the keys of a tenant (D11), because each publication is entered in the views of every set that has its
 * branch.
 */
import type { Grant, KeyStore } from '../key.ts'
import { refused } from '../../http/exchange.ts'
import type { Refused } from '../../http/exchange.ts'

/** What counting sets of branches needs. */
export interface BranchSetsContext {
  readonly keys: KeyStore
}

/** Per tenant, in usable keys. An agency has some tens of branches, most of them alone in a key. */
const mostBranchSets = 100

const keysPerRead = 200

/** Why no key may be made with these grants; `undefined` if one may. Simultaneous requests may each make one more. */
export async function refusalOfBranchSets(
  context: Pick<BranchSetsContext, 'keys'>,
  grants: readonly Grant[],
  nowMs: number,
): Promise<Refused | undefined> {
  for (const { tenantId, branches } of grants) {
    if (branches === undefined) continue
    const sets = await setsOf(context, tenantId, nowMs)
    if (sets.has(JSON.stringify(branches)) || sets.size < mostBranchSets) continue
    const message = `The keys of a tenant have at most ${mostBranchSets} different sets of branches between them, and this would be one more. Revoke keys that are not used, or give this one branches that another key has.`
    return refused({ code: 'invalid_body', errors: [{ pointer: '/grants', code: 'too_many', message }] })
  }
  return undefined
}

async function setsOf(
  context: Pick<BranchSetsContext, 'keys'>,
  tenantId: string,
  nowMs: number,
): Promise<ReadonlySet<string>> {
  const sets = new Set<string>()
  for (let after = 0; ;) {
    const keys = await context.keys.keysAfter({ after, limit: keysPerRead, tenantId })
    for (const { record } of keys) {
      const { grants, revokedMs, expiresMs = Infinity } = record
      if (revokedMs !== undefined || expiresMs <= nowMs) continue
      const branches = grants.find((grant) => grant.tenantId === tenantId)?.branches
      if (branches !== undefined) sets.add(JSON.stringify(branches))
    }
    const last = keys.at(-1)
    if (last === undefined || keys.length < keysPerRead) return sets
    after = last.place
  }
}
