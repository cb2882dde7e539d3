/** `GET /v1/properties/{agentRef}/terms`: on which terms a property was advertised at a moment, and where (PROTOCOL §14.8). */
import { feeds } from '@property-events/protocol'
import type { PropertyTerms } from '@property-events/protocol/wire'
import type { TermsQuery } from '../terms.ts'
import { feedKeyOf } from '../../http/access.ts'
import { refused, uncachedAnswer } from '../../http/exchange.ts'
import { subjectParams } from '../../http/openapi/parameters.ts'
import { feedOperation } from '../../http/keyed-operation.ts'
import { readQuery } from '../../http/requests/query.ts'
import { readTime, timeSchema } from '../../http/requests/time-parameter.ts'
import { readSubject } from '../../reading/routes/cursor-parameters.ts'
import { tenantOperation } from '../../tenants/routes/tenant-operation.ts'
import type { TenantContext } from '../../tenants/routes/tenant-operation.ts'
import type { Operation } from '../../http/operation.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import { publishesFor } from './property-consumers.ts'

type Asked = Omit<TermsQuery, 'nowMs' | 'recordedFromMs'>

interface Context {
  readonly limits: ServiceLimits
  /** On which terms a property was advertised; `undefined` if the feed has no event of it. */
  readonly propertyTerms: (asked: Asked) => Promise<PropertyTerms | undefined>
}

const description =
  'Price, qualifier, frequency, deposit, term, status, whether it was advertised, and the material information, as the event in force at that moment states them; and for each consumer when it was first sent the event, when it reported that it had applied it, and when and where it reported the property live. What an erasure or retention has taken, and what was never recorded, is named as such. *Sent* never means that anything was processed.'
const at = timeSchema(
  'The moment, in the forms of `to` of a list: a day means its end, in UTC. By default, and if it is later than now, now.',
)

export function propertyTerms(context: Context): Operation {
  return feedOperation('property', {
    method: 'GET',
    path: `${feeds.property.subjectsPath}/:subjectId/terms`,
    scope: 'property:publish',
    orScope: 'property:read',
    operationId: 'getPropertyTerms',
    summary: 'See the terms of a property on a day',
    description: `${description} A key with \`property:publish\` sees all consumers of its tenant, or of its branches, any other key itself.`,
    params: subjectParams('property'),
    query: { type: 'object', properties: { at } },
    ok: { description: 'The terms.', schema: 'PropertyTerms' },
    problems: ['subject_not_found'],

    prepare({ query, params }) {
      const rules = { names: ['at'], style: 'own', maxParameters: context.limits.maxParameters } as const
      const { values, errors: unknown } = readQuery(query, rules)
      const errors = [...unknown]
      const before = readTime('at', values, errors)
      if (errors.length > 0) return () => refused({ code: 'invalid_parameter', errors })
      const subject = readSubject(params[0], 'property')
      if ('code' in subject) return () => refused({ code: 'invalid_parameter', errors: [subject] })
      return async (_request, access) => {
        const key = feedKeyOf(access, 'property')
        const keyId = publishesFor(access, key.tenantId) ? undefined : access.keyId
        return answerTerms(context, { key, ...subject, keyId, branches: access.branches, before })
      }
    },
  })
}

/** The same for a tenant in the path. */
export function adminPropertyTerms(context: Context & TenantContext): Operation {
  return tenantOperation(context, {
    method: 'GET',
    path: '/tenants/:tenantId/properties/:agentRef/terms',
    need: 'admin:inspect',
    operationId: 'adminGetPropertyTerms',
    summary: 'Of a tenant: see the terms of a property on a day',
    description,
    ok: { description: 'The terms.', schema: 'PropertyTerms' },
    problems: ['subject_not_found'],
    query: { at },
    read: (values, errors) => ({ before: readTime('at', values, errors) }),
    async answer({ parameters: { before }, tenant: { tenantId }, params: [, given] }) {
      const subject = readSubject(given, 'property')
      if ('code' in subject) {
        return refused({ code: 'invalid_parameter', errors: [{ ...subject, parameter: 'agentRef' }] })
      }
      const key = { tenantId, feed: 'property' } as const
      return answerTerms(context, { key, ...subject, keyId: undefined, branches: undefined, before })
    },
  })
}

async function answerTerms(context: Context, asked: Asked) {
  const terms = await context.propertyTerms(asked)
  return terms === undefined ? refused({ code: 'subject_not_found' }) : uncachedAnswer(terms)
}
