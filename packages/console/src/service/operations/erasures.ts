/** Erasing a property or a contact for good (PROTOCOL §5.7), by a key that erases or by those who look after the tenant (§12.5). */
import type { Erasure, ErasureCount, ErasureRequest, Erasures } from '@property-events/protocol/wire'
import { pathOf } from '../operation.ts'
import type { Operation } from '../operation.ts'

/** `own`: with the scopes of the session's key in its tenant. */
export interface ErasurePlace {
  readonly tenantId: string
  readonly door: 'own' | 'admin'
}

function placed({ tenantId, door }: ErasurePlace, id: string, rest = '') {
  return door === 'own'
    ? { id, path: `/v1/erasures${rest}`, tenant: tenantId }
    : {
        id: `admin${id.charAt(0).toUpperCase()}${id.slice(1)}`,
        path: `${pathOf('/v1/admin/tenants/{tenantId}/erasures', tenantId)}${rest}`,
      }
}

/** Oldest first. */
export function listErasures(place: ErasurePlace, after: string | undefined): Operation<Erasures> {
  return { ...placed(place, 'listErasures'), method: 'GET', query: { after } }
}

/** Including those who were sent what was erased. */
export function getErasure(place: ErasurePlace, erasureId: string): Operation<Erasure> {
  return { ...placed(place, 'getErasure', pathOf('/{erasureId}', erasureId)), method: 'GET' }
}

/** How many events it would reduce. */
export function countErased(place: ErasurePlace, body: ErasureRequest): Operation<ErasureCount> {
  return { ...placed(place, 'erase'), method: 'POST', body, query: { dryRun: 'true' } }
}

export function erase(place: ErasurePlace, body: ErasureRequest): Operation<Erasure> {
  return { ...placed(place, 'erase'), method: 'POST', body }
}
