/** What a new key may do, as its options say it. */
import { sandboxTenantId } from '@property-events/protocol'
import type { ContactLimits, GrantScope } from '@property-events/protocol'
import type { Grant } from '@property-events/server'
import { findTenant } from '../open-store.ts'
import type { OpenedStore } from '../open-store.ts'
import { Refusal } from '../refusal.ts'

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
  if (isTest) {
    const { sandboxTenant } = await import('@property-events/demo/sandbox')
    return [{ tenantId: (await sandboxTenant(store.storage)).tenantId, scopes: ['property:read'] }]
  }
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
