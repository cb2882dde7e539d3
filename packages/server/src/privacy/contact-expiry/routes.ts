/** `/v1/expiring-contacts`: contacts that will be erased because they have not changed, and the agency's veto (PROTOCOL §5.7). */
import type { ExpiringContact as ExpiringContactAnswer } from '@property-events/protocol/wire'
import { expiryDayMs } from './contact-expiry.ts'
import type { ExpiringContact, ExpiryStore } from './contact-expiry.ts'
import { refused, uncachedJson } from '../../http/exchange.ts'
import type { Outcome } from '../../http/exchange.ts'
import type { Access } from '../../http/access.ts'
import { answer, changeProblems, keyedHeaders, keyedProblems } from '../../http/openapi/responses.ts'
import { refTo } from '../../http/openapi/schemas.ts'
import { success } from '../../http/problem/problem.ts'
import { inMaintenance } from '../../publishing/publish-refusal.ts'
import { refusalOfFeed } from '../../publishing/publish-refusal.ts'
import { afterQuery, idParams, listAnswer, listedPerPage, readAfter, readId } from '../../http/listed.ts'
import type { Listed, ListContext } from '../../http/listed.ts'
import type { Operation } from '../../http/operation.ts'
import type { MaintenanceContext } from '../../publishing/publish-refusal.ts'

interface Context extends MaintenanceContext, ListContext {
  readonly expiry: ExpiryStore
  /** The number of days without a change after which a tenant's contacts are erased; 0: never. */
  readonly expiryDays: (tenantId: string) => Promise<number>
}

const path = '/v1/expiring-contacts'
const access = { scope: 'contact:erase', refusal: 'own' } as const
const contacts: Listed = { one: 'a contact', parameter: 'contactRef' }

export function listExpiring(context: Context): Operation {
  return {
    method: 'GET',
    path,
    mediaType: 'application/json',
    access,
    schema: () => ({
      operationId: 'listExpiringContacts',
      summary: 'List the contacts that are due for erasure',
      description: `At most ${listedPerPage}, by their references. Ask again with \`after\` = \`next\` until \`next\` is null. Each is on the list for 30 days before its day.`,
      tags: ['Erasing'],
      security: [{ apiKey: [] }],
      querystring: afterQuery,
      response: {
        [success.ok]: answer('The contacts.', refTo('ExpiringContacts'), keyedHeaders),
        ...keyedProblems('missing_scope', 'ambiguous_tenant'),
      },
    }),

    prepare(target) {
      const after = readAfter(target, contacts, context)
      if (typeof after === 'object') return () => after
      return async (_request, { tenantId = '' }) => {
        const days = await context.expiryDays(tenantId)
        const listed = days === 0 ? [] : await context.expiry.listed(tenantId, after, listedPerPage)
        return listAnswer(
          'contacts',
          listed.map((contact) => contactAnswer(contact, days)),
          listed.map(({ subjectId }) => subjectId),
        )
      }
    },
  }
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
  return {
    method: 'POST',
    path: `${path}/:contactRef/keep`,
    mediaType: 'application/json',
    access,
    schema: () => ({
      operationId: 'keepExpiringContact',
      summary: 'Keep a contact that is due for erasure',
      description:
        'It is off the list, and stays off it for as long as if it had changed now. One that is not on the list yet can be kept, too.',
      tags: ['Erasing'],
      security: [{ apiKey: [] }],
      params: idParams(contacts, 'reference'),
      response: {
        [success.ok]: answer('It is kept.', refTo('KeptContact'), keyedHeaders),
        ...keyedProblems(
          'missing_scope',
          'ambiguous_tenant',
          'subject_not_found',
          'storage_full',
          ...changeProblems,
        ),
      },
    }),

    prepare(target) {
      const contactRef = readId(target, contacts, context)
      if (typeof contactRef !== 'string') return () => contactRef
      return async (_request, granted) => keep(context, granted, contactRef)
    },
  }
}

async function keep(context: Context, granted: Access, contactRef: string): Promise<Outcome> {
  const { tenantId = '', keyId = '' } = granted
  const stopped = await inMaintenance(context)
  if (stopped !== undefined) return stopped
  const outcome = await context.expiry.keep(tenantId, contactRef, `key:${keyId}`)
  if (outcome.kind === 'unknownContact') return refused({ code: 'subject_not_found' })
  if (outcome.kind !== 'kept') return refused(refusalOfFeed(outcome))
  const body = JSON.stringify({ tenantId, contactRef, kept: true })
  return { kind: 'text', status: success.ok, headers: uncachedJson, body }
}
