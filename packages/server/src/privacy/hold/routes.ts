/** `/v1/holds`: protects properties and contacts from erasure and from retention for a time (PROTOCOL §5.7, D17). */
import { uuidV7 } from '@property-events/protocol'
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
import { readHoldBody } from './hold-body.ts'
import { refusalOfParameters } from '../../http/requests/query.ts'
import { erasedFeed, erasingTenant, maySee } from '../erasure/erasing-access.ts'
import { holdAnswer } from './hold-answer.ts'
import { inMaintenance, refusalOfFeed } from '../../publishing/publish-refusal.ts'
import {
  afterQuery,
  idParams,
  listAnswer,
  listDescription,
  listedPerPage,
  readAfter,
  readId,
} from '../../http/listed.ts'
import type { Listed, ListContext } from '../../http/listed.ts'
import type { Operation } from '../../http/operation.ts'
import { withSmallBody } from '../../http/requests/read-body.ts'
import type { BodyContext } from '../../http/requests/read-body.ts'
import type { MaintenanceContext } from '../../publishing/publish-refusal.ts'
import type { HoldStore } from './hold.ts'

interface Context extends MaintenanceContext, ListContext, BodyContext {
  readonly holds: HoldStore
}

const path = '/v1/holds'
const holds: Listed = { one: 'a hold', parameter: 'holdId' }

export function addHold(context: Context): Operation {
  return {
    method: 'POST',
    path,
    mediaType: 'application/json',
    access: { scope: 'anyErase', refusal: 'own' },
    schema: () => ({
      operationId: 'addHold',
      summary: 'Place a hold on a property or contact',
      description:
        'Until the end of a day, nothing of it is erased, nor reduced by retention. Reading and publishing go on.',
      tags: ['Erasing'],
      security: [{ apiKey: [] }],
      body: { content: { 'application/json': { schema: refTo('HoldRequest') } } },
      response: {
        [success.created]: answer('It is on hold.', refTo('Hold'), keyedHeaders),
        ...keyedProblems(
          'missing_scope',
          'ambiguous_tenant',
          'invalid_body',
          'subject_not_found',
          ...bodyProblems,
          'storage_full',
          ...changeProblems,
        ),
      },
    }),

    prepare({ query }) {
      const refusal = refusalOfParameters(query, context.limits.maxParameters)
      if (refusal !== undefined) return () => refused(refusal)
      return async (request, access) =>
        withSmallBody(context, request, access, async (text) => add(context, access, text))
    },
  }
}

async function add(context: Context, access: Access, text: string): Promise<Outcome> {
  const read = readHoldBody(text, Date.now())
  if (read.kind === 'faults') return refused({ code: 'invalid_body', errors: read.errors })
  const { feed, subjectId, ground, untilMs, caseRef } = read.body
  const key = erasedFeed(access, feed)
  if ('refusal' in key) return key
  const stopped = await inMaintenance(context)
  if (stopped !== undefined) return stopped
  const words = { key, subjectId, ground, caseRef, untilMs }
  const actor = `key:${access.keyId ?? ''}` as const
  const outcome = await context.holds.add({ holdId: uuidV7(Date.now()), ...words, actor })
  if (outcome.kind === 'unknownTarget') return refused({ code: 'subject_not_found' })
  if (outcome.kind !== 'added') return refused(refusalOfFeed(outcome))
  const body = JSON.stringify(holdAnswer(outcome.hold, Date.now()))
  return { kind: 'text', status: success.created, headers: uncachedJson, body }
}

export function listHolds(context: Context): Operation {
  return {
    method: 'GET',
    path,
    mediaType: 'application/json',
    access: { scope: 'anyErase', refusal: 'own' },
    schema: () => ({
      operationId: 'listHolds',
      summary: 'List holds',
      description: listDescription('ended and expired ones included'),
      tags: ['Erasing'],
      security: [{ apiKey: [] }],
      querystring: afterQuery,
      response: {
        [success.ok]: answer('The holds.', refTo('Holds'), keyedHeaders),
        ...keyedProblems('missing_scope', 'ambiguous_tenant'),
      },
    }),

    prepare(target) {
      const after = readAfter(target, holds, context)
      if (typeof after === 'object') return () => after
      return async (_request, access) => {
        const tenant = erasingTenant(access)
        if (typeof tenant !== 'string') return tenant
        const found = await context.holds.list(tenant, after, listedPerPage)
        const nowMs = Date.now()
        const shown = found.filter((hold) => maySee(access, hold)).map((hold) => holdAnswer(hold, nowMs))
        return listAnswer(
          'holds',
          shown,
          found.map(({ holdId }) => holdId),
        )
      }
    },
  }
}

export function endHold(context: Context): Operation {
  return {
    method: 'POST',
    path: `${path}/:holdId/end`,
    mediaType: 'application/json',
    access: { scope: 'anyErase', refusal: 'own' },
    schema: () => ({
      operationId: 'endHold',
      summary: 'End a hold',
      description: 'It keeps nothing any more, from now on. One that was ended before stays as it is.',
      tags: ['Erasing'],
      security: [{ apiKey: [] }],
      params: idParams(holds),
      response: {
        [success.ok]: answer('The hold as it stands.', refTo('Hold'), keyedHeaders),
        ...keyedProblems(
          'missing_scope',
          'ambiguous_tenant',
          'hold_not_found',
          'storage_full',
          ...changeProblems,
        ),
      },
    }),

    prepare(target) {
      const holdId = readId(target, holds, context)
      if (typeof holdId !== 'string') return () => holdId
      return async (_request, access) => end(context, access, holdId)
    },
  }
}

async function end(context: Context, access: Access, holdId: string): Promise<Outcome> {
  const tenant = erasingTenant(access)
  if (typeof tenant !== 'string') return tenant
  // Looked up first: a key that may not see the hold must not end it.
  const found = await context.holds.find(tenant, holdId)
  if (found === undefined || !maySee(access, found)) return refused({ code: 'hold_not_found' })
  const stopped = await inMaintenance(context)
  if (stopped !== undefined) return stopped
  const outcome = await context.holds.end(tenant, holdId, `key:${access.keyId ?? ''}`)
  if (outcome.kind === 'unknownHold') return refused({ code: 'hold_not_found' })
  if (outcome.kind !== 'ended') return refused(refusalOfFeed(outcome))
  const body = JSON.stringify(holdAnswer(outcome.hold, Date.now()))
  return { kind: 'text', status: success.ok, headers: uncachedJson, body }
}
