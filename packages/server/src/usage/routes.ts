/** `GET /v1/admin/keys/{keyId}/usage`: how often a key requested what, and the answers it got (PROTOCOL §14.1). */
import type { ProblemError } from '@property-events/protocol'
import { usageDaysKept, usageHoursKept } from './usage.ts'
import type { DayUsage, UsageCount, UsageStore } from './usage.ts'
import { refused, uncachedAnswer } from '../http/exchange.ts'
import { quoteInput } from '../http/requests/echo-text.ts'
import { readTimeWithin, timeSchema } from '../http/requests/time-parameter.ts'
import type { Operation } from '../http/operation.ts'
import { adminOperation } from '../http/admin-operation.ts'
import { aboutKey, noKey } from '../keys/routes/key-path.ts'
import { seenKey } from '../keys/access/reach.ts'
import type { AdminContext } from '../http/admin-operation.ts'
import type { KeyStore } from '../keys/key.ts'

interface Context extends AdminContext {
  readonly keys: KeyStore
  readonly usage: UsageStore
}

const spans = ['hour', 'day'] as const
type Span = (typeof spans)[number]

const spanMs: Readonly<Record<Span, number>> = { hour: 3_600_000, day: 86_400_000 }
/** How far back the answer goes, and by default. */
const kept: Readonly<Record<Span, number>> = { hour: usageHoursKept, day: usageDaysKept }
const byDefault: Readonly<Record<Span, number>> = { hour: usageHoursKept, day: 30 }

export function readUsage(context: Context): Operation {
  return adminOperation(context, {
    method: 'GET',
    ...aboutKey,
    path: '/keys/:keyId/usage',
    need: 'admin:inspect',
    operationId: 'readUsage',
    summary: 'Get the usage of a key',
    description: `Requests and bytes of answers by operation and status, hour by hour for ${usageHoursKept} hours and day by day for ${usageDaysKept} days, in UTC. Requests that were refused with 401 or 403 are counted as well, as long as the secret was right. A request is shown within 35 seconds of its answer.`,
    query: {
      by: { type: 'string', enum: spans, default: 'hour', description: 'Hours or days.' },
      from: timeSchema(
        'A time in the first hour or day, in the forms of `from` of a list. By default 48 hours or 30 days ago.',
      ),
      to: timeSchema('A time in the last hour or day. By default now.'),
    },
    ok: { description: 'The counts, by time, operation and status.', schema: 'KeyUsage' },
    problems: ['key_not_found', 'scope_not_held'],
    read: (values, errors) => ({
      by: readSpan(values, errors),
      from: readTimeWithin('from', values, errors),
      to: readTimeWithin('to', values, errors),
    }),
    async answer({ access, params: [keyId = ''], parameters: { by, from, to } }) {
      const record = (await context.keys.findKey(keyId))?.record
      const seen = record && seenKey(access, 'admin:inspect', record)
      if (record === undefined || seen === undefined) return noKey
      if (seen.grants.length < record.grants.length) {
        const detail = 'This key also opens other tenants, so only an operator can see how it was used.'
        return refused({ code: 'scope_not_held', detail })
      }
      const now = Math.floor(Date.now() / spanMs[by])
      const placeOf = (ms: number): number => Math.floor(ms / spanMs[by])
      const last = Math.min(now, to === undefined ? now : placeOf(to))
      const first = Math.max(now - kept[by], from === undefined ? now - byDefault[by] : placeOf(from))
      const counts = await countsOf(context, by, keyId, first, last)
      return uncachedAnswer({
        keyId,
        by,
        items: counts.map(({ at, operation, status, requests, bytes }) => {
          return { at: new Date(at * spanMs[by]).toISOString(), operation, status, requests, bytes }
        }),
      })
    },
  })
}

type Count = Omit<UsageCount, 'hour'> & { readonly at: number }

async function countsOf(
  { usage }: Pick<Context, 'usage'>,
  by: Span,
  keyId: string,
  first: number,
  last: number,
): Promise<readonly Count[]> {
  if (by === 'hour') {
    const hours = await usage.hours(keyId, first, last)
    return hours.map(({ hour, ...count }: UsageCount) => ({ ...count, at: hour }))
  }
  const days = await usage.days(keyId, first, last)
  return days.map(({ day, ...count }: DayUsage) => ({ ...count, at: day }))
}

function readSpan(values: ReadonlyMap<string, string>, errors: ProblemError[]): Span {
  const text = values.get('by') ?? 'hour'
  const span = spans.find((one) => one === text)
  if (span !== undefined) return span
  const message = `${quoteInput(text)} is not allowed; by must be hour or day.`
  errors.push({ parameter: 'by', code: 'not_allowed', message })
  return 'hour'
}
