/** `/v1/expiring-contacts`: contacts that will be erased because they have not changed, and the agency's veto (PROTOCOL §5.7). */
import type { ExpiringContact as ExpiringContactAnswer } from '@property-events/protocol/wire'
import { expiryDayMs } from './contact-expiry.ts'
import type { ExpiringContact, ExpiryStore } from './contact-expiry.ts'
import type { Access } from '../../http/access.ts'
import { refused, uncachedAnswer } from '../../http/exchange.ts'
import type { Outcome } from '../../http/exchange.ts'
import { idOperation, listedPerPage, listOperation } from '../../http/listed.ts'
import type { Listed, ListContext } from '../../http/listed.ts'
import { changeProblems } from '../../http/openapi/responses.ts'
import type { Operation } from '../../http/operation.ts'
import { inMaintenance, refusalOfFeed } from '../../publishing/publish-refusal.ts'
import type { MaintenanceContext } from '../../publishing/publish-refusal.ts'

interface Context extends MaintenanceContext, ListContext {
  readonly expiry: ExpiryStore
  /** The number of days without a change after which a tenant's contacts are erased; 0: never. */
  readonly expiryDays: (tenantId: string) => Promise<number>
}

const contacts: Listed = {
  one: 'a contact',
  parameter: 'contactRef',
  path: '/v1/expiring-contacts',
  scope: 'contact:erase',
  idName: 'reference',
}

export function listExpiring(context: Context): Operation {
  return listOperation(context, contacts, {
    operationId: 'listExpiringContacts',
    summary: 'List the contacts that are due for erasure',
    description: `At most ${listedPerPage}, by their references. Ask again with \`after\` = \`next\` until \`next\` is null. Each is on the list for 30 days before its day.`,
    ok: { description: 'The contacts.', schema: 'ExpiringContacts' },
    name: 'contacts',
    async page({ tenantId = '' }, after) {
      const days = await context.expiryDays(tenantId)
      const listed = days === 0 ? [] : await context.expiry.listed(tenantId, after, listedPerPage)
      const rows = listed.map((contact) => contactAnswer(contact, days))
      return { rows, ids: listed.map(({ subjectId }) => subjectId) }
    },
  })
}

function contactAnswer(contact: ExpiringContact, days: number): ExpiringContactAnswer {
  const { subjectId, unchangedSinceMs, listedMs } = contact
  return {
    contactRef: subjectId,
    erasedOn: dayOf(expiryDayMs(contact, days)),
    unchangedSince: dayOf(unchangedSinceMs),
    listedOn: dayOf(listedMs),
  }
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

export function keepContact(context: Context): Operation {
  return idOperation(context, contacts, {
    verb: 'keep',
    operationId: 'keepExpiringContact',
    summary: 'Keep a contact that is due for erasure',
    description:
      'It is off the list, and stays off it for as long as if it had changed now. One that is not on the list yet can be kept, too.',
    ok: { description: 'It is kept.', schema: 'KeptContact' },
    problems: ['subject_not_found', 'storage_full', ...changeProblems],
    answer: (access, contactRef) => keep(context, access, contactRef),
  })
}

async function keep(context: Context, granted: Access, contactRef: string): Promise<Outcome> {
  const { tenantId = '', keyId = '' } = granted
  const stopped = await inMaintenance(context)
  if (stopped !== undefined) return stopped
  const outcome = await context.expiry.keep(tenantId, contactRef, `key:${keyId}`)
  if (outcome.kind === 'unknownContact') return refused({ code: 'subject_not_found' })
  if (outcome.kind !== 'kept') return refused(refusalOfFeed(outcome))
  return uncachedAnswer({ tenantId, contactRef, kept: true })
}
