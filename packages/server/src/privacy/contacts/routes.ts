/** `/v1/admin/tenants/{tenantId}/contacts/{contactRef}`: a masked contact, its history, and revealing it (PROTOCOL §12.7). */
import { parseUuid, revealReasons } from '@property-events/protocol'
import type { AdminScope } from '@property-events/protocol'
import type { FeedEvent, MaskedContact } from '@property-events/protocol/wire'
import { represent } from '../../reading/representation/representation.ts'
import type { Representation, RepresentationOf } from '../../reading/representation/representation.ts'
import { disclosedEvents } from '../disclosure/disclosure.ts'
import type { StoredEvent, EventStore } from '../../events/event-log.ts'
import { refusalUnlessFresh } from '../../console/fresh-sign-in.ts'
import { refused, uncachedJson, uncachedAnswer, invalidParameters } from '../../http/exchange.ts'
import type { Outcome } from '../../http/exchange.ts'
import type { Access } from '../../http/access.ts'
import { readMembers } from '../../http/requests/body-members.ts'
import { jsonAnswer } from '../../reading/routes/answers.ts'
import { ownBody } from '../../http/answer-body.ts'
import type { Operation } from '../../http/operation.ts'
import { withSmallBody } from '../../http/requests/read-body.ts'
import { noParameters } from '../../http/admin-operation.ts'
import { tenantOperation } from '../../tenants/routes/tenant-operation.ts'
import { listBy, positionCursor } from '../../http/listed.ts'
import { actorOf } from '../../tenants/routes/tenants.ts'
import type { AuditStore } from '../../audit/audit.ts'
import type { BodyContext } from '../../http/requests/read-body.ts'
import type { TenantContext } from '../../tenants/routes/tenant-operation.ts'

interface Context extends TenantContext, BodyContext {
  readonly audit: AuditStore
  readonly events: EventStore
  readonly formOf: RepresentationOf
}

const path = '/tenants/:tenantId/contacts/:contactRef'
const noContact = refused({ code: 'contact_not_found' })

export function getMaskedContact(context: Context): Operation {
  return tenantOperation(context, {
    ...noParameters,
    method: 'GET',
    path,
    need: 'admin:inspect',
    operationId: 'getMaskedContact',
    summary: 'Get a contact, with names and contact details hidden',
    description: 'Its latest event, with everything hidden that names or reaches a person.',
    ok: { description: 'The contact.', schema: 'MaskedContact' },
    problems: ['contact_not_found'],
    async answer({ access, tenant: { tenantId }, params: [, given = ''] }) {
      const subjectId = parseUuid(given)
      if (subjectId === undefined) return notUuid()
      const event = await context.events.readLatest({ tenantId, feed: 'contact' }, subjectId)
      const form = formOf(context, access, 'admin:inspect', tenantId)
      return event === undefined ? noContact : uncachedAnswer(maskedEvent(event, form))
    },
  })
}

const history = listBy(positionCursor)

export function readMaskedHistory(context: Context): Operation {
  return tenantOperation(context, {
    method: 'GET',
    path: `${path}/history`,
    need: 'admin:inspect',
    operationId: 'readMaskedHistory',
    summary: 'List the events of a contact, with names and contact details hidden',
    description: 'The oldest first, with everything hidden that names or reaches a person.',
    query: history.query,
    ok: { description: 'Events of the contact.', schema: 'MaskedContacts' },
    problems: ['contact_not_found'],
    read: history.read,
    async answer({ access, tenant: { tenantId }, params: [, given = ''], parameters: { after = 0, limit } }) {
      const subjectId = parseUuid(given)
      if (subjectId === undefined) return notUuid()
      const key = { tenantId, feed: 'contact' } as const
      const events = await context.events.readSubject({ key, subjectId, after, limit: limit + 1 })
      if (events.length === 0 && after === 0) return noContact
      const form = formOf(context, access, 'admin:inspect', tenantId)
      const { items, next } = history.page(events, limit, ({ sequenceNumber }) => sequenceNumber)
      return uncachedAnswer({ items: items.map((event) => maskedEvent(event, form)), next })
    },
  })
}

