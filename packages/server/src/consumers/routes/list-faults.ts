/** `GET /v1/admin/faults`: what needs somebody, over all tenants (PROTOCOL §12.11). */
import { uncachedAnswer } from '../../http/exchange.ts'
import type { ServiceFault as FaultAnswer } from '@property-events/protocol/wire'
import { timeOf } from '../../http/time-of.ts'
import type { RecentFaults, ServiceFault } from '../list-faults.ts'
import { listBy } from '../../http/listed.ts'
import type { Operation } from '../../http/operation.ts'
import { adminOperation } from '../../http/admin-operation.ts'
import type { AdminContext } from '../../http/admin-operation.ts'
import type { TenantStore } from '../../tenants/tenant.ts'

interface Context extends AdminContext {
  readonly faults: () => Promise<RecentFaults>
  readonly tenants: TenantStore
}

/** A rank, a time, and ids of a tenant, key, consumer and problem. */
const placePattern = /^\d\.[0-9a-z]{9}\.[0-9A-Za-z._-]{1,200}$/
const sortedFaults = listBy({
  form: { pattern: placePattern.source },
  parse: (text) => (placePattern.test(text) ? text : undefined),
  format: (place) => place,
})

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
    query: sortedFaults.query,
    ok: { description: 'What needs attention.', schema: 'Faults' },
    read: sortedFaults.read,
    async answer({ parameters: { limit, after } }) {
      const { faults, hasMore, atMs } = await context.faults()
      const following = after === undefined ? faults : faults.filter(({ place }) => place > after)
      const { items, next } = sortedFaults.page(following, limit, ({ place }) => place)
      const nameOf = await tenantNames(
        context.tenants,
        items.flatMap(({ tenantId }) => tenantId ?? []),
      )
      return uncachedAnswer({
        items: items.map((fault) => shownFault(fault, nameOf)),
        next,
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

/** What tenants are called: one look-up for each that is named; null of one that is gone, or is being deleted. */
async function tenantNames(
  tenants: TenantStore,
  tenantIds: readonly string[],
): Promise<(tenantId: string) => string | null> {
  const found = await Promise.all([...new Set(tenantIds)].map((tenantId) => tenants.findTenant(tenantId)))
  const names = new Map(
    found.flatMap((tenant) =>
      tenant === undefined || tenant.deleting === true ? [] : [[tenant.tenantId, tenant.name]],
    ),
  )
  return (tenantId) => names.get(tenantId) ?? null
}
