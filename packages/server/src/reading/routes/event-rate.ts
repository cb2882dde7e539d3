/** `GET /v1/admin/tenants/{tenantId}/feeds/{feed}/rate`: how many events there were, bucket by bucket (PROTOCOL §12.5). */
import { feedNames, formatTicks } from '@property-events/protocol'
import type { FeedName, ProblemError, Ticks, ViewName } from '@property-events/protocol'
import { refused, uncachedAnswer, invalidParameters } from '../../http/exchange.ts'
import { readApiEventType } from './cursor-parameters.ts'
import { quoteInput } from '../../http/requests/echo-text.ts'
import { readTime, timeSchema, timeWords } from '../../http/requests/time-parameter.ts'
import type { TimeParameter } from '../../http/requests/time-parameter.ts'
import type { Operation } from '../../http/operation.ts'
import { noTenant, tenantOperation } from '../../tenants/routes/tenant-operation.ts'
import type { EventStore } from '../../events/event-log.ts'
import type { TenantContext } from '../../tenants/routes/tenant-operation.ts'

interface Context extends TenantContext {
  readonly events: EventStore
}

const mostBuckets = 200
const defaultBuckets = 24

export function readRate(context: Context): Operation {
  return tenantOperation(context, {
    method: 'GET',
    path: '/tenants/:tenantId/feeds/:feed/rate',
    need: 'admin:inspect',
    operationId: 'readRate',
    summary: 'Count events over time',
    description:
      'How many events were published from `from` to `to`, in `buckets` equal parts. Each part costs two probes of an index, however many events it has, and all are of one moment.',
    query: {
      from: timeSchema('The beginning, in the forms of `from` of a list.'),
      to: timeSchema('The end, in the forms of `to` of a list.'),
      buckets: {
        type: 'integer',
        minimum: 1,
        maximum: mostBuckets,
        default: defaultBuckets,
        description: 'How many parts the time is divided into.',
      },
      apiEventType: { type: 'string', description: 'Of which view; all events if left out.' },
    },
    required: ['from', 'to'],
    ok: { description: 'The counts.', schema: 'FeedRate' },
    read: (values, errors) => ({
      from: readBound('from', values, errors),
      to: readBound('to', values, errors),
      buckets: readBuckets(values, errors),
      type: values.get('apiEventType'),
    }),
    async answer({ tenant: { tenantId }, params: [, name], parameters: { from, to, buckets, type } }) {
      const feed = feedNames.find((one) => one === name)
      if (feed === undefined)
        return refused({ code: 'path_not_found', detail: 'The feeds are property and contact.' })
      const view = viewOf(feed, type)
      if (typeof view !== 'string') return invalidParameters(view)
      if (from >= to) {
        const message = 'from is later than to; swap them.'
        return invalidParameters({ parameter: 'from', code: 'window_reversed', message })
      }
      const times = Array.from(
        { length: buckets + 1 },
        (_, n) => from + ((to - from) * BigInt(n)) / BigInt(buckets),
      )
      const tally = await context.events.tally({ key: { tenantId, feed }, view, times })
      if (tally === undefined) return noTenant
      const { before } = tally
      const counts = before.slice(1).map((count, index) => count - (before[index] ?? 0))
      const shown = { feed, apiEventType: type ?? null, from: timeOf(from), to: timeOf(to) }
      return uncachedAnswer({ ...shown, counts })
    },
  })
}

function viewOf(feed: FeedName, type: string | undefined): ViewName | ProblemError {
  return type === undefined ? 'all' : readApiEventType(feed, type)
}

function timeOf(ticks: Ticks): string {
  return `${formatTicks(ticks)}Z`
}

/** The parameter is required. */
function readBound(
  parameter: TimeParameter,
  values: ReadonlyMap<string, string>,
  errors: ProblemError[],
): Ticks {
  if (!values.has(parameter)) {
    errors.push({ parameter, code: 'missing', message: `${parameter} is missing; it is ${timeWords}.` })
  }
  return readTime(parameter, values, errors) ?? 0n
}

function readBuckets(values: ReadonlyMap<string, string>, errors: ProblemError[]): number {
  const text = values.get('buckets') ?? String(defaultBuckets)
  if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= mostBuckets) return Number(text)
  const message = `${quoteInput(text)} is not allowed; buckets must be a whole number from 1 to ${mostBuckets}.`
  errors.push({ parameter: 'buckets', code: 'not_a_count', message })
  return defaultBuckets
}
