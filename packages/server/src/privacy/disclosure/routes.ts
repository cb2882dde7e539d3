/** `/v1/exposure/{keyId}`: which contacts a key was sent, for a notice after a breach (PROTOCOL §5.7, D28). */
import { isKeyId } from '@property-events/protocol'
import type { ProblemError } from '@property-events/protocol'
import type { ExposedContact as ContactAnswer, UnknownTime } from '@property-events/protocol/wire'
import type { DisclosedContact, TimeSpan } from './disclosures.ts'
import type { DisclosureCursor, DisclosurePageQuery, DisclosurePage } from './disclosure-page.ts'
import { refused, uncachedAnswer, invalidParameters } from '../../http/exchange.ts'
import type { Refused } from '../../http/exchange.ts'
import { keyIdSchema } from '../../http/openapi/parameters.ts'
import { keyedOperation } from '../../http/keyed-operation.ts'
import { listBy } from '../../http/listed.ts'
import type { RowCursor } from '../../http/listed.ts'
import { readQuery } from '../../http/requests/query.ts'
import { readTimeMs, timeSchema } from '../../http/requests/time-parameter.ts'
import type { Operation, OperationTarget } from '../../http/operation.ts'
import type { ServiceLimits } from '../../http/limits.ts'

interface Context {
  /** Which contacts a key was sent; `undefined` if the key has nothing to do with the tenant. */
  readonly disclosuresOf: (query: DisclosurePageQuery) => Promise<DisclosurePage | undefined>
  readonly limits: ServiceLimits
}

const names = ['from', 'to', 'after'] as const

const views = ['all', 'numbers'] as const
const cursorPattern = /^(all|numbers)\.([0-9]{1,9})\.([0-9]{1,9})$/
const disclosureCursor: RowCursor<DisclosureCursor> = {
  form: { pattern: cursorPattern.source },
  parse(text) {
    const [, word, hour, block] = cursorPattern.exec(text) ?? []
    const view = views.find((one) => one === word)
    return view === undefined ? undefined : { view, hour: Number(hour), block: Number(block) }
  },
  format: ({ view, hour, block }) => `${view}.${hour}.${block}`,
}
const disclosures = listBy(disclosureCursor)

export function getExposure(context: Context): Operation {
  return keyedOperation({
    method: 'GET',
    path: '/v1/exposure/:keyId',
    scope: 'contact:erase',
    tag: 'Erasing',
    operationId: 'getExposure',
    summary: 'List the contacts that a key was sent',
    description:
      'For a notice after a breach: contacts of the own tenant with the hours in which they were sent. Repeat with `after` = `next` until `next` is null. One that was sent at several times can be in several answers. What a node sends is included within 35 s.',
    params: {
      type: 'object',
      properties: { keyId: keyIdSchema('The id of the key, revoked ones included; not the key itself.') },
    },
    query: {
      type: 'object',
      properties: {
        from: timeSchema('Sent from this time on, in the forms of `from` of a list; by default, ever.'),
        to: timeSchema(
          'Sent until this time, which is included, in the forms of `to` of a list; by default, until now.',
        ),
        after: disclosures.query.after,
      },
    },
    ok: { description: 'The contacts.', schema: 'Exposure' },
    problems: ['key_not_found'],

    prepare(target) {
      const [keyId = ''] = target.params
      if (!isKeyId(keyId)) return () => noKey
      const asked = readExposureQuery(target, context)
      if ('kind' in asked) return () => asked
      return async (_request, { tenantId = '', keyId: ownId = '' }) => {
        // Read here and not in the preparation, which a connection keeps for its next request at another time.
        const nowMs = Date.now()
        const { fromMs, toMs = nowMs, after } = asked
        if (toMs <= fromMs) return windowReversed
        const span = { fromMs, toMs }
        const actor = `key:${ownId}` as const
        const page = await context.disclosuresOf({ ...span, tenantId, keyId, after, nowMs, actor })
        if (page === undefined) return noKey
        return uncachedAnswer({
          keyId,
          tenantId,
          ...timesAnswer(span),
          contacts: page.contacts.map(contactAnswer),
          unknownTimes: page.unknown.map(timesAnswer),
          next: page.next === undefined ? null : disclosureCursor.format(page.next),
        })
      }
    },
  })
}

const noKey = refused({ code: 'key_not_found' })
const windowReversed = invalidParameters({
  parameter: 'to',
  code: 'before_from',
  message: '`to` must be later than `from`.',
})

interface ExposureQuery {
  readonly fromMs: number
  /** `undefined` means now. */
  readonly toMs: number | undefined
  readonly after: DisclosureCursor | undefined
}

function readExposureQuery(
  { query }: OperationTarget,
  { limits: { maxParameters } }: Context,
): ExposureQuery | Refused {
  const reading = readQuery(query, { names, style: 'own', maxParameters })
  const errors: ProblemError[] = [...reading.errors]
  const [fromMs = 0, toMs] = [
    readTimeMs('from', reading.values, errors),
    readTimeMs('to', reading.values, errors),
  ]
  const after = disclosures.parseAfter(reading.values, errors)
  if (errors.length > 0) return invalidParameters(...errors)
  return { fromMs, toMs, after }
}

function timesAnswer({ fromMs, toMs }: TimeSpan): UnknownTime {
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() }
}

function contactAnswer({ contactRef, certainty, firstMs, lastMs }: DisclosedContact): ContactAnswer {
  const [firstSentAt, lastSentAt] = [new Date(firstMs).toISOString(), new Date(lastMs).toISOString()]
  return { contactRef, certainty, firstSentAt, lastSentAt }
}
