/** Which tenants a key may administer, and which scopes it may give to others (D11). */
import { adminScopes, scopes, tenantScopes } from '@property-events/protocol'
import type { AdminScope, GrantScope } from '@property-events/protocol'
import type { Grant, KeyRecord } from '../key.ts'
import { refused } from '../../http/exchange.ts'
import type { Refused } from '../../http/exchange.ts'
import type { Access } from '../../http/access.ts'

/** What administration requires of a key of one tenant, in place of an operator's scope (D11). All of `scopes`, and one of `oneOf` if there are any: administration shows and erases nothing that the key could not see or erase
 * otherwise.
 */
export const tenantNeeds = {
  'admin:inspect': { scopes: ['tenant:inspect'], oneOf: [] },
  'admin:manage': { scopes: ['tenant:manage'], oneOf: [] },
  'admin:audit': { scopes: ['tenant:inspect'], oneOf: [] },
  'admin:reveal': { scopes: ['tenant:inspect', 'contact:read'], oneOf: [] },
  'admin:erase': { scopes: ['tenant:manage'], oneOf: ['property:erase', 'contact:erase'] },
} as const satisfies Readonly<
  Record<AdminScope, { readonly scopes: readonly GrantScope[]; readonly oneOf: readonly GrantScope[] }>
>

/** Whether the grant allows for its own tenant what an operator's scope allows for all. */
export function mayAdminister({ scopes: held }: Grant, need: AdminScope): boolean {
  const { scopes, oneOf } = tenantNeeds[need]
  return (
    scopes.every((scope) => held.includes(scope)) &&
    (oneOf.length === 0 || oneOf.some((scope) => held.includes(scope)))
  )
}

/** The tenants for which the key may use the scope; `undefined`: every one, as for an operator key. */
export function reachedTenants(
  { adminScopes: held, grants }: Access,
  need: AdminScope,
): readonly string[] | undefined {
  if (held.includes(need)) return undefined
  return grants.filter((grant) => mayAdminister(grant, need)).map(({ tenantId }) => tenantId)
}

export function reaches(access: Access, need: AdminScope, tenantId: string): boolean {
  return reachedTenants(access, need)?.includes(tenantId) ?? true
}

/** The part of a key that may be seen; `undefined`: nothing. Only operators see operator keys, and what a key has for other tenants. */
export function seenKey(access: Access, need: AdminScope, record: KeyRecord): KeyRecord | undefined {
  const reached = reachedTenants(access, need)
  if (reached === undefined) return record
  const grants = record.grants.filter(({ tenantId }) => reached.includes(tenantId))
  return record.operator || grants.length === 0 ? undefined : { ...record, grants }
}

/**
 * Why the key may not give all this; `undefined` if it may. A key cannot give scopes that it does not hold, or feed scopes of tenants
 * that it does not manage.
 */
export function refusalOfGiving(
  access: Access,
  given: Pick<KeyRecord, 'operator' | 'grants' | 'adminScopes'>,
): Refused | undefined {
  const missing = (given.adminScopes ?? []).find((scope) => !access.adminScopes.includes(scope))
  if (missing !== undefined) return notHeld(missing)
  if (given.operator && !access.adminScopes.includes('admin:manage')) {
    return refused({ code: 'scope_not_held', detail: 'Only an operator key can create operator keys.' })
  }
  for (const grant of given.grants) {
    const wanting = grant.scopes.find((scope) => !mayGive(access, grant.tenantId, scope))
    if (wanting !== undefined) return notHeld(wanting)
  }
  return undefined
}

function notHeld(scope: GrantScope | AdminScope): Refused {
  const detail = `Your key does not have the scope ${scope}${isAdminScope(scope) ? '' : ' for this tenant'}, so it cannot grant it or change a key that has it.`
  return refused({ code: 'scope_not_held', detail })
}

/** `admin:manage` manages every tenant, as `tenant:manage` manages one; either can give feed scopes, and itself. */
function mayGive({ adminScopes: held, grants }: Access, tenantId: string, scope: GrantScope): boolean {
  const own: Grant | undefined = grants.find((grant) => grant.tenantId === tenantId)
  const manages = held.includes('admin:manage') || own?.scopes.includes('tenant:manage') === true
  if (!manages) return false
  if (scopes.some((one) => one === scope)) return true
  if (own?.scopes.includes(scope) === true) return true
  return tenantScopes.some((one) => one === scope) && held.some((one) => one === operatorScopeOf(scope))
}

function operatorScopeOf(scope: GrantScope): string {
  return scope.replace('tenant:', 'admin:')
}

function isAdminScope(scope: GrantScope | AdminScope): scope is AdminScope {
  return adminScopes.some((one) => one === scope)
}
