/** `GET /v1/admin/faults`: what needs somebody, over all tenants (PROTOCOL §12.11). */
import { uncachedAnswer } from '../../http/exchange.ts'
import type { ProblemError } from '@property-events/protocol'
import type { ServiceFault as FaultAnswer } from '@property-events/protocol/wire'
import { timeOf } from '../../http/time-of.ts'
import type { ServiceFault } from '../list-faults.ts'
import { quoteInput } from '../../http/requests/echo-text.ts'
import type { Operation } from '../../http/operation.ts'
import { adminOperation } from '../../http/admin/admin-operation.ts'
import { limitSchema, readLimit } from '../../http/admin/list-parameters.ts'
import { tenantNames } from '../../tenants/routes/tenant-names.ts'
import type { FaultCache } from '../fault-cache.ts'
import type { AdminContext } from '../../http/admin/admin-operation.ts'
import type { TenantNamesContext } from '../../tenants/routes/tenant-names.ts'

interface Context extends AdminContext, TenantNamesContext {
  readonly faults: FaultCache
}

/** A rank, a time, and ids of a tenant, key, consumer and problem. */
const placePattern = /^\d\.[0-9a-z]{9}\.[0-9A-Za-z._-]{1,200}$/

export function listFaults(context: Context): Operation {
  return adminOperation(context, {
    method: 'GET',
    path: '/faults',
    need: 'admin:inspect',
    operatorsOnly: true,
    operationId: 'listFaults',
    summary: 'List what needs attention, for all tenants',
    description:
      'Keys and publications that were refused within the last hour, publishers and consumers that have been silent for longer than expected, and keys in use that end within 7 days: the worst kind first, and within a kind what began first. As of `at`, about 30 seconds ago at most. At most 1,000 of a kind are listed; `hasMore`: there are others. Repeat with `after` = `next` until `next` is null.',
    query: {
      limit: limitSchema,
      after: {
        type: 'string',
        pattern: placePattern.source,
        description: 'The `next` of the previous answer, unchanged.',
      },
    },
    ok: { description: 'What needs attention.', schema: 'Faults' },
    read: (values, errors) => ({ limit: readLimit(values, errors), after: readPlace(values, errors) }),
    async answer({ parameters: { limit, after } }) {
      const { faults, hasMore, atMs } = await context.faults.find()
      const first = after === undefined ? 0 : faults.findIndex(({ place }) => place > after)
      const items = first === -1 ? [] : faults.slice(first, first + limit)
      const isLast = items.length === 0 || items.at(-1) === faults.at(-1)
      const nameOf = await tenantNames(
        context,
        items.flatMap(({ tenantId }) => tenantId ?? []),
      )
      return uncachedAnswer({
        items: items.map((fault) => shownFault(fault, nameOf)),
        next: isLast ? null : (items.at(-1)?.place ?? null),
        hasMore,
        at: timeOf(atMs),
      })
    },
  })
}

function shownFault(
  { code, tenantId, feed, keyId, label, consumer, sinceMs, endsMs, reason, refusals }: ServiceFault,
  nameOf: (tenantId: string) => string | null,
): FaultAnswer {
  return {
    code,
    tenantId: tenantId ?? null,
    tenantName: tenantId === undefined ? null : nameOf(tenantId),
    feed: feed ?? null,
    keyId: keyId ?? null,
    label: label ?? null,
    consumer: consumer ?? null,
    since: timeOf(sinceMs),
    endsAt: timeOf(endsMs),
    reason: reason ?? null,
    refusals: refusals ?? null,
  }
}

function readPlace(values: ReadonlyMap<string, string>, errors: ProblemError[]): string | undefined {
  const text = values.get('after')
  if (text === undefined || placePattern.test(text)) return text
  const message = `${quoteInput(text)} is not a place in this list; send the "next" of the previous answer, unchanged.`
  errors.push({ parameter: 'after', code: 'not_a_place', message })
  return undefined
}
