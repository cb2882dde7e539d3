/** The present tenant: the one in the address, or on pages without one the last. */
import { signal } from '@preact/signals'
import { base } from '../root.ts'

const storageKey = `property-events tenant ${base}/`

/** Its id. A view with a tenant in its address sets it. */
export const chosenTenant = signal<string | undefined>(localStorage.getItem(storageKey) ?? undefined)

/** `undefined` removes it. */
export function chooseTenant(tenantId: string | undefined): void {
  chosenTenant.value = tenantId
  if (tenantId === undefined) localStorage.removeItem(storageKey)
  else localStorage.setItem(storageKey, tenantId)
}
