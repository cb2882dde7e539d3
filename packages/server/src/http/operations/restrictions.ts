/** `GET /v1/restrictions` and `/v1/restrictions/{restrictionId}` (PROTOCOL §5.7). */
import { parseUuid } from '@property-events/protocol'
import type { HttpContext } from '../context.ts'
import { refused } from '../exchange.ts'
import { answer, keyedHeaders, keyedProblems } from '../openapi/responses.ts'
import { refTo } from '../openapi/schemas.ts'
import { success } from '../problem.ts'
import { quoteInput } from '../requests/echo-text.ts'
import { readQuery, refusalOfParameters } from '../requests/query.ts'
import { receiptHeaders } from './erasure-receipt.ts'
import type { Operation } from './operation.ts'
import { notAnId } from './restrict.ts'
import { restrictionAnswer } from './restriction-answer.ts'

const path = '/v1/restrictions'
const perPage = 100
const access = { scope: 'contact:erase', refusal: 'own' } as const

export function getRestriction(context: HttpContext): Operation {
  return {
    method: 'GET',
    path: `${path}/:restrictionId`,
    mediaType: 'application/json',
    access,
    schema: () => ({
      operationId: 'getRestriction',
      summary: 'Get a restriction',
      description: 'How far it is. `restricted`: no row, page or answer shows the contact any more.',
      tags: ['Erasing'],
      security: [{ apiKey: [] }],
      params: {
        type: 'object',
        properties: {
          restrictionId: { type: 'string', format: 'uuid', description: 'The `id` of the restriction.' },
        },
        required: ['restrictionId'],
      },
      response: {
        [success.ok]: answer('The restriction.', refTo('Restriction'), keyedHeaders),
        ...keyedProblems('missing_scope', 'ambiguous_tenant', 'restriction_not_found'),
      },
    }),

    prepare({ query, params: [given = ''] }) {
      const refusal = refusalOfParameters(query, context.limits.maxParameters)
      if (refusal !== undefined) return () => refused(refusal)
      const restrictionId = parseUuid(given)
      if (restrictionId === undefined) return () => notAnId
      return async (_request, { tenantId = '' }) => {
        const found = await context.restrictions.find(tenantId, restrictionId)
        if (found === undefined) return refused({ code: 'restriction_not_found' })
        const body = JSON.stringify(restrictionAnswer(found))
        return { kind: 'text', status: success.ok, headers: receiptHeaders, body }
      }
    },
  }
}

export function listRestrictions(context: HttpContext): Operation {
  return {
    method: 'GET',
    path,
    mediaType: 'application/json',
    access,
    schema: () => ({
      operationId: 'listRestrictions',
      summary: 'List restrictions',
      description: `At most ${perPage}, the oldest first, ended ones included. Ask again with \`after\` = \`next\` until \`next\` is null.`,
      tags: ['Erasing'],
      security: [{ apiKey: [] }],
      querystring: {
        type: 'object',
        properties: {
          after: {
            type: 'string',
            format: 'uuid',
            description: 'The id of the last restriction that was read.',
          },
        },
      },
      response: {
        [success.ok]: answer('The restrictions.', refTo('Restrictions'), keyedHeaders),
        ...keyedProblems('missing_scope', 'ambiguous_tenant'),
      },
    }),

    prepare({ query }) {
      const { maxParameters } = context.limits
      const reading = readQuery(query, { names: ['after'], style: 'own', maxParameters })
      const text = reading.values.get('after')
      const after = text === undefined ? undefined : parseUuid(text)
      const errors = [...reading.errors]
      if (text !== undefined && after === undefined) {
        const message = `${quoteInput(text)} is not the id of a restriction, a UUID.`
        errors.push({ parameter: 'after', code: 'not_a_uuid', message })
      }
      if (errors.length > 0) return () => refused({ code: 'invalid_parameter', errors })
      return async (_request, { tenantId = '' }) => {
        const found = await context.restrictions.list(tenantId, after, perPage)
        const next = found.length < perPage ? null : (found.at(-1)?.restrictionId ?? null)
        const body = JSON.stringify({ restrictions: found.map(restrictionAnswer), next })
        return { kind: 'text', status: success.ok, headers: receiptHeaders, body }
      }
    },
  }
}
