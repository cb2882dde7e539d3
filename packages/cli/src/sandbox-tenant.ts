/** The tenant of the sandbox in a store, and the keys that open it (PROTOCOL §2.8). */
import { sandboxTenantId } from '@property-events/protocol'
import type { ContactLimits, GrantScope } from '@property-events/protocol'
import type { Grant, StorageEngine, Tenant } from '@property-events/server'
import { findTenant } from './open-store.ts'
import type { OpenedStore } from './open-store.ts'
import { Refusal } from './refusal.ts'

/** Superseded events of the sandbox lose their payloads after a day: nobody reads its history. */
const keptDays = 1

/** Creates it if there is none. Safe from many processes at once. */
export async function sandboxTenant(storage: StorageEngine): Promise<Tenant> {
  const made = {
    tenantId: sandboxTenantId,
    name: 'Sandbox (test keys)',
    createdMs: Date.now(),
    suspended: false,
  }
  const outcome = await storage.tenants.createTenant(made, 'service', { sameName: 'allowed' })
  if (outcome === 'created') {
    await storage.retention.setRule(sandboxTenantId, 'retain-properties', keptDays, 'service')
    return made
  }
  const tenants = await storage.tenants.tenants()
  return tenants.find(({ tenantId }) => tenantId === sandboxTenantId) ?? made
}

export interface WantedGrants {
  /** The key is for the sandbox. */
  readonly isTest: boolean
  /** Ids or names. */
  readonly tenants: readonly string[]
  readonly scopes: readonly GrantScope[]
  /** Which contact data is read; `undefined`: all of it. */
  readonly contact: ContactLimits | undefined
  /** Left out: all. */
  readonly branches?: readonly string[] | undefined
}

/** What a new key may do. Throws a `Refusal` for a tenant that does not exist, or that is the sandbox. */
export async function grantsOf(
  store: OpenedStore,
  { isTest, tenants, scopes, contact, branches }: WantedGrants,
): Promise<readonly Grant[]> {
  if (isTest) return [{ tenantId: (await sandboxTenant(store.storage)).tenantId, scopes: ['property:read'] }]
  const tenantIds = new Set<string>()
  for (const name of tenants) tenantIds.add((await findTenant(store, name)).tenantId)
  if (tenantIds.has(sandboxTenantId))
    throw new Refusal(
      'The sandbox is opened by test keys alone: use --test in place of --tenant and --scope.',
    )
  return [...tenantIds].map((tenantId) => ({
    tenantId,
    scopes,
    ...(contact && { contact }),
    ...(branches && { branches }),
  }))
}
