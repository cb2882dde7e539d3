/** What administration requires of a key of one tenant, in place of an operator's scope (D11). */
import type { AdminScope, GrantScope } from '@property-events/protocol'
import type { Grant } from '../../keys/key.ts'

/**
 * All of `scopes`, and one of `oneOf` if there are any: administration shows and erases nothing that the key could not see or erase
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
