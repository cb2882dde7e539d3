/** `GET /v1/admin/tenant-facts`: a line of an overview for each of some tenants, in one request (PROTOCOL §12.11). */
import { uncachedAnswer } from '../../http/exchange.ts'
import { parseUuid } from '@property-events/protocol'
import type { ProblemError, Ticks } from '@property-events/protocol'
import type { TenantActivity } from '@property-events/protocol/wire'
import type { ListedConsumer } from '../../consumers/list-consumers.ts'
import { quoteInput } from '../../http/requests/echo-text.ts'
import type { Operation } from '../../http/operation.ts'
import { adminOperation } from '../../http/admin-operation.ts'
import { readableTenant } from './tenant-operation.ts'
import type { ConsumersQuery } from '../../consumers/consumers-of-feed.ts'
import type { EventStore } from '../../events/event-log.ts'
import type { LastPublished } from '../../publishing/last-published.ts'
import type { TenantContext } from './tenant-operation.ts'

interface Context extends TenantContext {
  readonly events: EventStore
  readonly lastPublished: LastPublished
  /** The consumers of a feed; `undefined` if there is no such feed. */
  readonly listConsumers: (query: ConsumersQuery) => Promise<readonly ListedConsumer[] | undefined>
}

const mostTenants = 25
const uuid = '[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}'
/** Tenants that are looked at together: each takes some dozen short reads. */
const atOnce = 4
const hours = 24
const hourMs = 3_600_000
const ticksPerMs = 10_000n

export function readTenantFacts(context: Context): Operation {
  return adminOperation(context, {
    method: 'GET',
    path: '/tenant-facts',
    need: 'admin:inspect',
    operatorsOnly: true,
    operationId: 'readTenantFacts',
    summary: 'Get statistics of some tenants',
    description: `Of the property feed of each: its last number, how many properties are live, the events of each of the last 24 hours of the clock, the consumer that is furthest behind, and how often consumers were refused. ${mostTenants} tenants at most; one that is not there is left out.`,
    query: {
      tenants: {
        type: 'string',
        pattern: `^${uuid}(?:,${uuid}){0,${mostTenants - 1}}$`,
        description: `Ids of tenants, 1 to ${mostTenants}, with commas between them. Left out: the ${mostTenants} that published last.`,
      },
    },
    ok: {
      description: 'The tenants, in the order in which they were named, or the latest first.',
      schema: 'TenantFacts',
    },
    read: (values, errors) => readTenants(values, errors),
    async answer({ parameters }) {
      const nowMs = Date.now()
      const tenantIds = parameters ?? (await publishedLast(context))
      const left = [...tenantIds.entries()]
      const found: (TenantActivity | undefined)[] = []
      const work = async (): Promise<void> => {
        for (let one = left.shift(); one !== undefined; one = left.shift()) {
          found[one[0]] = await factsOf(context, one[1], nowMs)
        }
      }
      await Promise.all(Array.from({ length: atOnce }, work))
      return uncachedAnswer({ items: found.filter((facts) => facts !== undefined), next: null })
    },
  })
}

async function publishedLast({ lastPublished }: Pick<Context, 'lastPublished'>): Promise<readonly string[]> {
  const tenants = await lastPublished.sorted()
  return tenants.slice(0, mostTenants).map(({ tenantId }) => tenantId)
}

async function factsOf(
  context: Context,
  tenantId: string,
  nowMs: number,
): Promise<TenantActivity | undefined> {
  if ('kind' in (await readableTenant(context, tenantId))) return undefined
  const key = { tenantId, feed: 'property' } as const
  const [counts, head, tally, consumers] = await Promise.all([
    context.events.counts(tenantId),
    context.events.head(key),
    context.events.tally({ key, view: 'all', times: hoursOfDay(nowMs) }),
    context.listConsumers({ key, keyId: undefined, branches: undefined, nowMs }),
  ])
  if (head === undefined || tally === undefined || consumers === undefined) return undefined
  return {
    tenantId,
    sequenceNumber: head.sequenceNumber,
    live: counts.find((one) => one.key.feed === 'property')?.live ?? 0,
    published: tally.before.slice(1).map((count, index) => count - (tally.before[index] ?? 0)),
    furthest: furthestOf(consumers, nowMs),
    refused: consumers.reduce((sum, one) => sum + refusedOf(one), 0),
  }
}

/** The bounds of the last 24 hours of the clock, the present one included. */
function hoursOfDay(nowMs: number): readonly Ticks[] {
  const end = (Math.floor(nowMs / hourMs) + 1) * hourMs
  return Array.from({ length: hours + 1 }, (_, n) => BigInt(end - (hours - n) * hourMs) * ticksPerMs)
}

/** Requests that were refused since its last answer. */
function refusedOf({ consumer: { refusals }, last }: ListedConsumer): number {
  return refusals
    .filter(({ lastMs }) => lastMs > (last?.askedMs ?? 0))
    .reduce((sum, { count }) => sum + count, 0)
}

/** Of the consumers whose keys work; null: nobody reads it. */
function furthestOf(consumers: readonly ListedConsumer[], nowMs: number): TenantActivity['furthest'] {
  const behind = consumers
    .filter(({ consumer, lags }) => consumer.keyEnd === undefined && lags.length > 0)
    .map(({ consumer: { keyId, label, name }, lags }) => {
      const lagSeconds = lags.map(({ sinceMs = nowMs }) => Math.max(0, Math.round((nowMs - sinceMs) / 1_000)))
      const lagEvents = Math.max(...lags.map(({ events }) => events))
      return { keyId, label, name, lagEvents, lagSeconds: Math.max(...lagSeconds) }
    })
  return behind.toSorted((a, b) => b.lagEvents - a.lagEvents || b.lagSeconds - a.lagSeconds)[0] ?? null
}

function readTenants(
  values: ReadonlyMap<string, string>,
  errors: ProblemError[],
): readonly string[] | undefined {
  const text = values.get('tenants')
  if (text === undefined) return undefined
  const ids = text === '' ? [] : text.split(',').map((one) => parseUuid(one))
  const found = ids.filter((id) => id !== undefined)
  if (found.length === ids.length && found.length >= 1 && found.length <= mostTenants)
    return [...new Set(found)]
  const message = `${quoteInput(text)} is not allowed; tenants must be 1 to ${mostTenants} ids of tenants with commas between them.`
  errors.push({ parameter: 'tenants', code: 'not_allowed', message })
  return []
}
