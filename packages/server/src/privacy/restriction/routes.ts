/** `GET /v1/restrictions` and `/v1/restrictions/{restrictionId}` (PROTOCOL §5.7). */
import { refused, uncachedJson } from '../../http/exchange.ts'
import { answer, keyedHeaders, keyedProblems } from '../../http/openapi/responses.ts'
import { refTo } from '../../http/openapi/schemas.ts'
import { success } from '../../http/problem/problem.ts'
import {
  afterQuery,
  idParams,
  listAnswer,
  listDescription,
  listedPerPage,
  readAfter,
  readId,
} from '../../http/listed.ts'
import type { Operation } from '../../http/operation.ts'
import { restrictionAnswer, restrictions } from './restriction-answer.ts'
import type { ListContext } from '../../http/listed.ts'
import type { RestrictionStore } from './restriction.ts'

interface Context extends ListContext {
  readonly restrictions: RestrictionStore
}

const path = '/v1/restrictions'
const access = { scope: 'contact:erase', refusal: 'own' } as const

export function getRestriction(context: Context): Operation {
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
      params: idParams(restrictions),
      response: {
        [success.ok]: answer('The restriction.', refTo('Restriction'), keyedHeaders),
        ...keyedProblems('missing_scope', 'ambiguous_tenant', 'restriction_not_found'),
      },
    }),

    prepare(target) {
      const restrictionId = readId(target, restrictions, context)
      if (typeof restrictionId !== 'string') return () => restrictionId
      return async (_request, { tenantId = '' }) => {
        const found = await context.restrictions.find(tenantId, restrictionId)
        if (found === undefined) return refused({ code: 'restriction_not_found' })
        const body = JSON.stringify(restrictionAnswer(found))
        return { kind: 'text', status: success.ok, headers: uncachedJson, body }
      }
    },
  }
}

export function listRestrictions(context: Context): Operation {
  return {
    method: 'GET',
    path,
    mediaType: 'application/json',
    access,
    schema: () => ({
      operationId: 'listRestrictions',
      summary: 'List restrictions',
      description: listDescription('ended ones included'),
      tags: ['Erasing'],
      security: [{ apiKey: [] }],
      querystring: afterQuery,
      response: {
        [success.ok]: answer('The restrictions.', refTo('Restrictions'), keyedHeaders),
        ...keyedProblems('missing_scope', 'ambiguous_tenant'),
      },
    }),

    prepare(target) {
      const after = readAfter(target, restrictions, context)
      if (typeof after === 'object') return () => after
      return async (_request, { tenantId = '' }) => {
        const found = await context.restrictions.list(tenantId, after, listedPerPage)
        return listAnswer(
          'restrictions',
          found.map(restrictionAnswer),
          found.map(({ restrictionId }) => restrictionId),
        )
      }
    },
  }
}
