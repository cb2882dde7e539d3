/** `/v1/admin/tenants/{tenantId}/consumers` and `…/properties/{agentRef}/delivery`: who has seen what, for operators (PROTOCOL §14). */
import { timeOf } from '../../http/time-of.ts'
import type { Consumer } from '@property-events/protocol/wire'
import type { ListedConsumer } from '../list-consumers.ts'
import { endpointMembers, nameOfView } from '../delivery.ts'
import { refused, uncachedAnswer } from '../../http/exchange.ts'
import { readSubject } from '../../reading/routes/cursor-parameters.ts'
import { seenAnswer } from './property-consumers.ts'
import type { Operation } from '../../http/operation.ts'
import { noParameters } from '../../http/admin-operation.ts'
import { noTenant, tenantOperation } from '../../tenants/routes/tenant-operation.ts'
import { reachedTenants } from '../../keys/access/reach.ts'
import { silenceMembers } from '../silence/silence-answer.ts'
import { consumerKey } from '../consumers-of-feed.ts'
import type { ConsumersQuery } from '../consumers-of-feed.ts'
import { timeToLiveAnswer } from '../time-to-live.ts'
import type { TimesQuery, TimesToLive, TimeToLive } from '../time-to-live.ts'
import type { SilenceStore } from '../silence/silence.ts'
import type { SeenQuery, Seen } from '../who-has-seen.ts'
import type { TenantContext } from '../../tenants/routes/tenant-operation.ts'

interface Context extends TenantContext {
  /** The consumers of a feed; `undefined` if there is no such feed. */
  readonly listConsumers: (query: ConsumersQuery) => Promise<readonly ListedConsumer[] | undefined>
  readonly silence: SilenceStore
  readonly timesToLive: (query: TimesQuery) => Promise<TimesToLive>
  /** Who has seen the latest event of a property; `undefined` if the feed has no event of it. */
  readonly whoHasSeen: (query: SeenQuery) => Promise<Seen | undefined>
}

export function propertyDelivery(context: Context): Operation {
  return tenantOperation(context, {
    ...noParameters,
    method: 'GET',
    path: '/tenants/:tenantId/properties/:agentRef/delivery',
    need: 'admin:inspect',
    operationId: 'getPropertyDelivery',
    summary: 'See who has seen a property',
    description: 'The result of the latest event of the property at each consumer that may read it.',
    ok: { description: 'The consumers.', schema: 'PropertyConsumers' },
    problems: ['subject_not_found'],
    async answer({ access, tenant: { tenantId }, params: [, given] }) {
      const subject = readSubject(given, 'property')
      if ('code' in subject) {
        return refused({ code: 'invalid_parameter', errors: [{ ...subject, parameter: 'agentRef' }] })
      }
      const key = { tenantId, feed: 'property' } as const
      const nowMs = Date.now()
      const seen = await context.whoHasSeen({
        key,
        ...subject,
        keyId: undefined,
        branches: undefined,
        isOperator: reachedTenants(access, 'admin:inspect') === undefined,
        nowMs,
      })
      if (seen === undefined) return refused({ code: 'subject_not_found' })
      return uncachedAnswer(seenAnswer(subject.subjectId, seen, nowMs))
    },
  })
}

const feedNames = ['property', 'contact'] as const

export function listConsumers(context: Context): Operation {
  return tenantOperation(context, {
    method: 'GET',
    path: '/tenants/:tenantId/consumers',
    need: 'admin:inspect',
    operationId: 'listConsumers',
    summary: 'List the consumers of a tenant',
    description:
      'Keys that may read a feed, and the names that they give in `x-feed-consumer`: when each last asked, how that went, how far it is behind in each view that it reads, in events and seconds, how long it takes until listings are live, and whether it has not asked for longer than is expected. `publisher`: the same of what publishes to the feed.',
    ok: { description: 'The consumers.', schema: 'Consumers' },
    query: {
      feed: { type: 'string', enum: [...feedNames], default: 'property', description: 'Of which feed.' },
    },
    read(values, errors) {
      const given = values.get('feed') ?? 'property'
      const feed = feedNames.find((name) => name === given)
      if (feed === undefined) {
        errors.push({ parameter: 'feed', code: 'not_allowed', message: 'feed is property or contact.' })
      }
      return feed ?? 'property'
    },
    async answer({ access, tenant: { tenantId }, parameters: feed }) {
      const nowMs = Date.now()
      const listed = await context.listConsumers({
        key: { tenantId, feed },
        keyId: undefined,
        branches: undefined,
        nowMs,
      })
      if (listed === undefined) return noTenant
      const times = await context.timesToLive({ key: { tenantId, feed }, branches: undefined })
      const isOperator = reachedTenants(access, 'admin:inspect') === undefined
      const items = listed.map((one) => {
        const { opensOthers, presence } = one.consumer
        const silence = isOperator || !opensOthers ? silenceMembers(presence, nowMs) : unseenSilence
        return { ...consumerAnswer(one, times.get(consumerKey(one.consumer)), nowMs), ...silence }
      })
      const [publisher] = await context.silence.find([{ kind: 'publisher', tenantId, feed }])
      const publisherAnswer = { lastHeardAt: timeOf(publisher?.lastMs), ...silenceMembers(publisher, nowMs) }
      return uncachedAnswer({ publisher: publisherAnswer, items, next: null })
    },
  })
}

/** A consumer is silent if it reads nothing of any tenant, which a single tenant must not learn. */
const unseenSilence = { expectedSeconds: null, expectation: null, silentSince: null }

function consumerAnswer(
  { consumer, lags, last, stoppedAfter }: ListedConsumer,
  time: TimeToLive | undefined,
  nowMs: number,
): Omit<Consumer, keyof typeof unseenSilence> {
  const { keyId, name, label, keyEnd, acknowledgement, refusals, endpoint } = consumer
  const acknowledged =
    endpoint === undefined
      ? acknowledgement && { ...acknowledgement, atMs: acknowledgement.acknowledgedMs }
      : endpoint.progress.acknowledged
  const refusal = refusals
    .filter(({ lastMs }) => lastMs > (last?.askedMs ?? 0))
    .toSorted((a, b) => b.lastMs - a.lastMs)[0]
  return {
    keyId,
    name,
    label,
    ended: keyEnd?.code ?? null,
    lastAskedAt: timeOf(last?.askedMs),
    lastStatus: last?.status ?? null,
    lastRoute: last?.route ?? null,
    lastNothingNewAt: timeOf(last?.quietMs),
    stoppedAfter: stoppedAfter ?? null,
    acknowledged:
      acknowledged === undefined
        ? null
        : { sequenceNumber: acknowledged.sequenceNumber, at: timeOf(acknowledged.atMs) },
    refused:
      refusal === undefined
        ? null
        : { code: refusal.code, since: timeOf(refusal.sinceMs), count: refusal.count },
    timeToLive: timeToLiveAnswer(time),
    webhook:
      endpoint === undefined
        ? null
        : {
            ...endpointMembers(endpoint),
            waiting: endpoint.progress.waiting,
            givenUp: endpoint.progress.givenUp,
          },
    views: lags.map(({ view, through, events, sinceMs }) => ({
      view: nameOfView(view),
      through,
      lagEvents: events,
      lagSeconds: sinceMs === undefined ? 0 : Math.max(0, Math.round((nowMs - sinceMs) / 1_000)),
    })),
  }
}
