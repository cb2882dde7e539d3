/** Which retention rules apply to which tenant, and which time they reach today (D17). */
import type { TenantStore } from '../../tenants/tenant.ts'
import { feedNames, ticksPerSecond } from '@property-events/protocol'
import type { FeedName, Ticks } from '@property-events/protocol'
import type { FeedKey } from '../../events/feed-key.ts'
import type { RetentionRule, ThinSpan, RetentionStore } from './retention.ts'

/** The rules for tenants without their own, in whole days; 0: off. */
export type RetentionDefaults = Readonly<Record<RetentionRule, number>>

export const noRetention: RetentionDefaults = {
  'retain-contacts': 0,
  'retain-properties': 0,
  'expire-contacts': 0,
}

export const millisecondsPerDay = 86_400_000
const ticksPerMillisecond = ticksPerSecond / 1_000n

const ruleOfFeed: Readonly<Record<FeedName, RetentionRule>> = {
  property: 'retain-properties',
  contact: 'retain-contacts',
}

/** Milliseconds since 1970 at which the day began, in UTC. */
export function beginningOfDay(nowMs: number): number {
  return nowMs - (nowMs % millisecondsPerDay)
}

export function ticksOfMilliseconds(ms: number): Ticks {
  return BigInt(ms) * ticksPerMillisecond
}

/** A feed, with the span that loses its payloads today. */
export interface RetainedFeed {
  readonly span: ThinSpan
  readonly days: number
}

/**
 * The feeds with a rule. A day counts from its beginning in UTC, and what was superseded today is left for tomorrow, so each feed changes
 * for this reason once a day, however many nodes look.
 */
export async function retainedFeeds(
  { retention, tenants }: { readonly retention: RetentionStore; readonly tenants: TenantStore },
  defaults: RetentionDefaults,
  nowMs: number,
): Promise<readonly RetainedFeed[]> {
  const today = beginningOfDay(nowMs)
  return (await tenantRules({ retention, tenants }, defaults)).flatMap(({ tenantId, days }) =>
    feedNames.flatMap((feed): RetainedFeed[] => {
      const kept = days(ruleOfFeed[feed])
      return kept === 0 ? [] : [{ span: spanOf({ tenantId, feed }, kept, today), days: kept }]
    }),
  )
}

function spanOf(key: FeedKey, days: number, today: number): ThinSpan {
  const before = ticksOfMilliseconds(today - days * millisecondsPerDay)
  return { key, before, supersededBefore: ticksOfMilliseconds(today) }
}

/** The number of days without a change after which contacts of one tenant are erased, by its own rule or the service's; 0: never. */
export async function expiryDays(
  retention: RetentionStore,
  defaults: RetentionDefaults | undefined,
  tenantId: string,
): Promise<number> {
  const own = await retention.rules(tenantId)
  const rule = own.find((one) => one.rule === 'expire-contacts')
  return rule?.days ?? (defaults ?? noRetention)['expire-contacts']
}

interface RuledTenant {
  readonly tenantId: string
  readonly days: (rule: RetentionRule) => number
}

/** Tenants that at least one rule may apply to. */
export async function tenantRules(
  { retention, tenants }: { readonly retention: RetentionStore; readonly tenants: TenantStore },
  defaults: RetentionDefaults,
): Promise<readonly RuledTenant[]> {
  const own = await retention.rules()
  const byTenant = Map.groupBy(own, ({ tenantId }) => tenantId)
  const isOnForAll = Object.values(defaults).some((days) => days > 0)
  // Tenants are read only if they are needed: without rules, nothing is read.
  const tenantIds = isOnForAll
    ? (await tenants.tenants()).map(({ tenantId }) => tenantId)
    : [...byTenant.keys()]
  return tenantIds.map((tenantId) => {
    const rules = byTenant.get(tenantId) ?? []
    return { tenantId, days: (rule) => rules.find((one) => one.rule === rule)?.days ?? defaults[rule] }
  })
}
