/** `GET /v1/admin/tenants/{tenantId}/publications`: what was published for a tenant, and what was refused (PROTOCOL §14.2). */
import { uncachedAnswer } from '../../http/exchange.ts'
import { publicationDaysKept } from './publication.ts'
import { keyIdSchema } from '../../http/openapi/parameters.ts'
import type { Operation } from '../../http/operation.ts'
import { publicationSchemas, publicationsAnswer, readPublicationParameters } from './publications-answer.ts'
import { tenantOperation } from '../../tenants/routes/tenant-operation.ts'
import { readKeyId } from '../../keys/routes/key-path.ts'
import type { PublicationStore } from './publication.ts'
import type { TenantContext } from '../../tenants/routes/tenant-operation.ts'

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
