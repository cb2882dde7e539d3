/** What was tried, what waits and what was given up (PROTOCOL §16.1). */
import { parseUuid, readWholeNumber, webhookOutcomes } from '@property-events/protocol'
import type { ProblemError } from '@property-events/protocol'
import { exampleIds } from '@property-events/protocol/example-ids'
import { uncachedAnswer } from '../../http/exchange.ts'
import { limitSchema, readLimit } from '../../http/listed.ts'
import type { ParameterSchema } from '../../http/openapi/operation-schema.ts'
import type { Operation } from '../../http/operation.ts'
import { quoteInput } from '../../http/requests/echo-text.ts'
import { timeOf } from '../../http/time-of.ts'
import type { DeliveryOutcome } from '../endpoint.ts'
import { deliveryMembers } from './webhook-answer.ts'
import { oneWebhook } from './webhook-operation.ts'
import type { WebhookContext } from './webhook-operation.ts'

const numberSchema = (description: string): ParameterSchema => ({ type: 'integer', minimum: 0, description })

export function listDeliveries(context: WebhookContext): Operation {
  return oneWebhook(context, {
    method: 'GET',
    path: '/deliveries',
    operationId: 'listWebhookDeliveries',
    summary: 'List what was tried',
    description:
      'One row for each try of the last 7 days, at most 10,000, the newest first. Repeat with `before` = `next` until `next` is null.',
    query: {
      outcome: { type: 'string', enum: [...webhookOutcomes], description: 'Only tries that ended so.' },
      subject: {
        type: 'string',
        format: 'uuid',
        description: 'Only tries for this property or contact.',
        examples: [exampleIds.agentRef],
      },
      before: numberSchema('Only smaller numbers. Left out: from the newest.'),
      limit: limitSchema,
    },
    ok: { description: 'The tries.', schema: 'WebhookDeliveries' },
    read: (values, errors) => ({
      limit: readLimit(values, errors),
      outcome: readOutcome(values, errors),
      subjectId: readSubject(values, errors),
      before: readNumber('before', values, errors),
    }),
    async answer({ endpoint: { endpointId }, parameters }) {
      const { limit } = parameters
      const found = await context.webhooks.deliveries({ ...parameters, endpointId, limit: limit + 1 })
      const items = found.slice(0, limit)
      const next = found.length > limit ? (items.at(-1)?.deliveryNo ?? null) : null
      return uncachedAnswer({ items: items.map(deliveryMembers), next })
    },
  })
}

const waitingAtMost = 1_000

export function readWebhookWaiting(context: WebhookContext): Operation {
  return oneWebhook(context, {
    method: 'GET',
    path: '/waiting',
    operationId: 'readWebhookWaiting',
    summary: 'Read what waits and what was given up',
    description:
      'Each property or contact whose oldest event is tried again, and the events that were given up. Repeat with `after` = `next` for more of these, until `next` is null.',
    query: {
      after: numberSchema('Only events given up with greater numbers.'),
      limit: limitSchema,
    },
    ok: { description: 'What waits, and what was given up.', schema: 'WebhookWaiting' },
    read: (values, errors) => ({
      limit: readLimit(values, errors),
      after: readNumber('after', values, errors) ?? 0,
    }),
    async answer({ endpoint: { endpointId }, parameters: { after, limit } }) {
      const waiting = await context.webhooks.waiting(endpointId, waitingAtMost)
      const found = await context.webhooks.givenUp(endpointId, after, limit + 1)
      const givenUp = found.slice(0, limit)
      const next = found.length > limit ? (givenUp.at(-1)?.sequenceNumber ?? null) : null
      return uncachedAnswer({
        waiting: waiting.map(({ subjectId, sequenceNumber, tries, nextTryMs }) => ({
          subject: subjectId,
          sequenceNumber,
          tries,
          nextTryAt: timeOf(nextTryMs === 0 ? undefined : nextTryMs),
        })),
        givenUp: givenUp.map(({ subjectId, sequenceNumber, atMs }) => ({
          subject: subjectId,
          sequenceNumber,
          at: timeOf(atMs),
        })),
        next,
      })
    },
  })
}

function readOutcome(
  values: ReadonlyMap<string, string>,
  errors: ProblemError[],
): DeliveryOutcome | undefined {
  const text = values.get('outcome')
  const outcome = webhookOutcomes.find((one) => one === text)
  if (text !== undefined && outcome === undefined) {
    const message = `${quoteInput(text)} is not allowed; outcome must be one of ${webhookOutcomes.join(', ')}.`
    errors.push({ parameter: 'outcome', code: 'unknown_value', message })
  }
  return outcome
}

function readSubject(values: ReadonlyMap<string, string>, errors: ProblemError[]): string | undefined {
  const text = values.get('subject')
  const subjectId = text === undefined ? undefined : parseUuid(text)
  if (text !== undefined && subjectId === undefined) {
    const message = `${quoteInput(text)} is not the reference of a property or contact, a UUID.`
    errors.push({ parameter: 'subject', code: 'not_a_uuid', message })
  }
  return subjectId
}

function readNumber(
  parameter: string,
  values: ReadonlyMap<string, string>,
  errors: ProblemError[],
): number | undefined {
  const text = values.get(parameter)
  const number = text === undefined ? undefined : readWholeNumber(text)
  if (text !== undefined && number === undefined) {
    const message = `${quoteInput(text)} is not allowed; ${parameter} must be a whole number from 0, in digits.`
    errors.push({ parameter, code: 'not_a_count', message })
  }
  return number
}
