/** Endpoints of webhooks, what each was sent, and what is done with them (PROTOCOL §16). */
import type {
  ChangedWebhook,
  MadeWebhook,
  NewWebhook,
  Webhook,
  WebhookDeliveries,
  Webhooks,
  WebhookTest,
  WebhookWaiting,
} from '@property-events/protocol/wire'
import { pathOf } from '../operation.ts'
import type { Operation } from '../operation.ts'

type Of = Pick<Webhook, 'id' | 'tenantId'>

function of<T>(
  webhook: Of,
  below: string,
  further: Pick<Operation<T>, 'method' | 'body' | 'query'> = {},
): Operation<T> {
  return {
    path: pathOf(`/v1/webhooks/{webhookId}${below}`, webhook.id),
    tenant: webhook.tenantId,
    ...further,
  }
}

/** All of an agency: it has 50 at most. */
export function listWebhooks(tenantId: string): Operation<Webhooks> {
  return { path: '/v1/webhooks', query: { limit: 50 }, tenant: tenantId }
}

/** The same for those who look after it. */
export function adminListWebhooks(tenantId: string): Operation<Webhooks> {
  return { path: pathOf('/v1/admin/tenants/{tenantId}/webhooks', tenantId) }
}

/** Only operators release what an operator has paused. */
export function adminPauseWebhook({ id, tenantId }: Of, paused: boolean): Operation<Webhook> {
  const path = pathOf('/v1/admin/tenants/{tenantId}/webhooks/{webhookId}/pause', tenantId, id)
  return { method: 'POST', path, body: { paused } }
}

export function createWebhook(tenantId: string, body: NewWebhook): Operation<MadeWebhook> {
  return { method: 'POST', path: '/v1/webhooks', tenant: tenantId, body }
}

export function changeWebhook(webhook: Of, state: 'enabled' | 'paused'): Operation<ChangedWebhook> {
  return of(webhook, '', { method: 'PATCH', body: { state } })
}

export function deleteWebhook(webhook: Of): Operation<undefined> {
  return of(webhook, '', { method: 'DELETE' })
}

/** `overlapSeconds`: how long the present secrets sign as well. */
export function rotateSecret(webhook: Of, overlapSeconds: number): Operation<MadeWebhook> {
  return of(webhook, '/secrets', { method: 'POST', body: { overlapSeconds } })
}

export function testWebhook(webhook: Of): Operation<WebhookTest> {
  return of(webhook, '/test', { method: 'POST' })
}

export function moveWebhook(webhook: Of, after: number | 'head'): Operation<Webhook> {
  return of(webhook, '/cursor', { method: 'POST', body: { after } })
}

/** One event that was given up, or all of them. */
export function resend(webhook: Of, sequenceNumber?: number): Operation<unknown> {
  const body = sequenceNumber === undefined ? { givenUp: true } : { sequenceNumber }
  return of(webhook, '/resend', { method: 'POST', body })
}

/** The newest first. */
export function listDeliveries(webhook: Of, limit: number, subject?: string): Operation<WebhookDeliveries> {
  return of(webhook, '/deliveries', { query: { subject, limit } })
}

/** What is tried again, and what was given up. */
export function readWaiting(webhook: Of): Operation<WebhookWaiting> {
  return of(webhook, '/waiting')
}
