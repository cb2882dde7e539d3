/** What was published, who changed what, and which settings the service has (PROTOCOL §12.6, §12.10, §14.2). */
import type { FeedName } from '../../base.ts'
import type { ListOf } from '../answers.ts'
import { pathOf } from '../operation.ts'
import type { Operation } from '../operation.ts'

/** What a key did in one minute with one feed. */
export interface PublicationMinute {
  readonly at: string
  readonly feed: FeedName
  readonly keyId: string
  readonly requests: number
  readonly stored: number
  readonly repeated: number
  readonly unchanged: number
  readonly firstNumber: number | null
  readonly lastNumber: number | null
  /** How many of each code. */
  readonly warnings: Readonly<Record<string, number>>
  /** For each code, examples of places: pointers into an event. */
  readonly warningPlaces: Readonly<Record<string, readonly string[]>>
  readonly refused: number
  /** The first 100 of a key and hour. */
  readonly refusals: readonly PublicationRefusal[]
}

export interface PublicationRefusal {
  readonly at: string
  readonly requestId: string
  readonly code: string
  readonly faults: readonly { readonly pointer: string; readonly code: string }[]
}

export interface RecordQuery {
  readonly limit: number
  readonly after?: string | undefined
  readonly key?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** Newest minute first, for 14 days. */
export function listPublications(tenantId: string, query: RecordQuery): Operation<ListOf<PublicationMinute>> {
  const path = pathOf('/v1/admin/tenants/{tenantId}/publications', tenantId)
  return { id: 'adminListPublications', method: 'GET', path, query: { ...query } }
}

/** What the session's own key has published. */
export function listOwnPublications(
  tenantId: string,
  { limit, after, from, to }: RecordQuery,
): Operation<ListOf<PublicationMinute>> {
  const query = { limit, after, from, to }
  return { id: 'listPublications', method: 'GET', path: '/v1/publications', query, tenant: tenantId }
}

export interface AuditRow {
  readonly id: string
  readonly at: string
  /** `key:…`, `cli:…` or `service`. */
  readonly actor: string
  readonly actorName: string | null
  readonly action: string
  readonly tenantId: string | null
  readonly target: string | null
  readonly detail: unknown
}

/** Newest first. */
export function readAudit(
  query: RecordQuery & { readonly tenant?: string | undefined; readonly action?: string | undefined },
): Operation<ListOf<AuditRow>> {
  return { id: 'readAudit', method: 'GET', path: '/v1/admin/audit', query: { ...query } }
}

export interface ShownSetting {
  readonly name: string
  readonly variable: string
  readonly value: unknown
  readonly source: string
}

export function readSettings(): Operation<ListOf<ShownSetting>> {
  return { id: 'readSettings', method: 'GET', path: '/v1/admin/settings' }
}
