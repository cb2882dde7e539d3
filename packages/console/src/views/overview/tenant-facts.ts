/** Requests the facts of the visible tenants, some at a time, and again for those that have published since. */
import { signal } from '@preact/signals'
import type { Signal } from '@preact/signals'
import type { ListedTenant, TenantActivity } from '@property-events/protocol/wire'
import { call } from '../../service/call.ts'
import { readTenantFacts } from '../../service/operations/tenants.ts'
import { hasMoved } from './tenant-row.ts'

export interface FactsOfTenants {
  readonly facts: Signal<ReadonlyMap<string, TenantActivity>>
  /** The rows that are in the page now. */
  want(tenants: readonly ListedTenant[]): void
  close(): void
}

/** How many the service answers in one request. */
const mostOfRequest = 25
/** Changes without a publication, such as a consumer that stops asking, appear after this time. */
const stalenessMs = 30_000

interface Request {
  readonly tenant: ListedTenant
  readonly askedAt: number
}

export function createFactsOfTenants(): FactsOfTenants {
  const facts = signal<ReadonlyMap<string, TenantActivity>>(new Map())
  const requests = new Map<string, Request>()
  const controller = new AbortController()
  let waiting: readonly ListedTenant[] = []
  let isAsking = false

  function isDue(tenant: ListedTenant, nowMs: number): boolean {
    const before = requests.get(tenant.tenantId)
    return before === undefined || nowMs - before.askedAt > stalenessMs || hasMoved(before.tenant, tenant)
  }

  /** The next ones, one request after another. */
  async function work(): Promise<void> {
    isAsking = true
    for (;;) {
      const nowMs = Date.now()
      const due = waiting.filter((tenant) => isDue(tenant, nowMs)).slice(0, mostOfRequest)
      if (due.length === 0 || controller.signal.aborted) break
      for (const tenant of due) requests.set(tenant.tenantId, { tenant, askedAt: nowMs })
      const { signal: ended } = controller
      const outcome = await call(readTenantFacts(due.map(({ tenantId }) => tenantId)), { signal: ended })
      // Refused rows keep their dots; the list above says why nothing arrives.
      if (outcome.kind !== 'answer') continue
      const found = outcome.value.items.map((one) => [one.tenantId, one] as const)
      facts.value = new Map([...facts.value, ...found])
    }
    isAsking = false
  }

  return {
    facts,
    want(tenants) {
      waiting = tenants
      if (!isAsking) void work()
    },
    close: () => controller.abort(),
  }
}
