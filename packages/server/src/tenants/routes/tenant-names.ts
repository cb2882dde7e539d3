import type { TenantStore } from '../tenant.ts'

/** What the names are read from. */
export interface TenantNamesContext {
  readonly tenants: TenantStore
}
/** What tenants are called, for answers that are about many of them. */

/** One look-up for each that is named; null of one that is gone, or is being deleted. */
export async function tenantNames(
  { tenants }: Pick<TenantNamesContext, 'tenants'>,
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
