/** Sentences about a property at an endpoint of webhooks. */
import { count, on, since } from './delivery-state.ts'
import type { ConsumerDelivery, Words } from './delivery-state.ts'

export function waitingSentence({ delivery, event, now, time }: Words): string {
  const { webhook, at } = delivery
  const { sequenceNumber, tries, nextTryAt } = webhook ?? { sequenceNumber: null, tries: 0, nextTryAt: null }
  const isBehind = sequenceNumber !== event.sequenceNumber
  const what = isBehind
    ? `Not sent: it waits behind an earlier version (${count(sequenceNumber)})`
    : 'Not acknowledged'
  const last = `${on(at, time)}${lastAnswer(delivery, ' with')}`
  const refused =
    tries === 1 ? `: one try was refused,${last}` : `: ${tries} tries were refused, the last${last}`
  const next =
    nextTryAt === null || Date.parse(nextTryAt) <= now.getTime()
      ? 'The next try is due.'
      : `The next try is${on(nextTryAt, time)}.`
  return `${what}${tries === 0 ? '' : refused}.${isSending(webhook) ? ` ${next}` : ''}`
}

/** ` with status 500: Closed on Sundays`; ` with no answer: connection refused`. */
function lastAnswer({ webhook, message }: ConsumerDelivery, by: string): string {
  const status = webhook?.status ?? null
  if (status === null && message === null) return ''
  return `${by} ${status === null ? 'no answer' : `status ${status}`}${message === null ? '' : `: ${message}`}`
}

export function isSending(webhook: ConsumerDelivery['webhook']): boolean {
  return webhook !== null && webhook.state === 'enabled' && webhook.failingSince === null
}

const reasons: Readonly<Record<string, string | undefined>> = {
  asked: undefined,
  copied: 'it is a copy',
  operator: 'by the operator of the service',
  key_revoked: 'its key has ended, or lost a right',
  failing: 'its receiver failed for 5 days',
  gone: 'its receiver answered with 410',
}

/** Why an endpoint is paused or disabled; `undefined`: its owner wants it. A reason that is not known here is shown unchanged. */
export function endpointReason(reason: string | null): string | undefined {
  return reason === null || Object.hasOwn(reasons, reason) ? reasons[reason ?? ''] : reason
}

/** Why an endpoint sends nothing now. */
export function stoppage({ delivery: { webhook, state }, time }: Words): string {
  const isDone = !['waiting', 'given_up', 'sent', 'pending'].includes(state)
  if (webhook === null || isDone || isSending(webhook)) return ''
  const { reason, failingSince } = webhook
  if (webhook.state === 'enabled') {
    return ` Its receiver has been failing${since(failingSince, time)}: one request at a time tries it, and the rest waits.`
  }
  const why = endpointReason(reason)
  return ` The endpoint has been ${webhook.state}${since(webhook.since, time)}${why === undefined ? '' : `: ${why}`}.`
}

export function givenUpSentence({ delivery, time }: Words): string {
  const last = lastAnswer(delivery, '; the last try was answered with')
  return `Given up${on(delivery.at, time)}${last}. Nothing is sent until it is resent, or the property changes.`
}
