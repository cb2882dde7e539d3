/**
 * What a session may do, judged by what the service says about its key. The service decides; this only leaves out what it would refuse.
 */
import type { FeedName } from '../base.ts'
import type { AdminScope, GrantScope, Key } from '@property-events/protocol/wire'

export type Scope = AdminScope | GrantScope

export type Access = Pick<Key, 'operator' | 'scopes' | 'grants'>

/**
 * The same text for keys with the same rights. A view keeps its state and everything typed when somebody signs in again with another key
 * of the same rights, as a link often brings its own key.
 */
export function rightsOf({ operator, scopes, grants }: Access): string {
  return JSON.stringify([operator, scopes, grants])
}

/** What a tenant's key needs for an operation of administration in its own tenant (PROTOCOL §12). */
const tenantNeeds: Readonly<Record<AdminScope, readonly (readonly GrantScope[])[]>> = {
  'admin:inspect': [['tenant:inspect']],
  'admin:audit': [['tenant:inspect']],
  'admin:manage': [['tenant:manage']],
  'admin:reveal': [['tenant:inspect', 'contact:read']],
  'admin:erase': [
    ['tenant:manage', 'property:erase'],
    ['tenant:manage', 'contact:erase'],
  ],
}

/** The scopes that the session has in a tenant; an operator key has none. */
export function scopesIn(access: Access, tenantId: string): readonly GrantScope[] {
  return access.grants.find((grant) => grant.tenantId === tenantId)?.scopes ?? []
}

/** Whether it has a scope: as an operator, or in a tenant. */
export function hasScope(access: Access, scope: Scope, tenantId: string | undefined): boolean {
  const held: readonly Scope[] =
    access.operator || tenantId === undefined ? access.scopes : scopesIn(access, tenantId)
  return held.includes(scope)
}

/** Whether it may use operations of administration with this scope, in this tenant or, without one, in the service itself. */
export function mayAdminister(access: Access, scope: AdminScope, tenantId?: string): boolean {
  if (access.operator) return access.scopes.includes(scope)
  if (tenantId === undefined) return false
  const held = scopesIn(access, tenantId)
  return tenantNeeds[scope].some((needed) => needed.every((one) => held.includes(one)))
}

/**
 * The door through which a feed is read: `own` as its consumers do, `admin` as those who look after it do; `undefined`: not at all. Only
 * the first can wait for events. Contacts have only the first: operators see them masked, one by one.
 */
export function feedDoor(access: Access, tenantId: string, feed: FeedName): 'own' | 'admin' | undefined {
  if (scopesIn(access, tenantId).includes(`${feed}:read`)) return 'own'
  return feed === 'property' && mayAdminister(access, 'admin:inspect', tenantId) ? 'admin' : undefined
}

/** The feeds of a tenant that the session can show. */
export function feedsOf(access: Access, tenantId: string): readonly FeedName[] {
  return (['property', 'contact'] as const).filter((feed) => feedDoor(access, tenantId, feed) !== undefined)
}

/** Whether it sees all tenants. Otherwise it sees those of its grants. */
export function seesAllTenants(access: Access): boolean {
  return mayAdminister(access, 'admin:inspect')
}

/** The feeds of a tenant of which the session erases subjects. */
export function erasableFeeds(access: Access, tenantId: string): readonly FeedName[] {
  return (['contact', 'property'] as const).filter(
    (feed) => hasScope(access, `${feed}:erase`, tenantId) || hasScope(access, 'admin:erase', tenantId),
  )
}
