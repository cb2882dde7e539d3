/** Tenants, their feeds and what is wrong with them (PROTOCOL §12). */
import type {
  Consumers,
  Faults,
  FeedStates,
  FoundThings,
  Health,
  Key,
  Properties,
  Tenant,
  TenantFacts,
  Tenants,
} from '@property-events/protocol/wire'
import type { FeedName } from '../../base.ts'
import { pathOf } from '../operation.ts'
import type { Operation } from '../operation.ts'

/** The session's own key. */
export function readSelf(): Operation<Key> {
  return { path: '/v1/admin/self' }
}

interface TenantQuery {
  /** A part of a name, reference or id. */
  readonly search?: string | undefined
  /** Sorted by the last publication, newest first; without it, in order of creation. */
  readonly order?: 'lastPublish' | undefined
  /** Default 50, at most 200. */
  readonly limit?: number | undefined
  readonly after?: string | undefined
}

export function listTenants({ search, order, limit, after }: TenantQuery): Operation<Tenants> {
  return {
    path: '/v1/admin/tenants',
    query: { search, order, limit, after },
  }
}

export function getTenant(tenantId: string): Operation<Tenant> {
  return { path: pathOf('/v1/admin/tenants/{tenantId}', tenantId) }
}

export function listFeeds(tenantId: string): Operation<FeedStates> {
  return { path: pathOf('/v1/admin/tenants/{tenantId}/feeds', tenantId) }
}

export function listConsumers(tenantId: string, feed: FeedName): Operation<Consumers> {
  const path = pathOf('/v1/admin/tenants/{tenantId}/consumers', tenantId)
  return { path, query: { feed } }
}

/** Properties by address, postcode or reference. It continues with `after`, even if nothing was found yet. */
export function listProperties(
  tenantId: string,
  query: { readonly search: string; readonly limit?: number; readonly after?: string | undefined },
): Operation<Properties> {
  const path = pathOf('/v1/admin/tenants/{tenantId}/properties', tenantId)
  return { path, query: { ...query } }
}

export function readHealth(): Operation<Health> {
  return { path: '/v1/admin/health' }
}

/** What needs attention, over all tenants, worst first. */
export function listFaults(query: { readonly limit: number; readonly after?: string }): Operation<Faults> {
  return { path: '/v1/admin/faults', query: { ...query } }
}

/** How these tenants are doing; at most 25. */
export function readTenantFacts(tenantIds: readonly string[]): Operation<TenantFacts> {
  const query = { tenants: tenantIds.join(',') }
  return { path: '/v1/admin/tenant-facts', query }
}

/** Searches all tenants for half a second. It continues with `after`, even if nothing was found yet. */
export function findAnywhere(query: {
  readonly text: string
  readonly limit?: number
  readonly after?: string
}): Operation<FoundThings> {
  return { path: '/v1/admin/find', query: { ...query } }
}
