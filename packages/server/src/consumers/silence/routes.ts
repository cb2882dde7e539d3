/** How long the publisher of a feed, or a consumer, may be silent (PROTOCOL §14.7). */
import { nameParams } from '../routes/consumer-path.ts'
import { aboutKey } from '../../keys/routes/key-path.ts'
import { feedNames } from '@property-events/protocol'
import type { ExpectOutcome, PresenceName, SilenceStore, SetExpectation } from './silence.ts'
import { isConsumerName } from '../consumer.ts'
import { setConsumersPerKey } from './silence.ts'
import { refusalOfName } from '../consumer-name.ts'
import { refused, uncachedAnswer } from '../../http/exchange.ts'
import type { Outcome } from '../../http/exchange.ts'
import type { Operation } from '../../http/operation.ts'
import { withReadBody } from '../../http/requests/read-body.ts'
import { adminOperation, noParameters } from '../../http/admin-operation.ts'
import { noTenant, tenantOperation } from '../../tenants/routes/tenant-operation.ts'
import type { AdminRequest } from '../../http/admin-operation.ts'
import { refusalOfChange } from '../../keys/routes/keys.ts'
import { silenceMembers } from './silence-answer.ts'
import { actorOf } from '../../tenants/routes/tenants.ts'
import type { BodyContext } from '../../http/requests/read-body.ts'
import type { KeysContext } from '../../keys/routes/keys.ts'
import { longestSetMs, shortestSetMs } from './rules.ts'
import { readObject } from '../../http/requests/body-members.ts'
import type { BodyReading } from '../../http/requests/body-members.ts'

interface Context extends KeysContext, BodyContext {
  readonly silence: SilenceStore
}

const words = {
  ...noParameters,
  method: 'PUT',
  need: 'admin:manage',
  body: 'ExpectedIntervalRequest',
  ok: { description: 'What is expected now.', schema: 'ExpectedInterval' },
} as const

const rule =
  'Seconds from 300 to 2592000; 0 if nothing is expected; null for the interval that is learned: 1.5 times the longest pause of the last 14 days, and at least 15 minutes.'

export function expectPublisher(context: Context): Operation {
  return tenantOperation(context, {
    ...words,
    path: '/tenants/:tenantId/feeds/:feed/expected-interval',
    operationId: 'expectPublisher',
    summary: 'Set the expected interval of publications',
    description: `After that, the publisher is reported as silent: in the log, the metrics and the list of consumers. ${rule}`,
    answer(asked) {
      const feed = feedNames.find((one) => one === asked.params[1])
      if (feed === undefined) {
        return refused({ code: 'path_not_found', detail: 'The feeds are property and contact.' })
      }
      return expect(context, asked, { kind: 'publisher', tenantId: asked.tenant.tenantId, feed })
    },
  })
}

export function expectConsumer(context: Context): Operation {
  return adminOperation(context, {
    ...words,
    ...aboutKey,
    path: '/keys/:keyId/consumers/:name/expected-interval',
    params: nameParams.properties,
    operationId: 'expectConsumer',
    summary: 'Set the expected interval of a consumer',
    description: `After that, the consumer is reported as stalled: in the log, the metrics and the list of consumers. \`default\` is the key itself. ${rule}`,
    problems: ['key_not_found', 'scope_not_held'],
    async answer(asked) {
      const [keyId = '', name = ''] = asked.params
      if (!isConsumerName(name)) return refused(refusalOfName('name', name))
      const refusal = await refusalOfChange(context, asked.access, keyId, 'sees')
      return refusal ?? expect(context, asked, { kind: 'consumer', keyId, name })
    },
  })
}

function expect(context: Context, asked: AdminRequest<unknown>, name: PresenceName): Promise<Outcome> {
  return withReadBody(context, asked, readExpectedInterval, async ({ expectation }) => {
    const outcome = await context.silence.expect(name, expectation, actorOf(asked.access))
    if (outcome !== 'done') return refusalOf(outcome)
    const [presence] = await context.silence.find([name])
    const { silentSince: _, ...expected } = silenceMembers(presence, Date.now())
    return uncachedAnswer(expected)
  })
}

function refusalOf(outcome: Exclude<ExpectOutcome, 'done'>): Outcome {
  if (outcome === 'unknownTenant') return noTenant
  if (outcome === 'unknownKey') return refused({ code: 'key_not_found' })
  const message = `${setConsumersPerKey} consumers of this key already have an interval, the most allowed. Set one of them to null first.`
  return refused({ code: 'invalid_parameter', errors: [{ parameter: 'name', code: 'too_many', message }] })
}

/** `undefined`: the interval is learned. */
function readExpectedInterval(
  text: string,
): BodyReading<{ readonly expectation: SetExpectation | undefined }> {
  return readObject(text, ['seconds'], '{"seconds":3600}', (members) => {
    const seconds = members.given.get('seconds')
    if (members.nulls.has('seconds') && members.errors.length === 0) return { expectation: undefined }
    if (isAllowed(seconds)) return { expectation: seconds === 0 ? 'never' : seconds * 1_000 }
    const [from, to] = [shortestSetMs / 1_000, longestSetMs / 1_000]
    return members.fault(
      'seconds',
      `seconds must be a whole number from ${from} to ${to}; 0 if nothing is expected; or null for the interval that is learned.`,
    )
  })
}

function isAllowed(seconds: unknown): seconds is number {
  if (typeof seconds !== 'number' || !Number.isInteger(seconds)) return false
  return seconds === 0 || (seconds * 1_000 >= shortestSetMs && seconds * 1_000 <= longestSetMs)
}
