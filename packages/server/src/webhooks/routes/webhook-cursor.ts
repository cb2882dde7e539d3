/** New secrets, and sending again from a number or one event (PROTOCOL §16.1). */
import { noParameters } from '../../http/admin-operation.ts'
import { refused, uncachedAnswer } from '../../http/exchange.ts'
import type { Refused } from '../../http/exchange.ts'
import type { Operation } from '../../http/operation.ts'
import { success } from '../../http/problem/problem.ts'
import { branchViewName } from '../../events/branches/branch-view.ts'
import { actorOf } from '../../tenants/routes/tenants.ts'
import { noEpoch } from '../endpoint.ts'
import type { EndpointRecord } from '../endpoint.ts'
import type { ViewEvent } from '../waiting-rows.ts'
import { readCursor, readResend, readSecretRequest } from './webhook-body.ts'
import { bodyOf, changedAnswer, changeWebhook, noWebhook, oneWebhook } from './webhook-operation.ts'
import type { WebhookContext } from './webhook-operation.ts'
import { makeSecret } from './webhook-secret.ts'
import { startOf } from './webhooks.ts'

export function addWebhookSecret(context: WebhookContext): Operation {
  return oneWebhook(context, {
    ...noParameters,
    method: 'POST',
    path: '/secrets',
    operationId: 'createWebhookSecret',
    summary: 'Create a new secret of a webhook',
    description:
      'It signs at once, and is in this answer and nowhere else. The present ones sign for `overlapSeconds` more, so that receivers can be given the new one meanwhile; at most 5 sign at once.',
    body: 'WebhookSecretRequest',
    ok: { status: success.created, description: 'The webhook with its new secret.', schema: 'MadeWebhook' },
    async answer(asked) {
      const read = bodyOf(readSecretRequest(asked.text))
      if ('refusal' in read) return read
      const nowMs = context.clock()
      const secret = makeSecret(context.peppers, asked.endpoint.endpointId, nowMs)
      const presentEndMs = nowMs + read.body.overlapSeconds * 1_000
      const outcome = await changeWebhook(context, asked, { secret: { added: secret.stored, presentEndMs } })
      return changedAnswer(context, outcome, { status: success.created, secret: secret.text })
    },
  })
}

export function moveWebhook(context: WebhookContext): Operation {
  return oneWebhook(context, {
    ...noParameters,
    method: 'POST',
    path: '/cursor',
    operationId: 'moveWebhook',
    summary: 'Continue a webhook after another number',
    description:
      'Everything up to `after` is settled; events up to it that wait are given up, and later ones are sent, also those that were acknowledged before.',
    body: 'WebhookCursor',
    ok: { description: 'The webhook as it is now.', schema: 'Webhook' },
    problems: ['cursor_beyond_head'],
    async answer(asked) {
      const read = bodyOf(readCursor(asked.text))
      if ('refusal' in read) return read
      const { tenantId, settings, progress } = asked.endpoint
      const { feed, events } = settings
      const start = await startOf(context, { tenantId, feed }, events, read.body.after)
      if ('refusal' in start) return start
      const told = { replay: replayed(progress.epoch, start.epoch), skip: start.epoch }
      const epoch = read.body.epoch === undefined ? undefined : told[read.body.epoch]
      const cursor = { after: start.after, epoch }
      return changedAnswer(context, await changeWebhook(context, asked, { cursor }))
    },
  })
}

/** An endpoint that has not been told of the present epoch yet is told of it anyway. */
function replayed(told: string, present: string): string | undefined {
  return told === present ? noEpoch : undefined
}

