/** `POST /v1/restrictions` and `…/end`: keeps a contact but shows it to nobody, or shows it again (PROTOCOL §5.7, D17). */
import { uuidV7 } from '@property-events/protocol'
import type { LiftOutcome, RestrictOutcome, Restriction, RestrictionStore } from './restriction.ts'
import { refused, uncachedJson } from '../../http/exchange.ts'
import type { Outcome } from '../../http/exchange.ts'
import type { Access } from '../../http/access.ts'
import {
  answer,
  bodyProblems,
  changeProblems,
  keyedHeaders,
  keyedProblems,
} from '../../http/openapi/responses.ts'
import { refTo } from '../../http/openapi/schemas.ts'
import { success } from '../../http/problem/problem.ts'
import { refusalOfParameters } from '../../http/requests/query.ts'
import { readRestrictionBody } from './restriction-body.ts'
import { inMaintenance } from '../../publishing/publish-refusal.ts'
import { refusalOfPublish } from '../../publishing/publish-refusal.ts'
import { idParams, readId } from '../../http/listed.ts'
import type { Operation } from '../../http/operation.ts'
import { withSmallBody } from '../../http/requests/read-body.ts'
import { restrictionAnswer, restrictions } from './restriction-answer.ts'
import type { ListContext } from '../../http/listed.ts'
import type { BodyContext } from '../../http/requests/read-body.ts'
import type { MaintenanceContext } from '../../publishing/publish-refusal.ts'

interface Context extends MaintenanceContext, ListContext, BodyContext {
  readonly restrictions: RestrictionStore
}

const path = '/v1/restrictions'
const access = { scope: 'contact:erase', refusal: 'own' } as const

export function restrictContact(context: Context): Operation {
  return {
    method: 'POST',
    path,
    mediaType: 'application/json',
    access,
    schema: () => ({
      operationId: 'restrictContact',
      summary: 'Restrict a contact',
      description:
        'Everything published about the contact, before and meanwhile, is kept and shown in no answer. Consumers get an event that removes it. If it is restricted already, the answer is that restriction.',
      tags: ['Erasing'],
      security: [{ apiKey: [] }],
      body: { content: { 'application/json': { schema: refTo('RestrictionRequest') } } },
      response: {
        [success.accepted]: answer('It has started, and is on disk.', refTo('Restriction'), keyedHeaders),
        ...keyedProblems(
          'missing_scope',
          'ambiguous_tenant',
          'invalid_body',
          'subject_not_found',
          ...bodyProblems,
          'storage_full',
          'clock_behind',
          'epoch_required',
          ...changeProblems,
        ),
      },
    }),

    prepare({ query }) {
      const refusal = refusalOfParameters(query, context.limits.maxParameters)
      if (refusal !== undefined) return () => refused(refusal)
      return async (request, granted) =>
        withSmallBody(context, request, granted, async (text) => begin(context, granted, text))
    },
  }
}

async function begin(
  context: Context,
  { keyId = '', tenantId = '' }: Access,
  text: string,
): Promise<Outcome> {
  const read = readRestrictionBody(text)
  if (read.kind === 'faults') return refused({ code: 'invalid_body', errors: read.errors })
  const stopped = await inMaintenance(context)
  if (stopped !== undefined) return stopped
  const outcome = await context.restrictions.begin({
    restrictionId: uuidV7(Date.now()),
    key: { tenantId, feed: 'contact' },
    ...read.body,
    actor: `key:${keyId}`,
    closingEventId: uuidV7(Date.now()),
  })
  return outcome.kind === 'restricted' ? accepted(outcome.restriction) : refused(refusalOf(outcome))
}

function accepted(restriction: Restriction): Outcome {
  const body = JSON.stringify(restrictionAnswer(restriction))
  return { kind: 'text', status: success.accepted, headers: uncachedJson, body }
}

function refusalOf(outcome: Exclude<RestrictOutcome | LiftOutcome, { kind: 'restricted' | 'lifting' }>) {
  if (outcome.kind === 'unknownTarget') return { code: 'subject_not_found' } as const
  if (outcome.kind === 'unknownRestriction') return { code: 'restriction_not_found' } as const
  return refusalOfPublish({ ...outcome, inList: false })
}

export function endRestriction(context: Context): Operation {
  return {
    method: 'POST',
    path: `${path}/:restrictionId/end`,
    mediaType: 'application/json',
    access,
    schema: () => ({
      operationId: 'endRestriction',
      summary: 'End a restriction',
      description:
        'Publishes the contact again as it was published last; then earlier events show their payloads again. One that was ended before stays as it is.',
      tags: ['Erasing'],
      security: [{ apiKey: [] }],
      params: idParams(restrictions),
      response: {
        [success.accepted]: answer('It is being lifted.', refTo('Restriction'), keyedHeaders),
        ...keyedProblems(
          'missing_scope',
          'ambiguous_tenant',
          'restriction_not_found',
          'storage_full',
          'clock_behind',
          'epoch_required',
          ...changeProblems,
        ),
      },
    }),

    prepare(target) {
      const restrictionId = readId(target, restrictions, context)
      if (typeof restrictionId !== 'string') return () => restrictionId
      return async (_request, { keyId = '', tenantId = '' }) => {
        const stopped = await inMaintenance(context)
        if (stopped !== undefined) return stopped
        const outcome = await context.restrictions.lift({
          tenantId,
          restrictionId,
          actor: `key:${keyId}`,
          reopeningEventId: uuidV7(Date.now()),
        })
        return outcome.kind === 'lifting' ? accepted(outcome.restriction) : refused(refusalOf(outcome))
      }
    },
  }
}
