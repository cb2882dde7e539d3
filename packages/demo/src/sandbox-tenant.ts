/** The tenant of the sandbox in a store (PROTOCOL §2.8). */
import { sandboxTenantId } from '@property-events/protocol'
import type { StorageEngine, Tenant } from '@property-events/server'

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
