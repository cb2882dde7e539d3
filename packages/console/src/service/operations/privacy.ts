/**
 * Contacts as shown to people who have no business with the person, revealing one (PROTOCOL §12.7), and restricting one (§5.7); erasures
 * of either feed, and their receipts.
 */
import type { RestrictionReason, RevealReason } from '@property-events/protocol/plain'
import type {
  Erasure,
  ErasureCount,
  ErasureRequest,
  Erasures,
  FeedEvent,
  MaskedContact,
  MaskedContacts,
  Restriction,
} from '@property-events/protocol/wire'
import { pathOf } from '../operation.ts'
import type { Operation } from '../operation.ts'

const path = '/v1/admin/tenants/{tenantId}/contacts/{contactRef}'

export function getMaskedContact(tenantId: string, contactRef: string): Operation<MaskedContact> {
  return { path: pathOf(path, tenantId, contactRef) }
}

/** Oldest first. */
export function readMaskedHistory(
  tenantId: string,
  contactRef: string,
  query: { readonly limit: number; readonly after?: string },
): Operation<MaskedContacts> {
  const history = pathOf(`${path}/history`, tenantId, contactRef)
  return { path: history, query: { ...query } }
}

/** The contact in full. The audit has a row of it before the answer is sent. */
export function revealContact(
  tenantId: string,
  contactRef: string,
  reason: RevealReason,
): Operation<FeedEvent> {
  const reveal = pathOf(`${path}/reveal`, tenantId, contactRef)
  return { method: 'POST', path: reveal, body: { reason } }
}

/** Keeps a contact, and shows it to nobody. */
export function restrictContact(
  tenantId: string,
  contactRef: string,
  reason: RestrictionReason,
  caseRef: string,
): Operation<Restriction> {
  const body = { subjectId: contactRef, reason, ...(caseRef.trim() !== '' && { caseRef: caseRef.trim() }) }
  return { method: 'POST', path: '/v1/restrictions', tenant: tenantId, body }
}

/** Erasing a property or a contact for good (PROTOCOL §5.7), by a key that erases or by those who look after the tenant (§12.5). */

/** `own`: with the scopes of the session's key in its tenant. */
export interface ErasureAddress {
  readonly tenantId: string
  readonly door: 'own' | 'admin'
}

function addressed({ tenantId, door }: ErasureAddress, rest = '') {
  return door === 'own'
    ? { path: `/v1/erasures${rest}`, tenant: tenantId }
    : {
        path: `${pathOf('/v1/admin/tenants/{tenantId}/erasures', tenantId)}${rest}`,
      }
}

/** Oldest first. */
export function listErasures(address: ErasureAddress, after: string | undefined): Operation<Erasures> {
  return { ...addressed(address), query: { after } }
}

/** Including those who were sent what was erased. */
export function getErasure(address: ErasureAddress, erasureId: string): Operation<Erasure> {
  return { ...addressed(address, pathOf('/{erasureId}', erasureId)) }
}

/** How many events it would reduce. */
export function countErased(address: ErasureAddress, body: ErasureRequest): Operation<ErasureCount> {
  return { ...addressed(address), method: 'POST', body, query: { dryRun: 'true' } }
}

export function erase(address: ErasureAddress, body: ErasureRequest): Operation<Erasure> {
  return { ...addressed(address), method: 'POST', body }
}