export function revealContact(context: Context): Operation {
  return tenantOperation(context, {
    ...noParameters,
    method: 'POST',
    path: `${path}/reveal`,
    need: 'admin:reveal',
    operationId: 'revealContact',
    summary: 'Reveal a contact',
    description:
      'Its latest event, as in the feed; for a key of the tenant whose grant names roles and fields, only as far as these go. The audit has a row with the reason before the answer is sent, and the contact counts as sent to the key.',
    body: 'RevealRequest',
    ok: { description: 'The latest event of the contact.', schema: 'FeedEvent' },
    problems: ['contact_not_found'],
    answer: ({ request, access, tenant: { tenantId }, params: [, given = ''] }) =>
      withSmallBody(context, request, access, async (text): Promise<Outcome> => {
        const subjectId = parseUuid(given)
        if (subjectId === undefined) return notUuid()
        const stale = refusalUnlessFresh(access)
        if (stale !== undefined) return stale
        const reading = readMembers(text, ['reason'], '{"reason":"support"}')
        if (reading.kind === 'faults') return refused({ code: 'invalid_body', errors: reading.errors })
        const { members } = reading
        const reason = members.oneOf('reason', revealReasons)
        if (reason === undefined || members.errors.length > 0) {
          return refused({ code: 'invalid_body', errors: members.errors })
        }
        const key = { tenantId, feed: 'contact' } as const
        const event = await context.events.readLatest(key, subjectId)
        if (event === undefined) return noContact
        const row = {
          action: 'contact.revealed',
          tenant: tenantId,
          target: subjectId,
          detail: { reason },
        } as const
        await context.audit.note(row, actorOf(access))
        const fields = {
          headers: uncachedJson,
          etag: undefined,
          feed: undefined,
          sent: disclosedEvents(key, [event]),
        }
        const form = formOf(context, access, 'admin:reveal', tenantId)
        return jsonAnswer(fields, ownBody(represent(event.json, form)), 'identity')
      }),
  })
}

/** A key of the tenant is shown only what its grant names, here as well; an operator is shown everything. */
function formOf(
  context: Context,
  { adminScopes, grants }: Access,
  need: AdminScope,
  tenantId: string,
): Representation | undefined {
  if (adminScopes.includes(need)) return undefined
  const contact = grants.find((grant) => grant.tenantId === tenantId)?.contact
  return context.formOf({ reading: undefined, contact }, 'contact')
}

function maskedEvent({ json }: StoredEvent, form: Representation | undefined): MaskedContact {
  const { sequenceNumber, id, eventTypeShortCode, createdDate, payload }: FeedEvent = JSON.parse(
    Buffer.from(represent(json, form)).toString('utf8'),
  )
  return { sequenceNumber, id, eventTypeShortCode, createdDate, contact: maskedContact(payload) }
}

/** The fault repeats no reference of a contact (D18). */
function notUuid(): Outcome {
  const message = 'The reference is not a UUID: 8-4-4-4-12 hexadecimal digits.'
  return invalidParameters({ parameter: 'contactRef', code: 'not_a_uuid', message })
}

/** In place of everything that names or reaches anybody. */
const hidden = '•••'

/** Members that reveal nothing about a person, by place. All others are hidden, including unknown ones. */
const shown: Readonly<Record<string, readonly string[]>> = {
  '': ['contact_ref', 'kind', 'roles', 'branch_id', 'create_date', 'update_date', 'erased', 'thinned'],
  communications: ['channel', 'preferred'],
  consent: ['marketing', 'given_date'],
  properties: ['agent_ref', 'role'],
}

/** `payload`: JSON text of a contact. */
function maskedContact(payload: string): Readonly<Record<string, unknown>> {
  const value: object = JSON.parse(payload)
  return maskedMembers(value, '')
}

/** `place`: the member that the value belongs to, or the list that it is in. */
function masked(value: unknown, place: string): unknown {
  if (Array.isArray(value)) return value.map((one) => masked(one, place))
  if (typeof value !== 'object' || value === null) return value === null ? null : hidden
  return maskedMembers(value, place)
}

function maskedMembers(value: object, place: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (shown[place]?.includes(name) === true) return [name, member]
      return [name, masked(member, name)]
    }),
  )
}
