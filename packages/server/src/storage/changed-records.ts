/** The result of changing a tenant or a key, and of rotating a key: the same for every engine. */
import type { FreshKey, ImportedTenant, ImportTenantOutcome, KeyChange, TenantChange } from './admin-store.ts'
import type { KeyRecord, Tenant } from './key-store.ts'

export function changedTenant(before: Tenant, change: TenantChange): Tenant {
  const { reference: held, ...rest } = before
  const reference = change.reference === undefined ? held : (change.reference ?? undefined)
  return {
    ...rest,
    name: change.name ?? before.name,
    suspended: change.suspended ?? before.suspended,
    ...(reference === undefined ? {} : { reference }),
  }
}

export function changedKey(before: KeyRecord, change: KeyChange): KeyRecord {
  const { networks: held, ...rest } = before
  const networks = change.networks === undefined ? held : (change.networks ?? undefined)
  return {
    ...rest,
    label: change.label ?? before.label,
    expiresMs: change.expiresMs === undefined ? before.expiresMs : (change.expiresMs ?? undefined),
    rate: change.rate === undefined ? before.rate : (change.rate ?? undefined),
    ...(networks === undefined || networks.length === 0 ? {} : { networks }),
  }
}

/** The old key with its end, and the key that replaces it; `ended`: the old key no longer works. */
export function rotatedKeys(
  before: KeyRecord,
  { oldEndsMs, ...fresh }: FreshKey,
): { readonly old: KeyRecord; readonly record: KeyRecord } | 'ended' {
  const { createdMs, expiresMs, revokedMs } = before
  if (revokedMs !== undefined || (expiresMs !== undefined && expiresMs <= fresh.createdMs)) return 'ended'
  const record: KeyRecord = {
    ...before,
    ...fresh,
    expiresMs: expiresMs === undefined ? undefined : fresh.createdMs + (expiresMs - createdMs),
    lastUsedMs: undefined,
    replaces: before.keyId,
  }
  return { old: { ...before, expiresMs: Math.min(oldEndsMs, expiresMs ?? oldEndsMs) }, record }
}

/** Which of the new names and references are already taken. */
export interface HeldTenants {
  readonly byReference: ReadonlyMap<string, Tenant>
  readonly names: ReadonlySet<string>
}

/** Decides which tenants are made. Tenants of one commit also conflict with each other. */
export function decideImport(
  tenants: readonly ImportedTenant[],
  held: HeldTenants,
): { readonly outcomes: readonly ImportTenantOutcome[]; readonly made: readonly ImportedTenant[] } {
  const byReference = new Map(held.byReference)
  const names = new Set(held.names)
  const made: ImportedTenant[] = []
  const outcomes = tenants.map((item): ImportTenantOutcome => {
    const { tenant } = item
    const known = byReference.get(tenant.reference)
    if (known !== undefined) return { kind: 'known', tenant: known }
    if (names.has(tenant.name)) return { kind: 'nameTaken' }
    byReference.set(tenant.reference, tenant)
    names.add(tenant.name)
    made.push(item)
    return { kind: 'created' }
  })
  return { outcomes, made }
}
