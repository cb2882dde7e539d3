/** What was published, who changed what, and which settings the service has (PROTOCOL §12.6, §12.10, §14.2). */
import type { AuditRows, Publications, ShownSettings } from '@property-events/protocol/wire'
import { pathOf } from '../operation.ts'
import type { Operation } from '../operation.ts'

interface RecordQuery {
  readonly limit: number
  readonly after?: string | undefined
  readonly key?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** Newest minute first, for 14 days. */
export function listPublications(tenantId: string, query: RecordQuery): Operation<Publications> {
  const path = pathOf('/v1/admin/tenants/{tenantId}/publications', tenantId)
  return { path, query: { ...query } }
}

/** What the session's own key has published. */
export function listOwnPublications(
  tenantId: string,
  { limit, after, from, to }: RecordQuery,
): Operation<Publications> {
  const query = { limit, after, from, to }
  return { path: '/v1/publications', query, tenant: tenantId }
}

/** Newest first. */
export function readAudit(
  query: RecordQuery & { readonly tenant?: string | undefined; readonly action?: string | undefined },
): Operation<AuditRows> {
  return { path: '/v1/admin/audit', query: { ...query } }
}

export function readSettings(): Operation<ShownSettings> {
  return { path: '/v1/admin/settings' }
}
