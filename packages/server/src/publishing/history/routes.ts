/** `GET /v1/publications`: what a publisher's own key has published, and what it was refused (PROTOCOL §14.2). */
import { publicationDaysKept } from './publication.ts'
import { refused, uncachedAnswer } from '../../http/exchange.ts'
import { keyedOperation } from '../../http/keyed-operation.ts'
import { readParameters } from '../../http/requests/query.ts'
import type { Operation } from '../../http/operation.ts'
import { publicationSchemas, publicationsAnswer, readPublicationParameters } from './publications-answer.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import type { PublicationStore } from './publication.ts'
import { keyIdSchema } from '../../http/openapi/parameters.ts'
import { tenantOperation } from '../../tenants/routes/tenant-operation.ts'
import { readKeyId } from '../../keys/routes/key-path.ts'
import type { TenantContext } from '../../tenants/routes/tenant-operation.ts'

interface Context {
  readonly limits: ServiceLimits
  readonly publications: PublicationStore
}

export function listOwnPublications(context: Context): Operation {
  return keyedOperation({
    method: 'GET',
    path: '/v1/publications',
    scope: 'anyPublish',
    tag: 'Publishing',
    operationId: 'listPublications',
    summary: 'List what this key has published',
    description: `By minute, the newest first, for ${publicationDaysKept} days: requests, results of their events, warnings by code, and refusals with the places and codes of their faults. Requests are shown within 35 seconds.`,
    query: { type: 'object', properties: publicationSchemas },
    ok: { description: 'Minutes in which something was published or refused.', schema: 'Publications' },

    prepare({ query }) {
      const names = Object.keys(publicationSchemas)
      const reading = readParameters(query, names, context.limits, readPublicationParameters)
      if (reading.kind === 'refused') return () => reading
      return async (_request, { keyId = '', grants }) => {
        const own = grants.filter(({ scopes }) => scopes.some((scope) => scope.endsWith(':publish')))
        const [tenantId, ...others] = new Set(own.map((grant) => grant.tenantId))
        if (tenantId === undefined || others.length > 0) return refused({ code: 'ambiguous_tenant' })
        return uncachedAnswer(
          await publicationsAnswer(context.publications, tenantId, keyId, reading.parameters),
        )
      }
    },
  })
}

interface Context extends TenantContext {
  readonly publications: PublicationStore
}

export function listPublications(context: Context): Operation {
  return tenantOperation(context, {
    method: 'GET',
    path: '/tenants/:tenantId/publications',
    need: 'admin:inspect',
    operationId: 'adminListPublications',
    summary: 'List what was published for a tenant',
    description: `By key and minute, the newest first, for ${publicationDaysKept} days: requests, results of their events, warnings by code, and refusals. No value of any payload. Requests are shown within 35 seconds.`,
    query: {
      ...publicationSchemas,
      key: keyIdSchema('Only what the key with this id published.'),
    },
    ok: { description: 'Minutes in which something was published or refused.', schema: 'Publications' },
    read: (values, errors) => ({
      keyId: readKeyId(values, errors),
      asked: readPublicationParameters(values, errors),
    }),
    answer: async ({ tenant: { tenantId }, parameters: { keyId, asked } }) =>
      uncachedAnswer(await publicationsAnswer(context.publications, tenantId, keyId, asked)),
  })
}
