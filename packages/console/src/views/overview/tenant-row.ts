/** What a row of the overview shows of a tenant, and which of it needs somebody. */
import { places } from '../../base.ts'
import type { Consumer, FeedRate, FeedState, Health, ListOf, Tenant } from '../../service/answers.ts'
import { counted, countText } from '../../words/numbers.ts'
import { readTime, spanText } from '../../words/times.ts'

/** What is known of a tenant: each part comes by itself. */
export interface TenantFacts {
  readonly feeds?: ListOf<FeedState>
  readonly rate?: FeedRate
  readonly consumers?: ListOf<Consumer>
}

/** The number of the last property event. */
export function headOf({ feeds }: TenantFacts): string {
  const head = feeds?.items.find(({ feed }) => feed === 'property')
  return head === undefined ? '…' : countText(head.sequenceNumber)
}

/** Properties that are live now; `…` where they are not counted yet. */
export function liveOf({ feeds }: TenantFacts): string {
  const head = feeds?.items.find(({ feed }) => feed === 'property')
  return head?.live === undefined || head.live === null ? '…' : countText(head.live)
}

/** The consumer that lacks most, of those whose key still works. */
export function furthestBehind({ consumers }: TenantFacts): FurthestBehind | undefined {
  const lags = (consumers?.items ?? [])
    .filter(({ ended, views }) => ended === null && views.length > 0)
    .map(({ label, name, keyId, views }) => ({
      name: consumerName({ label, name, keyId }),
      events: Math.max(...views.map(({ lagEvents }) => lagEvents)),
      seconds: Math.max(...views.map(({ lagSeconds }) => lagSeconds)),
    }))
  return lags.sort((a, b) => b.events - a.events || b.seconds - a.seconds)[0]
}

export interface FurthestBehind {
  readonly name: string
  readonly events: number
  /** For how long the first of them has been there. */
  readonly seconds: number
}

/** `portal 412 · 4 h`, `website 0`. */
export function furthestText(facts: TenantFacts): string {
  if (facts.consumers === undefined) return '…'
  const furthest = furthestBehind(facts)
  if (furthest === undefined) return 'nobody reads it'
  const { name, events, seconds } = furthest
  return events === 0 ? `${name} 0` : `${name} ${countText(events)} · ${spanText(seconds)}`
}

/** Requests of its consumers that were refused last. */
export function refusedOf({ consumers }: TenantFacts): string {
  if (consumers === undefined) return '…'
  return countText(consumers.items.reduce((sum, { refused }) => sum + (refused?.count ?? 0), 0))
}

/** `default` is the key itself. */
export function consumerName({ label, name, keyId }: Pick<Consumer, 'label' | 'name' | 'keyId'>): string {
  const key = label === '' ? `pev_${keyId}` : label
  return name === 'default' ? key : `${key}, ${name}`
}

/** Something that needs somebody. */
export interface Fault {
  readonly key: string
  readonly sentence: string
  /** What to do, in words. */
  readonly remedy: string | undefined
  readonly action: { readonly name: string; readonly place: string } | undefined
  readonly isBad: boolean
}

/** A consumer that lacks events for so long needs somebody. */
const longestLagSeconds = 600

export function faultsOfTenant(
  { tenantId, name }: Pick<Tenant, 'tenantId' | 'name'>,
  facts: TenantFacts,
): readonly Fault[] {
  return (facts.consumers?.items ?? []).flatMap((consumer) => {
    const sentence = consumerFault(consumer)
    if (sentence === undefined) return []
    const key = `${tenantId} ${consumer.keyId} ${consumer.name}`
    const isKey = consumer.ended !== null || consumer.refused !== null
    const action = {
      name: isKey ? 'Look at its key' : 'Look at the feed',
      place: isKey ? places.keys(tenantId, { key: consumer.keyId }) : places.feed(tenantId, 'property'),
    }
    return [{ key, sentence: `${name}: ${sentence}`, remedy: undefined, action, isBad: isKey }]
  })
}

const endings: Readonly<Record<string, string>> = {
  key_revoked: 'was revoked',
  key_expired: 'has expired',
  key_disabled: 'is disabled',
}

/** A key that ended and is not used any more is no fault. */
function consumerFault(consumer: Consumer): string | undefined {
  const { ended, refused, views } = consumer
  const name = `“${consumerName(consumer)}”`
  const refusals = refused === null ? '' : counted(refused.count, 'refusal')
  if (ended !== null)
    return refused === null
      ? undefined
      : `key ${name} ${endings[ended] ?? 'has ended'}, and is still used: ${refusals}`
  if (refused !== null) return `${name} is refused (${refused.code}): ${refusals}`
  const worst = views.reduce((most, { lagSeconds }) => Math.max(most, lagSeconds), 0)
  if (worst < longestLagSeconds) return undefined
  const events = Math.max(...views.map(({ lagEvents }) => lagEvents))
  return `${name} is ${counted(events, 'event')} behind, the first of them for ${spanText(worst)}`
}

/** Of the service itself: also that publishing waits for a new epoch. */
export function faultsOfService(health: Health | undefined): readonly Fault[] {
  return (health?.items ?? [])
    .filter(({ status }) => status !== 'ok')
    .map(({ check, detail, remedy, status }) => ({
      key: `health ${check} ${detail}`,
      sentence: `${check}: ${detail}`,
      remedy: remedy ?? undefined,
      action: undefined,
      isBad: status === 'fail',
    }))
}

/** Of a tenant that is closed in some way, beside its name. */
export function standingOf({ suspended, leaving, deletion }: Tenant): string | undefined {
  if (deletion !== null) return `is being deleted (${deletion.state})`
  if (leaving !== null) return 'leaves'
  return suspended ? 'suspended' : undefined
}

/** The last 24 hours, in hours of the clock that end with the present one: the same request for an hour. */
export function lastDay(nowMs: number): {
  readonly from: string
  readonly to: string
  readonly buckets: number
} {
  const hourMs = 3_600_000
  const end = (Math.floor(nowMs / hourMs) + 1) * hourMs
  return { from: instant(end - 24 * hourMs), to: instant(end), buckets: 24 }
}

function instant(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

/** Whether a tenant published anything since it was looked at: then its facts are asked for again. */
export function hasMoved(before: Tenant | undefined, now: Tenant): boolean {
  return readTime(before?.lastPublishedAt) !== readTime(now.lastPublishedAt)
}
