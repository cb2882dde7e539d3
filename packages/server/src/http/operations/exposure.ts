/** `/v1/exposure/{keyId}`: which contacts a key was sent, for a notice after a breach (PROTOCOL §5.7, D28). */
import { millisecondsOfTicks, parseWindowBound } from '@property-events/protocol'
import type { ProblemError } from '@property-events/protocol'
import type { ExposedContact, TimeSpan } from '../../feed/exposure.ts'
import type { ExposurePlace } from '../../feed/exposure-page.ts'
import type { HttpContext } from '../context.ts'
import { refused } from '../exchange.ts'
import type { Refused } from '../exchange.ts'
import { answer, keyedHeaders, keyedProblems } from '../openapi/responses.ts'
import { refTo } from '../openapi/schemas.ts'
import { success } from '../problem.ts'
import { quoteInput } from '../requests/echo-text.ts'
import { readQuery } from '../requests/query.ts'
import { receiptHeaders } from './erasure-receipt.ts'
import type { Operation, OperationTarget } from './operation.ts'

const names = ['from', 'to', 'after'] as const
const timeWords = 'As in the list of events: `YYYY-MM-DD`, alone or with a time, in UTC.'
const text = (description: string) => ({ type: 'string', description }) as const

export function getExposure(context: HttpContext): Operation {
  return {
    method: 'GET',
    path: '/v1/exposure/:keyId',
    mediaType: 'application/json',
    access: { scope: 'contact:erase', refusal: 'own' },
    schema: () => ({
      operationId: 'getExposure',
      summary: 'List the contacts that a key was sent',
      description:
        'For a notice after a breach: contacts of the own tenant with the hours in which they were sent. Ask again with `after` = `next` until `next` is null. One that was sent at several times can be in several answers. What a node sends shows within 35 s.',
      tags: ['Erasing'],
      security: [{ apiKey: [] }],
      params: {
        type: 'object',
        properties: { keyId: text('The id of the key, revoked ones included; not the key itself.') },
        required: ['keyId'],
      },
      querystring: {
        type: 'object',
        properties: {
          from: text(`Sent from this time on; by default, ever. ${timeWords}`),
          to: text(`Sent until this time, which is included; by default, until now. ${timeWords}`),
          after: text('The `next` of the answer before.'),
        },
      },
      response: {
        [success.ok]: answer('The contacts.', refTo('Exposure'), keyedHeaders),
        ...keyedProblems('missing_scope', 'ambiguous_tenant', 'key_not_found'),
      },
    }),

    prepare(target) {
      const nowMs = Date.now()
      const asked = readAsked(target, context, nowMs)
      if ('kind' in asked) return () => asked
      const [keyId = ''] = target.params
      return async (_request, { tenantId = '', keyId: ownId = '' }) => {
        const { after, ...span } = asked
        const page = await context.exposureOf({
          ...span,
          tenantId,
          keyId,
          after,
          nowMs,
          actor: `key:${ownId}`,
        })
        if (page === undefined) return refused({ code: 'key_not_found' })
        const body = JSON.stringify({
          keyId,
          tenantId,
          ...timesAnswer(span),
          contacts: page.contacts.map(contactAnswer),
          unknownTimes: page.unknown.map(timesAnswer),
          next: page.next === undefined ? null : textOf(page.next),
        })
        return { kind: 'text', status: success.ok, headers: receiptHeaders, body }
      }
    },
  }
}

function readAsked(
  { query }: OperationTarget,
  { limits: { maxParameters } }: HttpContext,
  nowMs: number,
): (TimeSpan & { readonly after: ExposurePlace | undefined }) | Refused {
  const reading = readQuery(query, { names, style: 'own', maxParameters })
  const errors: ProblemError[] = [...reading.errors]
  const timeOf = (name: 'from' | 'to', otherwise: number): number => {
    const given = reading.values.get(name)
    if (given === undefined) return otherwise
    const ticks = parseWindowBound(name, given)
    if (ticks !== undefined) return millisecondsOfTicks(ticks)
    errors.push({
      parameter: name,
      code: 'not_a_time',
      message: `${quoteInput(given)} is not a time. ${timeWords}`,
    })
    return otherwise
  }
  const [fromMs, toMs] = [timeOf('from', 0), timeOf('to', nowMs)]
  if (errors.length === 0 && toMs <= fromMs) {
    errors.push({ parameter: 'to', code: 'before_from', message: '`to` must lie after `from`.' })
  }
  const written = reading.values.get('after')
  const after = written === undefined ? undefined : placeOf(written)
  if (written !== undefined && after === undefined) {
    const message = `${quoteInput(written)} is not the \`next\` of an answer.`
    errors.push({ parameter: 'after', code: 'not_a_place', message })
  }
  if (errors.length > 0) return refused({ code: 'invalid_parameter', errors })
  return { fromMs, toMs, after }
}

const views = ['all', 'numbers'] as const

function textOf({ view, hour, block }: ExposurePlace): string {
  return `${view}.${hour}.${block}`
}

function placeOf(written: string): ExposurePlace | undefined {
  const [, word, hour, block] = /^([a-z]{3,8})\.([0-9]{1,9})\.([0-9]{1,9})$/.exec(written) ?? []
  const view = views.find((one) => one === word)
  return view === undefined ? undefined : { view, hour: Number(hour), block: Number(block) }
}

function timesAnswer({ fromMs, toMs }: TimeSpan): object {
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() }
}

function contactAnswer({ contactRef, certainty, firstMs, lastMs }: ExposedContact): object {
  const [firstSentAt, lastSentAt] = [new Date(firstMs).toISOString(), new Date(lastMs).toISOString()]
  return { contactRef, certainty, firstSentAt, lastSentAt }
}
