/** Contacts as shown to people who have no business with the person, revealing one (PROTOCOL §12.7), and restricting one (§5.7). */
import type { RestrictionReason, RevealReason } from '@property-events/protocol/plain'
import type { FeedEvent, MaskedContact, MaskedContacts, Restriction } from '@property-events/protocol/wire'
import { pathOf } from '../operation.ts'
import type { Operation } from '../operation.ts'

const path = '/v1/admin/tenants/{tenantId}/contacts/{contactRef}'

export function getMaskedContact(tenantId: string, contactRef: string): Operation<MaskedContact> {
  return { id: 'getMaskedContact', method: 'GET', path: pathOf(path, tenantId, contactRef) }
}

/** Oldest first. */
export function readMaskedHistory(
  tenantId: string,
  contactRef: string,
  query: { readonly limit: number; readonly after?: string },
): Operation<MaskedContacts> {
  const history = pathOf(`${path}/history`, tenantId, contactRef)
  return { id: 'readMaskedHistory', method: 'GET', path: history, query: { ...query } }
}

/** The contact in full. The audit has a row of it before the answer is sent. */
export function revealContact(
  tenantId: string,
  contactRef: string,
  reason: RevealReason,
): Operation<FeedEvent> {
  const reveal = pathOf(`${path}/reveal`, tenantId, contactRef)
  return { id: 'revealContact', method: 'POST', path: reveal, body: { reason } }
}

/** Keeps a contact, and shows it to nobody. */
export function restrictContact(
  tenantId: string,
  contactRef: string,
  reason: RestrictionReason,
  caseRef: string,
): Operation<Restriction> {
  const body = { subjectId: contactRef, reason, ...(caseRef.trim() !== '' && { caseRef: caseRef.trim() }) }
  return { id: 'restrictContact', method: 'POST', path: '/v1/restrictions', tenant: tenantId, body }
}
