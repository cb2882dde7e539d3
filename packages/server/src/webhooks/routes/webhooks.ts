/** `/v1/webhooks`: making, listing, changing and deleting endpoints (PROTOCOL §16.1). */
import { feedNames, uuidV7 } from '@property-events/protocol'
import type { FeedName, ProblemError } from '@property-events/protocol'
import type { FeedKey } from '../../events/feed-key.ts'
import { refused, uncachedAnswer } from '../../http/exchange.ts'
import type { Outcome, Refused } from '../../http/exchange.ts'
import { idCursor, listBy } from '../../http/listed.ts'
import { noParameters } from '../../http/admin-operation.ts'
import type { Operation } from '../../http/operation.ts'
import { success } from '../../http/problem/problem.ts'
import { quoteInput } from '../../http/requests/echo-text.ts'
import { actorOf } from '../../tenants/routes/tenants.ts'
import { endpointsPerTenant } from '../endpoint.ts'
import type { EndpointRecord, EndpointSettings, EndpointState, WebhookStore } from '../endpoint.ts'
import { maySeeEndpoint, maySendFor, rightsOf } from '../rights.ts'
import { webhookMembers } from './webhook-answer.ts'
import { readNewWebhook, readWebhookChange } from './webhook-body.ts'
import { checkedUrl } from './webhook-test.ts'
import {
  bodyOf,
  changedAnswer,
  changeWebhook,
  noWebhook,
  oneWebhook,
  refusalOfPosting,
  tenantsWebhooks,
} from './webhook-operation.ts'
import type { WebhookContext, WebhookRequest } from './webhook-operation.ts'
import { makeSecret, openedSecrets } from './webhook-secret.ts'

export function createWebhook(context: WebhookContext): Operation {
  return tenantsWebhooks(context, {
    ...noParameters,
    method: 'POST',
    operationId: 'createWebhook',
    summary: 'Create a webhook',
    description:
      'Events after `after` are posted to `url`, signed with the `secret`, which is in this answer and nowhere else. It reads what the key reads now, and never more. Needs the scope to read the feed as well.',
    body: 'NewWebhook',
    ok: { status: success.created, description: 'The webhook with its secret.', schema: 'MadeWebhook' },
    problems: ['webhook_address_refused', 'webhook_limit', 'cursor_beyond_head'],
    async answer({ access, grant, text }) {
      const read = bodyOf(readNewWebhook(text))
      if ('refusal' in read) return read
      const { settings, after } = read.body
      const refusal = refusalOfPosting(grant, settings.feed) ?? (await checkedUrl(context, settings.url))
      if (refusal !== undefined) return refusal
      const start = await startOf(
        context,
        { tenantId: grant.tenantId, feed: settings.feed },
        settings.events,
        after,
      )
      if ('refusal' in start) return start
      const nowMs = context.clock()
      const endpointId = uuidV7(nowMs)
      const secret = makeSecret(context.peppers, endpointId, nowMs)
      const made = {
        endpointId,
        tenantId: grant.tenantId,
        keyId: access.keyId ?? '',
        rights: rightsOf(grant, settings.feed),
        settings,
        createdMs: nowMs,
        secret: secret.stored,
        ...start,
      }
      const outcome = await context.webhooks.create(made, actorOf(access))
      if (outcome === 'limit') return tooMany
      const endpoint = outcome === 'created' ? await context.webhooks.find(endpointId) : undefined
      if (endpoint === undefined) return refused({ code: 'missing_scope' })
      context.webhookChanged()
      const location = `${context.basePath}/v1/webhooks/${endpointId}`
      const shown = { secret: secret.text, ...webhookMembers(endpoint, nowMs) }
      return uncachedAnswer(shown, success.created, { location })
    },
  })
}

const tooMany = refused({
  code: 'webhook_limit',
  detail: `This tenant has ${endpointsPerTenant} webhooks, the most that it may have. Delete one that is no longer needed.`,
})

/** Where an endpoint starts; refused if its feed has not come to that number. */
export async function startOf(
  context: Pick<WebhookContext, 'events' | 'webhooks'>,
  key: FeedKey,
  events: EndpointSettings['events'],
  after: number | 'head',
): Promise<{ readonly after: number; readonly epoch: string } | Refused> {
  const head = await context.events.head(key)
  if (head === undefined) return refused({ code: 'missing_scope' })
  const { epoch } = head
  const last = events === 'feed' ? head.sequenceNumber : await lastNotice(context.webhooks, key)
  if (after === 'head') return { after: last, epoch }
  if (after <= last) return { after, epoch }
  const detail = `${after} is beyond the last number, ${last}. Send a smaller one, or head for what comes from now on.`
  return refused({ code: 'cursor_beyond_head', detail })
}

const noticesAtOnce = 1_000

/** They are kept for a while only, so there are few. */
async function lastNotice(webhooks: WebhookStore, key: FeedKey): Promise<number> {
  let last = 0
  for (;;) {
    const found = await webhooks.notices({ ...key, after: last, limit: noticesAtOnce })
    last = found.at(-1)?.noticeNo ?? last
    if (found.length < noticesAtOnce) return last
  }
}

const list = listBy(idCursor)

