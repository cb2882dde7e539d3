/** What a key may do, with an explanation of each scope for those who choose. */

interface ScopeChoice {
  readonly scope: string
  readonly says: string
}

const tenantScopeChoices: readonly ScopeChoice[] = [
  { scope: 'property:read', says: 'read property events' },
  { scope: 'contact:read', says: 'read contact events, which are personal data' },
  { scope: 'property:publish', says: 'publish properties' },
  { scope: 'contact:publish', says: 'publish contacts' },
  { scope: 'property:erase', says: 'erase properties permanently' },
  { scope: 'contact:erase', says: 'erase and restrict contacts' },
  { scope: 'property:webhooks', says: 'have property events posted to websites' },
  { scope: 'contact:webhooks', says: 'have contact events posted, without their payloads' },
  { scope: 'tenant:inspect', says: 'see this agency: feeds, keys, consumers, audit' },
  { scope: 'tenant:manage', says: 'create, rotate and revoke keys of this agency' },
]

const operatorScopeChoices: readonly ScopeChoice[] = [
  { scope: 'admin:inspect', says: 'see every agency and the service' },
  { scope: 'admin:manage', says: 'create and change agencies and keys' },
  { scope: 'admin:reveal', says: 'see contacts in full' },
  { scope: 'admin:erase', says: 'erase permanently' },
  { scope: 'admin:audit', says: 'see who changed what' },
]

/** Scopes that a list of branches limits. */
export const branchScopes: readonly string[] = ['property:read', 'property:publish', 'property:webhooks']

export interface Giver {
  readonly operator: boolean
  readonly scopes: readonly string[]
  readonly grants: readonly { readonly tenantId: string; readonly scopes: readonly string[] }[]
}

/**
 * The scopes that the session may grant (PROTOCOL §12.4): those of feeds with `admin:manage`, or with `tenant:manage` in the tenant; with
 * either, also those that it holds itself. The service decides.
 */
export function givenBy(giver: Giver, tenantId: string | undefined): readonly ScopeChoice[] {
  const isOperator = giver.scopes.includes('admin:manage')
  if (tenantId === undefined) {
    return isOperator ? operatorScopeChoices.filter(({ scope }) => giver.scopes.includes(scope)) : []
  }
  const held = giver.grants.find((grant) => grant.tenantId === tenantId)?.scopes ?? []
  if (!isOperator && !held.includes('tenant:manage')) return []
  return tenantScopeChoices.filter(
    ({ scope }) =>
      !scope.startsWith('tenant:') ||
      held.includes(scope) ||
      giver.scopes.includes(scope.replace('tenant:', 'admin:')),
  )
}

/** Whether the session could have created this key. If not, it can neither change nor rotate it. */
export function givesAllOf(giver: Giver, { operator, scopes, grants }: Giver): boolean {
  const given = operator ? [{ tenantId: undefined, scopes }] : grants
  return given.every((one) => {
    const offered = givenBy(giver, one.tenantId).map(({ scope }) => scope)
    return one.scopes.every((scope) => offered.includes(scope))
  })
}

/** Whether it may also create keys for other agencies. */
export function givesElsewhere({ scopes, grants }: Giver, tenantId: string): boolean {
  const others = grants.filter((grant) => grant.tenantId !== tenantId)
  return scopes.includes('admin:manage') || others.some((grant) => grant.scopes.includes('tenant:manage'))
}
