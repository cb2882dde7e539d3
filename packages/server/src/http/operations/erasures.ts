/** `GET /v1/erasures` and `/v1/erasures/{erasureId}`: receipts of what was erased (PROTOCOL §5.7). */
import { parseUuid } from '@property-events/protocol'
import type { HttpContext } from '../context.ts'
import { refused } from '../exchange.ts'
import { answer, keyedHeaders, keyedProblems } from '../openapi/responses.ts'
import { refTo } from '../openapi/schemas.ts'
import { success } from '../problem.ts'
import { quoteInput } from '../requests/echo-text.ts'
import { readQuery, refusalOfParameters } from '../requests/query.ts'
import { erasureReceipt, receiptHeaders, wholeReceipt } from './erasure-receipt.ts'
import { erasingTenant, maySee } from './erasing-access.ts'
import type { Operation } from './operation.ts'

const path = '/v1/erasures'
const receiptsPerPage = 100

export function getErasure(context: HttpContext): Operation {
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
      params: {
        type: 'object',
        properties: {
          erasureId: { type: 'string', format: 'uuid', description: 'The `id` of the receipt.' },
        },
        required: ['erasureId'],
      },
      response: {
        [success.ok]: answer('The receipt.', refTo('Erasure'), keyedHeaders),
        ...keyedProblems('missing_scope', 'ambiguous_tenant', 'erasure_not_found'),
      },
    }),

    prepare({ query, params: [given = ''] }) {
      const refusal = refusalOfParameters(query, context.limits.maxParameters)
      if (refusal !== undefined) return () => refused(refusal)
      const erasureId = parseUuid(given)
      if (erasureId === undefined) {
        const message = 'The id of an erasure is a UUID: 8-4-4-4-12 hexadecimal digits.'
        const errors = [{ parameter: 'erasureId', code: 'not_a_uuid', message }]
        return () => refused({ code: 'invalid_parameter', errors })
      }
      return async (_request, access) => {
        const tenant = erasingTenant(access)
        if (typeof tenant !== 'string') return tenant
        const erasure = await context.erasures.find(tenant, erasureId)
        if (erasure === undefined || !maySee(access, erasure)) return refused({ code: 'erasure_not_found' })
        const body = JSON.stringify(await wholeReceipt(context, erasure))
        return { kind: 'text', status: success.ok, headers: receiptHeaders, body }
      }
    },
  }
}

export function listErasures(context: HttpContext): Operation {
  return {
    method: 'GET',
    path,
    mediaType: 'application/json',
    access: { scope: 'anyErase', refusal: 'own' },
    schema: () => ({
      operationId: 'listErasures',
      summary: 'List the receipts of erasures',
      description: `At most ${receiptsPerPage}, the oldest first, without recipients. Ask again with \`after\` = \`next\` until \`next\` is null.`,
      tags: ['Erasing'],
      security: [{ apiKey: [] }],
      querystring: {
        type: 'object',
        properties: {
          after: { type: 'string', format: 'uuid', description: 'The id of the last receipt that was read.' },
        },
      },
      response: {
        [success.ok]: answer('The receipts.', refTo('Erasures'), keyedHeaders),
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
        const message = `${quoteInput(text)} is not the id of a receipt, a UUID.`
        errors.push({ parameter: 'after', code: 'not_a_uuid', message })
      }
      if (errors.length > 0) return () => refused({ code: 'invalid_parameter', errors })
      return async (_request, access) => {
        const tenant = erasingTenant(access)
        if (typeof tenant !== 'string') return tenant
        const found = await context.erasures.list(tenant, after, receiptsPerPage)
        const backups = found.length === 0 ? [] : await context.backups()
        const erasures = found
          .filter((erasure) => maySee(access, erasure))
          .map((erasure) => erasureReceipt(erasure, backups))
        const next = found.length < receiptsPerPage ? null : (found.at(-1)?.erasureId ?? null)
        const body = JSON.stringify({ erasures, next })
        return { kind: 'text', status: success.ok, headers: receiptHeaders, body }
      }
    },
  }
}
