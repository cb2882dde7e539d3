/** What a row of the overview shows about a tenant, and which parts need attention. */
import { paths } from '../../base.ts'
import type {
  Consumer,
  Health,
  ListedTenant,
  ServiceFault,
  Tenant,
  TenantActivity,
} from '@property-events/protocol/wire'
import { counted, countText } from '../../words/numbers.ts'
import { oneLine } from '../../words/plain.ts'
import { longSpanText, readTime, spanText } from '../../words/times.ts'

/** `undefined`: not requested yet. */
type Facts = TenantActivity | undefined

/** The number of the last property event. */
export function headOf(facts: Facts): string {
  return facts === undefined ? '…' : countText(facts.sequenceNumber)
}

/** Properties that are live now. */
export function liveOf(facts: Facts): string {
  return facts === undefined ? '…' : countText(facts.live)
}

/** The consumer that is furthest behind: `portal 412 · 4 h`, `website 0`. */
export function furthestText(facts: Facts): string {
  if (facts === undefined) return '…'
  const { furthest } = facts
  if (furthest === null) return 'no readers'
  const { lagEvents, lagSeconds } = furthest
  const name = consumerName(furthest)
  return lagEvents === 0 ? `${name} 0` : `${name} ${countText(lagEvents)} · ${spanText(lagSeconds)}`
}

/** How many requests of its consumers were refused recently. */
export function refusedOf(facts: Facts): string {
  return facts === undefined ? '…' : countText(facts.refused)
}

/** `default` is the key itself. */
function consumerName({ label, name, keyId }: Pick<Consumer, 'label' | 'name' | 'keyId'>): string {
  const key = oneLine(label, 60) || `pev_${keyId}`
  return name === 'default' ? key : `${key}, ${name}`
}

/** Something that needs attention. */
export interface Fault {
  readonly key: string
  readonly sentence: string
  /** What to do, in words. */
  readonly remedy: string | undefined
  readonly action: { readonly name: string; readonly path: string } | undefined
  readonly isBad: boolean
}

/** A consumer that lacks events for this long needs attention. */
const longestLagSeconds = 600

/** A consumer that makes requests and still lacks events. One that has stopped asking is in the service's list of faults. */
export function faultsOfTenant(
  { tenantId, name }: Pick<Tenant, 'tenantId' | 'name'>,
  facts: Facts,
): readonly Fault[] {
  const furthest = facts?.furthest
  if (furthest === undefined || furthest === null || furthest.lagSeconds < longestLagSeconds) return []
  const events = counted(furthest.lagEvents, 'event')
  const behind = `“${consumerName(furthest)}” is ${events} behind, for ${longSpanText(furthest.lagSeconds)}`
  return [
    {
      key: `${furthest.keyId} ${furthest.name}`,
      sentence: `${oneLine(name)}: ${behind}`,
      remedy: undefined,
      action: {
        name: 'View consumers',
        path: paths.consumers(tenantId, { key: furthest.keyId }),
      },
      isBad: false,
    },
  ]
}

const endings: Readonly<Record<string, string>> = {
  key_revoked: 'was revoked',
  key_expired: 'has expired',
  key_disabled: 'is disabled',
}

/** A card for each fault that the service knows, whatever its tenant. */
export function faultOf(fault: ServiceFault, nowMs: number): Fault {
  const { code, tenantId, tenantName, keyId, consumer, since } = fault
  const isOfConsumer = code === 'consumer_silent'
  return {
    // This consumer is also in the tenant's facts: one card is enough.
    key: isOfConsumer
      ? `${keyId ?? ''} ${consumer ?? ''}`
      : `${code} ${tenantId ?? ''} ${keyId ?? ''} ${consumer ?? ''} ${since}`,
    sentence: `${oneLine(tenantName ?? 'Several agencies')}: ${sentenceOf(fault, nowMs)}`,
    remedy: undefined,
    action: actionOf(fault),
    isBad: code.endsWith('_refused'),
  }
}

function sentenceOf(
  { code, feed, keyId, label, consumer, since, endsAt, reason, refusals }: ServiceFault,
  nowMs: number,
): string {
  const name = `“${consumerName({ keyId: keyId ?? '', label: label ?? '', name: consumer ?? 'default' })}”`
  const span = longSpanText(
    Math.abs(nowMs - (readTime(code === 'key_ending' ? endsAt : since) ?? nowMs)) / 1_000,
  )
  const ending = endings[reason ?? '']
  const times = counted(refusals ?? 0, 'refusal')
  if (code === 'key_refused')
    return ending === undefined
      ? `${name} is refused (${reason ?? ''}): ${times} within ${span}`
      : `key ${name} ${ending}, and is still used: ${times} within ${span}`
  if (code === 'publication_refused')
    return `what ${name} publishes is refused (${reason ?? ''}): ${times} within ${span}`
  if (code === 'publisher_silent') return `nothing was published to the ${feed ?? ''} feed for ${span}`
  if (code === 'consumer_silent') return `no requests from ${name} for ${span}`
  return code === 'key_ending' ? `key ${name} expires in ${span}, and is in use` : `${name}: ${code}`
}

function actionOf({ code, tenantId, keyId, feed }: ServiceFault): Fault['action'] {
  if (tenantId !== null && (code === 'publisher_silent' || code === 'publication_refused'))
    return {
      name: 'View publications',
      path: paths.publications(tenantId, { key: keyId ?? undefined }),
    }
  if (code === 'consumer_silent' && tenantId !== null)
    return {
      name: 'View consumers',
      path: paths.consumers(tenantId, { feed: feed ?? undefined, key: keyId ?? undefined }),
    }
  const query = { key: keyId ?? undefined }
  return {
    name: 'View key',
    path: tenantId === null ? paths.operatorKeys(query) : paths.keys(tenantId, query),
  }
}

/** One card for each key, with those of the list first. */
export function distinctFaults(faults: readonly Fault[]): readonly Fault[] {
  return [...new Map(faults.toReversed().map((fault) => [fault.key, fault])).values()].toReversed()
}

/** For the service itself, including that publishing waits for a new epoch. */
export function faultsOfService(health: Pick<Health, 'status' | 'items'> | undefined): readonly Fault[] {
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

/** For a tenant that is closed in some way, beside its name. */
export function tenantStatus({ suspended, leaving, deletion }: Tenant): string | undefined {
  if (deletion !== null) return `is being deleted (${deletion.state})`
  if (leaving !== null) return 'leaving'
  return suspended ? 'suspended' : undefined
}

/** Whether a tenant has published since its facts were requested: then they are requested again. */
export function hasMoved(before: ListedTenant | undefined, now: ListedTenant): boolean {
  return readTime(before?.lastPublishedAt) !== readTime(now.lastPublishedAt)
}
