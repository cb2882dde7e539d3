/** Tenants by their last publication, page by page (PROTOCOL §12.2). */
import { formatTicks, parseUuid } from '@property-events/protocol'
import { comesFirst } from '../../publishing/last-published.ts'
import type { PublishedTenant, LastPublished } from '../../publishing/last-published.ts'
import type { Tenant, TenantStore } from '../tenant.ts'
import type { RowCursor } from '../../http/listed.ts'
import { firstIndex } from '../../runtime/first-index.ts'

/** What the order is made from. */
export interface TenantOrderContext {
  readonly lastPublished: LastPublished
  readonly tenants: TenantStore
}

export const lastPublishOrder = 'lastPublish'

export interface OrderedTenant extends PublishedTenant {
  readonly tenant: Tenant
}

/** Returns one more than the limit, if there are more. `wanted`: only these tenants; `undefined`: all. */
export async function tenantsByPublish(
  { lastPublished, tenants }: Pick<TenantOrderContext, 'lastPublished' | 'tenants'>,
  after: PublishedTenant | undefined,
  limit: number,
  wanted: ReadonlyMap<string, Tenant> | undefined,
): Promise<readonly OrderedTenant[]> {
  const sorted = await lastPublished.sorted()
  const found: OrderedTenant[] = []
  // Whether or not a tenant has exactly that place.
  const first = after === undefined ? 0 : firstIndex(sorted, (one) => comesFirst(one, after) <= 0)
  for (let n = first; n < sorted.length; n += 1) {
    const place = sorted[n]
    if (place === undefined || found.length > limit) break
    const { tenantId } = place
    const tenant = wanted === undefined ? await tenants.findTenant(tenantId) : wanted.get(tenantId)
    // A deleted tenant stays in memory for some seconds.
    if (tenant !== undefined) found.push({ ...place, tenant })
  }
  return found
}

export function lastPublishedAt({ created }: PublishedTenant): string | null {
  return created === 0n ? null : `${formatTicks(created)}Z`
}

/** A time and an id, which stay valid whatever is published meanwhile. */
export const publishCursor: RowCursor<PublishedTenant> = {
  form: { pattern: '^[0-9a-f]{1,15}\\.[0-9a-f-]{36}$' },
  parse(text) {
    const [, created, id = ''] = /^([0-9a-f]{1,15})\.([0-9a-f-]{36})$/.exec(text) ?? []
    const tenantId = parseUuid(id)
    return created === undefined || tenantId === undefined
      ? undefined
      : { created: BigInt(`0x${created}`), tenantId }
  },
  format: ({ created, tenantId }) => `${created.toString(16)}.${tenantId}`,
}
