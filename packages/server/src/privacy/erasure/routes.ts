/** `GET /v1/erasures` and `/v1/erasures/{erasureId}`: receipts of what was erased (PROTOCOL §5.7). */
import { refused, uncachedJson } from '../../http/exchange.ts'
import { answer, keyedHeaders, keyedProblems } from '../../http/openapi/responses.ts'
import { refTo } from '../../http/openapi/schemas.ts'
import { success } from '../../http/problem/problem.ts'
import { erasureReceipt, wholeReceipt } from './receipt.ts'
import { erasingTenant, maySee } from './erasing-access.ts'
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
import type { ErasureStore } from './erasure.ts'
import type { ReceiptContext } from './receipt.ts'

/** What showing erasures needs. */
export interface ErasuresContext extends ListContext, ReceiptContext {
  readonly erasures: ErasureStore
}

const path = '/v1/erasures'
const erasures: Listed = { one: 'an erasure', parameter: 'erasureId' }

export function getErasure(context: ErasuresContext): Operation {
  return {
    method: 'GET',
    path: `${path}/:erasureId`,
    mediaType: 'application/json',
    access: { scope: 'anyErase', refusal: 'own' },
    schema: () => ({
      operationId: 'getErasure',
      summary: 'Get the receipt of an erasure',
      description:
        'How far it is, and to whom the payloads had been sent. `unreachable`: no row, page or answer holds them any more.',
      tags: ['Erasing'],
      security: [{ apiKey: [] }],
      params: idParams(erasures),
      response: {
        [success.ok]: answer('The receipt.', refTo('Erasure'), keyedHeaders),
        ...keyedProblems('missing_scope', 'ambiguous_tenant', 'erasure_not_found'),
      },
    }),

    prepare(target) {
      const erasureId = readId(target, erasures, context)
      if (typeof erasureId !== 'string') return () => erasureId
      return async (_request, access) => {
        const tenant = erasingTenant(access)
        if (typeof tenant !== 'string') return tenant
        const erasure = await context.erasures.find(tenant, erasureId)
        if (erasure === undefined || !maySee(access, erasure)) return refused({ code: 'erasure_not_found' })
        const body = JSON.stringify(await wholeReceipt(context, erasure))
        return { kind: 'text', status: success.ok, headers: uncachedJson, body }
      }
    },
  }
}

export function listErasures(context: ErasuresContext): Operation {
  return {
    method: 'GET',
    path,
    mediaType: 'application/json',
    access: { scope: 'anyErase', refusal: 'own' },
    schema: () => ({
      operationId: 'listErasures',
      summary: 'List the receipts of erasures',
      description: listDescription('without recipients'),
      tags: ['Erasing'],
      security: [{ apiKey: [] }],
      querystring: afterQuery,
      response: {
        [success.ok]: answer('The receipts.', refTo('Erasures'), keyedHeaders),
        ...keyedProblems('missing_scope', 'ambiguous_tenant'),
      },
    }),

    prepare(target) {
      const after = readAfter(target, erasures, context)
      if (typeof after === 'object') return () => after
      return async (_request, access) => {
        const tenant = erasingTenant(access)
        if (typeof tenant !== 'string') return tenant
        const found = await context.erasures.list(tenant, after, listedPerPage)
        const backups = found.length === 0 ? [] : await context.backups()
        const receipts = found
          .filter((erasure) => maySee(access, erasure))
          .map((erasure) => erasureReceipt(erasure, backups))
        return listAnswer(
          'erasures',
          receipts,
          found.map(({ erasureId }) => erasureId),
        )
      }
    },
  }
}
