/** Erasing a property or a contact for good (PROTOCOL §5.7), by a key that erases or by those who look after the tenant (§12.5). */
import type { Erasure, ErasureCount, ErasureRequest, Erasures } from '@property-events/protocol/wire'
import { pathOf } from '../operation.ts'
import type { Operation } from '../operation.ts'

/** `own`: with the scopes of the session's key in its tenant. */
export interface ErasureAddress {
  readonly tenantId: string
  readonly door: 'own' | 'admin'
}

function addressed({ tenantId, door }: ErasureAddress, id: string, rest = '') {
  return door === 'own'
    ? { id, path: `/v1/erasures${rest}`, tenant: tenantId }
    : {
        id: `admin${id.charAt(0).toUpperCase()}${id.slice(1)}`,
        path: `${pathOf('/v1/admin/tenants/{tenantId}/erasures', tenantId)}${rest}`,
      }
}

/** Oldest first. */
export function listErasures(address: ErasureAddress, after: string | undefined): Operation<Erasures> {
  return { ...addressed(address, 'listErasures'), method: 'GET', query: { after } }
}

/** Including those who were sent what was erased. */
export function getErasure(address: ErasureAddress, erasureId: string): Operation<Erasure> {
  return { ...addressed(address, 'getErasure', pathOf('/{erasureId}', erasureId)), method: 'GET' }
}

/** How many events it would reduce. */
export function countErased(address: ErasureAddress, body: ErasureRequest): Operation<ErasureCount> {
  return { ...addressed(address, 'erase'), method: 'POST', body, query: { dryRun: 'true' } }
}

export function erase(address: ErasureAddress, body: ErasureRequest): Operation<Erasure> {
  return { ...addressed(address, 'erase'), method: 'POST', body }
}