export function resendToWebhook(context: WebhookContext): Operation {
  return oneWebhook(context, {
    ...noParameters,
    method: 'POST',
    path: '/resend',
    operationId: 'resendToWebhook',
    summary: 'Send an event again, or all that were given up',
    description:
      'Later events of the same property or contact follow again, so the last that arrives is the latest. With `givenUp`, what waits already is left as it is.',
    body: 'WebhookResend',
    ok: { description: 'They are sent as soon as possible.', schema: 'WebhookResent' },
    problems: ['event_not_found', 'subject_waiting'],
    async answer({ access, endpoint, text }) {
      const read = bodyOf(readResend(text))
      if ('refusal' in read) return read
      const { body } = read
      const events = body === 'givenUp' ? body : await sentEvent(context, endpoint, body)
      if (typeof events === 'object' && 'refusal' in events) return events
      const outcome = await context.webhooks.resend(endpoint.endpointId, events, actorOf(access))
      if (outcome.kind !== 'resent')
        return outcome.kind === 'unknown' ? noWebhook : refused({ code: 'subject_waiting' })
      context.webhookChanged()
      return uncachedAnswer({ properties: outcome.properties })
    },
  })
}

/** The event that is sent again: where only the latest counts, the latest of its subject. */
async function sentEvent(
  context: WebhookContext,
  endpoint: EndpointRecord,
  sequenceNumber: number,
): Promise<ViewEvent | Refused> {
  const { settled } = endpoint.progress
  if (sequenceNumber > settled) return notSentYet(sequenceNumber, settled)
  if (endpoint.settings.events === 'operations') return sentNotice(context, endpoint, sequenceNumber)
  const key = { tenantId: endpoint.tenantId, feed: endpoint.settings.feed }
  const found = (await isInView(context, endpoint, sequenceNumber))
    ? await context.events.subjectsIn({ key, view: 'numbers', range: [sequenceNumber, sequenceNumber] })
    : []
  const [event] = found
  if (event === undefined) return noSuchEvent
  const { subjectId } = event
  if (endpoint.settings.mode === 'every') return { sequenceNumber, subjectId }
  const later = await numbersAfter(context, endpoint, subjectId, sequenceNumber)
  for (const number of later.toReversed())
    if (await isInView(context, endpoint, number)) return { sequenceNumber: number, subjectId }
  return { sequenceNumber, subjectId }
}

const noSuchEvent = refused({
  code: 'event_not_found',
  detail: 'This webhook is sent no event with this number.',
})

function notSentYet(sequenceNumber: number, settled: number): Refused {
  const detail = `This webhook has come to ${settled}, so ${sequenceNumber} is sent by itself.`
  return refused({ code: 'event_not_found', detail })
}

async function isInView(
  { events }: WebhookContext,
  { tenantId, settings: { feed, view: name }, rights: { branches } }: EndpointRecord,
  sequenceNumber: number,
): Promise<boolean> {
  const view = branches === undefined ? name : branchViewName(branches, name)
  const after = sequenceNumber - 1
  const key = { tenantId, feed }
  const [event] = await events.readAfter({ key, view, after, limit: 1, latestOnly: false })
  return event?.sequenceNumber === sequenceNumber
}

const positionsAtOnce = 1_000

/** Of the subject's events, up to what the endpoint has come to. */
async function numbersAfter(
  { events }: WebhookContext,
  { tenantId, settings: { feed }, progress: { settled } }: EndpointRecord,
  subjectId: string,
  sequenceNumber: number,
): Promise<readonly number[]> {
  const key = { tenantId, feed }
  const numbers: number[] = []
  for (let after = 0; ;) {
    const found = await events.subjectPositions({ key, subjectId, after, limit: positionsAtOnce })
    numbers.push(...found.map((one) => one.sequenceNumber))
    after = found.at(-1)?.position ?? after
    if (found.length < positionsAtOnce) break
  }
  return numbers.filter((number) => number > sequenceNumber && number <= settled)
}

async function sentNotice(
  { webhooks }: WebhookContext,
  { tenantId, settings: { feed } }: EndpointRecord,
  noticeNo: number,
): Promise<ViewEvent | Refused> {
  const [notice] = await webhooks.notices({ tenantId, feed, after: noticeNo - 1, limit: 1 })
  if (notice?.noticeNo !== noticeNo) return noSuchEvent
  return { sequenceNumber: noticeNo, subjectId: notice.endpointId }
}
