/** The webhooks of a tenant, for those who look after it and for operators (PROTOCOL §12.13). */
import { refused, uncachedAnswer } from '../../http/exchange.ts'
import type { Outcome } from '../../http/exchange.ts'
import type { Access } from '../../http/access.ts'
import { noParameters } from '../../http/admin-operation.ts'
import { idCursor, listBy } from '../../http/listed.ts'
import type { Operation } from '../../http/operation.ts'
import { withSmallBody } from '../../http/requests/read-body.ts'
import { tenantOperation } from '../../tenants/routes/tenant-operation.ts'
import type { TenantContext } from '../../tenants/routes/tenant-operation.ts'
import type { EndpointRecord, EndpointState } from '../endpoint.ts'
import { webhookMembers } from './webhook-answer.ts'
import { readPause } from './webhook-body.ts'
import {
  bodyOf,
  changedAnswer,
  changeWebhook,
  noWebhook,
  readWebhookId,
  webhookParams,
} from './webhook-operation.ts'
import type { WebhookContext } from './webhook-operation.ts'
import { openedSecrets } from './webhook-secret.ts'

type Context = WebhookContext & TenantContext

const list = listBy(idCursor)

export function listTenantWebhooks(context: Context): Operation {
  return tenantOperation(context, {
    method: 'GET',
    path: '/tenants/:tenantId/webhooks',
    need: 'admin:inspect',
    operationId: 'listTenantWebhooks',
    summary: 'List the webhooks of a tenant',
    description:
      'Of both feeds, with their state and how far they are, in the order of their ids. Repeat with `after` = `next` until `next` is null.',
    query: list.query,
    ok: { description: 'The webhooks.', schema: 'Webhooks' },
    read: list.read,
    async answer({ tenant: { tenantId }, parameters: { after, limit } }) {
      const found = await context.webhooks.list({ tenantId, after, limit: limit + 1 })
      const { items, next } = list.page(found, limit, ({ endpointId }) => endpointId)
      return uncachedAnswer({ items: items.map((one) => webhookMembers(one, context.clock())), next })
    },
  })
}

export function pauseTenantWebhook(context: Context): Operation {
  return tenantOperation(context, {
    ...noParameters,
    method: 'POST',
    path: '/tenants/:tenantId/webhooks/:webhookId/pause',
    params: webhookParams.properties,
    need: 'admin:manage',
    operationId: 'pauseTenantWebhook',
    summary: 'Pause or release a webhook of a tenant',
    description:
      'Paused by an operator (`operator`), it is released by operators only; paused by a key of the tenant (`asked`), also by its owner. Released, it is enabled, unless it came with a copy and has no secret yet.',
    body: 'WebhookPause',
    ok: { description: 'The webhook as it is now.', schema: 'Webhook' },
    problems: ['webhook_not_found'],
    answer: ({ request, access, tenant: { tenantId }, params }) =>
      withSmallBody(context, request, access, async (text): Promise<Outcome> => {
        const read = bodyOf(readPause(text))
        if ('refusal' in read) return read
        const endpointId = readWebhookId(params.slice(1))
        if (typeof endpointId !== 'string') return endpointId
        const endpoint = await context.webhooks.find(endpointId)
        if (endpoint?.tenantId !== tenantId) return noWebhook
        const isOperator = access.adminScopes.includes('admin:manage')
        return setPaused(context, { access, endpoint }, { paused: read.body, isOperator })
      }),
  })
}

async function setPaused(
  context: Context,
  asked: { readonly access: Access; readonly endpoint: EndpointRecord },
  { paused, isOperator }: { readonly paused: boolean; readonly isOperator: boolean },
): Promise<Outcome> {
  const { endpoint } = asked
  const { state } = endpoint
  if (!isOperator && state.kind === 'paused' && state.reason === 'operator') return operatorsOnly
  const next = paused ? pausedBy(context, endpoint, isOperator) : released(context, endpoint)
  if (next === state) return uncachedAnswer(webhookMembers(endpoint, context.clock()))
  return changedAnswer(context, await changeWebhook(context, asked, { state: next }))
}

const operatorsOnly = refused({
  code: 'missing_scope',
  detail: 'An operator has paused this webhook, so only an operator can release it. Nothing was changed.',
})

/** An operator pauses what is stopped already as well: nobody else can enable it then. */
function pausedBy({ clock }: Context, { state }: EndpointRecord, isOperator: boolean): EndpointState {
  if (isOperator && !(state.kind === 'paused' && state.reason === 'operator'))
    return { kind: 'paused', reason: 'operator', sinceMs: clock() }
  return state.kind === 'enabled' ? { kind: 'paused', reason: 'asked', sinceMs: clock() } : state
}

/** Without a secret that can be used, only its owner can enable it, who is shown a new one. */
function released({ clock, peppers }: Context, endpoint: EndpointRecord): EndpointState {
  const { state } = endpoint
  if (state.kind !== 'paused') return state
  const nowMs = clock()
  if (openedSecrets(peppers, endpoint, nowMs).length > 0) return { kind: 'enabled' }
  return state.reason === 'copied' ? state : { kind: 'paused', reason: 'copied', sinceMs: nowMs }
}
