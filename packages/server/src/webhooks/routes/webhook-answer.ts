/** Endpoints of webhooks as answers show them (PROTOCOL §16). */
import { feeds } from '@property-events/protocol'
import type { FeedName, ViewName } from '@property-events/protocol'
import type { Webhook, WebhookDelivery } from '@property-events/protocol/wire'
import { timeOf } from '../../http/time-of.ts'
import type { EndpointRecord, EndpointSettings, SealedSecret, StoredDelivery } from '../endpoint.ts'

export function webhookMembers(endpoint: EndpointRecord, nowMs: number): Webhook {
  const { endpointId, tenantId, settings, state, keyId, createdMs, progress } = endpoint
  const { feed, view, maxPerSecond, ...shown } = settings
  const { settled, epoch, acknowledged, waiting, givenUp, failingSinceMs } = progress
  const stopped = state.kind === 'enabled' ? undefined : state
  return {
    id: endpointId,
    tenantId,
    feed,
    ...shown,
    apiEventType: apiEventTypeOf(feed, view),
    maxPerSecond: maxPerSecond ?? null,
    state: state.kind,
    reason: stopped?.reason ?? null,
    stateSince: timeOf(stopped?.sinceMs),
    keyId,
    createdAt: timeOf(createdMs),
    cursor: {
      settled,
      epoch,
      acknowledged: acknowledged?.sequenceNumber ?? null,
      acknowledgedAt: timeOf(acknowledged?.atMs),
    },
    waiting,
    givenUp,
    failingSince: timeOf(failingSinceMs),
    secrets: signingSecrets(endpoint, nowMs).map(({ secretId, createdMs: madeMs, endsMs }) => ({
      id: secretId,
      createdAt: timeOf(madeMs),
      endsAt: timeOf(endsMs),
    })),
  }
}

/** Those that have not ended. */
export function signingSecrets(
  { secrets }: Pick<EndpointRecord, 'secrets'>,
  nowMs: number,
): readonly SealedSecret[] {
  return secrets.filter(({ endsMs }) => endsMs === undefined || endsMs > nowMs)
}

/** The canonical spelling of what lists the view (D1). */
function apiEventTypeOf(feed: FeedName, view: ViewName): Webhook['apiEventType'] {
  const values = Object.keys(feeds[feed].apiEventTypes)
  const found = apiEventTypes.find((one) => values.includes(one) && feeds[feed].apiEventTypes[one] === view)
  return found ?? feed
}

const apiEventTypes = ['property', 'salesproperty', 'lettingsproperty', 'contact'] as const

export function deliveryMembers(delivery: StoredDelivery): WebhookDelivery {
  const { deliveryNo, atMs, messageId, event, outcome, status, tookMs, answer } = delivery
  return {
    number: deliveryNo,
    at: timeOf(atMs),
    messageId,
    sequenceNumber: event?.sequenceNumber ?? null,
    subject: event?.subjectId ?? null,
    outcome,
    status: status ?? null,
    milliseconds: tookMs,
    answer: answer ?? null,
  }
}

/** What an endpoint is sent, if its owner says nothing of it. */
export function usualSettings(
  feed: FeedName,
): Pick<EndpointSettings, 'view' | 'payload' | 'changes' | 'mode' | 'format' | 'label'> {
  return {
    label: '',
    view: 'all',
    payload: feed === 'contact' ? 'thin' : 'full',
    changes: false,
    mode: 'every',
    format: 'event',
  }
}
