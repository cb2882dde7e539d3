/**
 * Which operations a key may use, according to the requirements in `openapi.json`. The service decides; this only leaves out what it
 * would refuse.
 */
import { isAdminScope, mayAdminister, tenantNeeds } from '../../session/access.ts'
import type { Access } from '../../session/access.ts'

/** `scopes`: any one of them is enough; none: any key. */
export function mayUse(access: Access, scopes: readonly string[]): boolean {
  const { grants } = access
  return (
    scopes.length === 0 ||
    scopes.some((scope) =>
      isAdminScope(scope)
        ? [undefined, ...grants].some((grant) => mayAdminister(access, scope, grant?.tenantId))
        : grants.some((grant) => grant.scopes.includes(scope)),
    )
  )
}

/** `property:read or contact:read`; `admin:inspect, or tenant:inspect in the agency`. */
export function needWords(scopes: readonly string[]): string {
  const [first = ''] = scopes
  if (!isAdminScope(first)) return scopes.join(' or ')
  return `${first}, or ${tenantNeeds[first].map((one) => one.join(' and ')).join(' or ')} in the agency`
}