export function listWebhooks(context: WebhookContext): Operation {
  return tenantsWebhooks(context, {
    method: 'GET',
    operationId: 'listWebhooks',
    summary: 'List webhooks, without their secrets',
    description:
      'Those of the tenant that the key may see, in the order of their ids. Repeat with `after` = `next` until `next` is null; a page can have fewer than `limit`.',
    query: {
      feed: { type: 'string', enum: [...feedNames], description: 'Only those of this feed.' },
      ...list.query,
    },
    ok: { description: 'The webhooks.', schema: 'Webhooks' },
    read: (values, errors) => ({ ...list.read(values, errors), feed: readFeed(values, errors) }),
    async answer({ grant, parameters: { after, limit, feed } }) {
      const { tenantId } = grant
      const found = await context.webhooks.list({ tenantId, ...(feed && { feed }), after, limit: limit + 1 })
      const { items, next } = list.page(found, limit, ({ endpointId }) => endpointId)
      const seen = items.filter((endpoint) => maySeeEndpoint(grant, endpoint))
      return uncachedAnswer({ items: seen.map((one) => webhookMembers(one, context.clock())), next })
    },
  })
}

function readFeed(values: ReadonlyMap<string, string>, errors: ProblemError[]): FeedName | undefined {
  const text = values.get('feed')
  const feed = feedNames.find((one) => one === text)
  if (text !== undefined && feed === undefined) {
    const message = `${quoteInput(text)} is not allowed; feed must be one of ${feedNames.join(', ')}.`
    errors.push({ parameter: 'feed', code: 'unknown_value', message })
  }
  return feed
}

export function getWebhook(context: WebhookContext): Operation {
  return oneWebhook(context, {
    ...noParameters,
    method: 'GET',
    operationId: 'getWebhook',
    summary: 'Get a webhook, without its secrets',
    description: 'Its settings, whether it sends, and how far it is.',
    ok: { description: 'The webhook.', schema: 'Webhook' },
    answer: ({ endpoint }) => uncachedAnswer(webhookMembers(endpoint, context.clock())),
  })
}

export function deleteWebhook(context: WebhookContext): Operation {
  return oneWebhook(context, {
    ...noParameters,
    method: 'DELETE',
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook',
    description: 'With its secrets, what waits and its log. Nothing is posted to it any more.',
    ok: { description: 'The webhook as it was.', schema: 'Webhook' },
    async answer({ access, endpoint }) {
      const removed = await context.webhooks.remove(endpoint.endpointId, actorOf(access))
      if (removed === 'unknown') return noWebhook
      context.webhookChanged()
      return uncachedAnswer(webhookMembers(endpoint, context.clock()))
    },
  })
}

export function changeWebhookSettings(context: WebhookContext): Operation {
  return oneWebhook(context, {
    ...noParameters,
    method: 'PATCH',
    operationId: 'changeWebhook',
    summary: 'Change, pause or enable a webhook',
    description:
      'What is left out stays. Enabled, it goes on where it stood; if it has no secret that can be used, because it came with a copy, one is made and is in this answer only. Needs the scope to read the feed as well.',
    body: 'WebhookChange',
    ok: { description: 'The webhook as it is now.', schema: 'ChangedWebhook' },
    problems: ['webhook_address_refused'],
    async answer(asked) {
      const { grant, endpoint, text } = asked
      const read = bodyOf(readWebhookChange(text, endpoint.settings))
      if ('refusal' in read) return read
      const { settings, state } = read.body
      const { url } = settings
      const refusal =
        refusalOfPosting(grant, endpoint.settings.feed) ??
        (url === undefined ? undefined : await checkedUrl(context, url))
      if (refusal !== undefined) return refusal
      return state === 'enabled'
        ? enable(context, asked, settings)
        : changedAnswer(
            context,
            await changeWebhook(context, asked, { settings, ...(state && pausedState(context, endpoint)) }),
          )
    },
  })
}

/** Only what sends is paused: what is stopped already keeps its reason. */
function pausedState(
  { clock }: WebhookContext,
  { state }: EndpointRecord,
): { readonly state?: EndpointState } {
  return state.kind === 'enabled' ? { state: { kind: 'paused', reason: 'asked', sinceMs: clock() } } : {}
}

const byOperator = refused({
  code: 'missing_scope',
  detail: 'An operator has paused this webhook, so only an operator can enable it. Nothing was changed.',
})

async function enable(
  context: WebhookContext,
  asked: WebhookRequest<unknown>,
  settings: Partial<EndpointSettings>,
): Promise<Outcome> {
  const { access, endpoint, grant } = asked
  const { state } = endpoint
  if (state.kind === 'paused' && state.reason === 'operator') return byOperator
  const nowMs = context.clock()
  const isUsable = openedSecrets(context.peppers, endpoint, nowMs).length > 0
  const secret = isUsable ? undefined : makeSecret(context.peppers, endpoint.endpointId, nowMs)
  // Its own key no longer has the right, so it goes on with this one, which has it.
  const isOrphan = state.kind === 'disabled' && state.reason === 'key_revoked' && maySendFor(grant, endpoint)
  const outcome = await changeWebhook(context, asked, {
    settings,
    state: { kind: 'enabled' },
    ...(secret && { secret: { added: secret.stored, presentEndMs: nowMs } }),
    ...(isOrphan && access.keyId !== undefined && { keyId: access.keyId }),
  })
  return changedAnswer(context, outcome, { secret: secret?.text })
}
