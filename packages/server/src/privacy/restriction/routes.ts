/** `/v1/restrictions`: keeps a contact but shows it to nobody, lists what is restricted, and shows it again (PROTOCOL §5.7, D17). */
import { uuidV7, restrictionReasons } from '@property-events/protocol'
import type { Access } from '../../http/access.ts'
import { refused, uncachedAnswer } from '../../http/exchange.ts'
import type { Outcome } from '../../http/exchange.ts'
import {
  addOperation,
  idOperation,
  listDescription,
  listedPerPage,
  listOperation,
} from '../../http/listed.ts'
import type { Listed, ListContext } from '../../http/listed.ts'
import { changeProblems } from '../../http/openapi/responses.ts'
import type { Operation } from '../../http/operation.ts'
import { success } from '../../http/problem/problem.ts'
import type { BodyContext } from '../../http/requests/read-body.ts'
import { inMaintenance, refusalOfPublish } from '../../publishing/publish-refusal.ts'
import type { MaintenanceContext } from '../../publishing/publish-refusal.ts'
import type { LiftOutcome, RestrictOutcome, RestrictionStore, Restriction } from './restriction.ts'
import type { Restriction as RestrictionAnswer } from '@property-events/protocol/wire'
import { timeOf } from '../../http/time-of.ts'
import type { RestrictionReason } from '@property-events/protocol'
import { readCaseRef, readObject } from '../../http/requests/body-members.ts'
import type { BodyReading } from '../../http/requests/body-members.ts'

interface Context extends MaintenanceContext, ListContext, BodyContext {
  readonly restrictions: RestrictionStore
}

const restrictions: Listed = {
  one: 'a restriction',
  parameter: 'restrictionId',
  path: '/v1/restrictions',
  scope: 'contact:erase',
}

/** What a change of a restriction can be refused with. */
const problems = ['storage_full', 'clock_behind', 'epoch_required', ...changeProblems] as const

export function restrictContact(context: Context): Operation {
  return addOperation(context, restrictions, {
    operationId: 'restrictContact',
    summary: 'Restrict a contact',
    description:
      'Everything published about the contact, before and meanwhile, is kept and shown in no answer. Consumers get an event that removes it. If it is restricted already, the answer is that restriction.',
    body: 'RestrictionRequest',
    ok: { status: success.accepted, description: 'It has started, and is on disk.', schema: 'Restriction' },
    problems,
    read: readRestrictionBody,
    answer: (access, body) => begin(context, access, body),
  })
}

async function begin(
  context: Context,
  { keyId = '', tenantId = '' }: Access,
  body: RestrictionBody,
): Promise<Outcome> {
  const stopped = await inMaintenance(context)
  if (stopped !== undefined) return stopped
  const outcome = await context.restrictions.begin({
    restrictionId: uuidV7(Date.now()),
    key: { tenantId, feed: 'contact' },
    ...body,
    actor: `key:${keyId}`,
    closingEventId: uuidV7(Date.now()),
  })
  if (outcome.kind !== 'restricted') return refused(refusalOf(outcome))
  return uncachedAnswer(restrictionAnswer(outcome.restriction), success.accepted)
}

function refusalOf(outcome: Exclude<RestrictOutcome | LiftOutcome, { kind: 'restricted' | 'lifting' }>) {
  if (outcome.kind === 'unknownTarget') return { code: 'subject_not_found' } as const
  if (outcome.kind === 'unknownRestriction') return { code: 'restriction_not_found' } as const
  return refusalOfPublish({ ...outcome, inList: false })
}

export function getRestriction(context: Context): Operation {
  return idOperation(context, restrictions, {
    operationId: 'getRestriction',
    summary: 'Get a restriction',
    description: 'How far it is. `restricted`: no row, page or answer shows the contact any more.',
    ok: { description: 'The restriction.', schema: 'Restriction' },
    problems: ['restriction_not_found'],
    async answer({ tenantId = '' }, restrictionId) {
      const found = await context.restrictions.find(tenantId, restrictionId)
      if (found === undefined) return refused({ code: 'restriction_not_found' })
      return uncachedAnswer(restrictionAnswer(found))
    },
  })
}

export function listRestrictions(context: Context): Operation {
  return listOperation(context, restrictions, {
    operationId: 'listRestrictions',
    summary: 'List restrictions',
    description: listDescription('ended ones included'),
    ok: { description: 'The restrictions.', schema: 'Restrictions' },
    name: 'restrictions',
    async page({ tenantId = '' }, after) {
      const found = await context.restrictions.list(tenantId, after, listedPerPage)
      return { rows: found.map(restrictionAnswer), ids: found.map(({ restrictionId }) => restrictionId) }
    },
  })
}

export function endRestriction(context: Context): Operation {
  return idOperation(context, restrictions, {
    verb: 'end',
    operationId: 'endRestriction',
    summary: 'End a restriction',
    description:
      'Publishes the contact again as it was published last; then earlier events show their payloads again. One that was ended before stays as it is.',
    ok: { status: success.accepted, description: 'It is being lifted.', schema: 'Restriction' },
    problems: ['restriction_not_found', ...problems],
    async answer({ keyId = '', tenantId = '' }, restrictionId) {
      const stopped = await inMaintenance(context)
      if (stopped !== undefined) return stopped
      const outcome = await context.restrictions.lift({
        tenantId,
        restrictionId,
        actor: `key:${keyId}`,
        reopeningEventId: uuidV7(Date.now()),
      })
      if (outcome.kind !== 'lifting') return refused(refusalOf(outcome))
      return uncachedAnswer(restrictionAnswer(outcome.restriction), success.accepted)
    },
  })
}

function restrictionAnswer(restriction: Restriction): RestrictionAnswer {
  const { restrictionId, key, subjectId, reason, caseRef, actor, state, closing } = restriction
  const { begunMs, restrictedMs, endedMs } = restriction
  return {
    id: restrictionId,
    tenantId: key.tenantId,
    feed: 'contact',
    subjectId,
    reason,
    caseRef: caseRef ?? null,
    actor,
    state,
    closing: { id: closing.eventId, sequenceNumber: closing.sequenceNumber },
    begunAt: timeOf(begunMs),
    restrictedAt: timeOf(restrictedMs),
    endedAt: timeOf(endedMs),
  }
}

interface RestrictionBody {
  readonly subjectId: string
  readonly reason: RestrictionReason
  readonly caseRef: string | undefined
}

const names = ['feed', 'subjectId', 'reason', 'caseRef'] as const

function readRestrictionBody(text: string): BodyReading<RestrictionBody> {
  return readObject(text, names, '{"subjectId":"…","reason":"accuracy_contested"}', (members) => {
    // Only contacts can be restricted.
    if (members.given.has('feed')) members.oneOf('feed', ['contact'])
    const subjectId = members.uuid('subjectId')
    const reason = members.oneOf('reason', restrictionReasons)
    const caseRef = readCaseRef(members)
    return subjectId === undefined || reason === undefined ? undefined : { subjectId, reason, caseRef }
  })
}
