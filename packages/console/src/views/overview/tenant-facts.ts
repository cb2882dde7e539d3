/** Asks for the facts of the tenants that are seen, some at a time, and again for those that have published since. */
import { signal } from '@preact/signals'
import type { Signal } from '@preact/signals'
import type { Tenant } from '../../service/answers.ts'
import { call } from '../../service/call.ts'
import { listConsumers, listFeeds, readRate } from '../../service/operations/tenants.ts'
import { hasMoved, lastDay } from './tenant-row.ts'
import type { TenantFacts } from './tenant-row.ts'

export interface FactsOfTenants {
  readonly facts: Signal<ReadonlyMap<string, TenantFacts>>
  /** The rows that stand in the page now. */
  look(tenants: readonly Tenant[]): void
  close(): void
}

/** Tenants that are asked about at the same time: a key has 50 requests a second, and each takes three. */
const mostAtOnce = 4
/** What changes without a publication, such as a consumer that stops asking, shows after so long. */
const stalenessMs = 30_000

interface Known {
  readonly tenant: Tenant
  readonly askedAt: number
}

export function createFactsOfTenants(): FactsOfTenants {
  const facts = signal<ReadonlyMap<string, TenantFacts>>(new Map())
  const known = new Map<string, Known>()
  const controller = new AbortController()
  let waiting: readonly Tenant[] = []
  let running = 0

  function add(tenantId: string, part: TenantFacts): void {
    facts.value = new Map(facts.value).set(tenantId, { ...facts.value.get(tenantId), ...part })
  }

  async function askAbout({ tenantId }: Tenant): Promise<void> {
    const { signal: ended } = controller
    const [feeds, rate, consumers] = await Promise.all([
      call(listFeeds(tenantId), { signal: ended }),
      call(readRate(tenantId, 'property', lastDay(Date.now())), { signal: ended }),
      call(listConsumers(tenantId, 'property'), { signal: ended }),
    ])
    // A part that was refused keeps its dots; the list above says why nothing comes.
    add(tenantId, {
      ...(feeds.kind === 'answer' ? { feeds: feeds.value } : {}),
      ...(rate.kind === 'answer' ? { rate: rate.value } : {}),
      ...(consumers.kind === 'answer' ? { consumers: consumers.value } : {}),
    })
  }

  function isDue(tenant: Tenant, nowMs: number): boolean {
    const before = known.get(tenant.tenantId)
    return before === undefined || nowMs - before.askedAt > stalenessMs || hasMoved(before.tenant, tenant)
  }

  async function work(): Promise<void> {
    running += 1
    for (let tenant = next(); tenant !== undefined && !controller.signal.aborted; tenant = next())
      await askAbout(tenant)
    running -= 1
  }

  function next(): Tenant | undefined {
    const nowMs = Date.now()
    const tenant = waiting.find((one) => isDue(one, nowMs))
    if (tenant !== undefined) known.set(tenant.tenantId, { tenant, askedAt: nowMs })
    return tenant
  }

  return {
    facts,
    look(tenants) {
      waiting = tenants
      while (running < mostAtOnce && tenants.some((tenant) => isDue(tenant, Date.now()))) void work()
    },
    close: () => controller.abort(),
  }
}
