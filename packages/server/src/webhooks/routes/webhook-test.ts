/** `POST /v1/webhooks/{webhookId}/test`, and the check of an address before it is stored (PROTOCOL §16.1). */
import { uuidV7 } from '@property-events/protocol'
import type { WebhookTest } from '@property-events/protocol/wire'
import { noParameters } from '../../http/admin-operation.ts'
import { refused, uncachedAnswer } from '../../http/exchange.ts'
import type { Refused } from '../../http/exchange.ts'
import type { Operation } from '../../http/operation.ts'
import type { EndpointRecord } from '../endpoint.ts'
import { messageHeaders, testMessage } from '../message.ts'
import type { ReceiverAnswer, WebhookOptions } from '../receiver.ts'
import { oneWebhook } from './webhook-operation.ts'
import type { WebhookContext } from './webhook-operation.ts'
import { openedSecrets } from './webhook-secret.ts'

/** Where this node sends nothing, the shape of an address is checked all the same. */
const usualPolicy = { allowHttp: false, networks: [] } as const

/**
 * Why nothing is posted to an address. A name that has none yet is accepted: it is asked for again before each connection. What sends is
 * loaded when it is needed first.
 */
export async function checkedUrl(
  { webhookOptions }: Pick<WebhookContext, 'webhookOptions'>,
  text: string,
): Promise<Refused | undefined> {
  const { addressCheck } = await import('../receiver-address.ts')
  const check = addressCheck(webhookOptions === 'off' ? usualPolicy : webhookOptions)
  const read = check.url(text)
  if (read.kind === 'refused') return addressRefused(read.detail)
  const host = await check.host(read.url.hostname)
  return host.kind === 'refused' ? addressRefused(host.detail) : undefined
}

function addressRefused(detail: string): Refused {
  return refused({ code: 'webhook_address_refused', detail: `${detail} Nothing was changed.` })
}

export function testWebhook(context: WebhookContext): Operation {
  return oneWebhook(context, {
    ...noParameters,
    method: 'POST',
    path: '/test',
    operationId: 'testWebhook',
    summary: 'Send a test message to a webhook',
    description:
      'Posts one signed message of the type `webhook.test`, and returns the receiver’s answer. It counts neither as a delivery nor as a failure.',
    ok: { description: 'The receiver’s answer.', schema: 'WebhookTest' },
    async answer({ endpoint }) {
      const { webhookOptions, peppers, clock } = context
      const nothing = nothingSent(endpoint)
      if (nothing !== undefined) return unsent(nothing)
      if (webhookOptions === 'off') return unsent('This node of the service sends no webhooks.')
      const secrets = openedSecrets(peppers, endpoint, clock())
      if (secrets.length === 0)
        return unsent(
          'This webhook has no secret that can be used, because it came with a copy. Enable it: that makes one.',
        )
      return uncachedAnswer(await tried(endpoint, secrets, webhookOptions))
    },
  })
}

function nothingSent({ state }: EndpointRecord): string | undefined {
  return state.kind === 'paused' && state.reason === 'operator'
    ? 'An operator has paused this webhook.'
    : undefined
}

function unsent(why: string) {
  const test: WebhookTest = {
    outcome: 'unreachable',
    status: null,
    answer: null,
    milliseconds: 0,
    detail: `${why} Nothing was sent.`,
  }
  return uncachedAnswer(test)
}

async function tried(
  endpoint: EndpointRecord,
  secrets: readonly string[],
  options: WebhookOptions,
): Promise<WebhookTest> {
  const [{ addressCheck }, { keptAnswer, outcomeOf, receiverAt }] = await Promise.all([
    import('../receiver-address.ts'),
    import('../receiver.ts'),
  ])
  const { url, format, timeoutSeconds } = endpoint.settings
  const check = addressCheck(options)
  const read = check.url(url)
  const nowMs = Date.now()
  const message = testMessage(
    { testId: uuidV7(nowMs), endpointId: endpoint.endpointId },
    { tenantId: endpoint.tenantId, feed: endpoint.settings.feed },
    format,
    nowMs,
  )
  if (read.kind === 'refused')
    return { outcome: 'unreachable', status: null, answer: null, milliseconds: 0, detail: read.detail }
  const receiver = receiverAt(read.url, check, 1)
  const startedMs = performance.now()
  try {
    const answer = await receiver.post({
      headers: messageHeaders(message, secrets, nowMs),
      body: message.body,
      timeoutMs: timeoutSeconds * 1_000,
    })
    return {
      outcome: outcomeOf(answer).kind,
      status: answer.kind === 'answered' ? answer.status : null,
      answer: answer.kind === 'answered' ? (keptAnswer(answer, options.answers) ?? null) : null,
      milliseconds: Math.round(performance.now() - startedMs),
      detail: detailOf(answer),
    }
  } finally {
    receiver.close()
  }
}

function detailOf(answer: ReceiverAnswer): string {
  if (answer.kind !== 'answered') return answer.detail
  const { status } = answer
  if (status >= 200 && status < 300)
    return `The receiver answered with ${status}: an event would be acknowledged.`
  if (status === 410) return 'The receiver answered with 410: an event would disable the webhook.'
  return `The receiver answered with ${status}: an event would be tried again.`
}
