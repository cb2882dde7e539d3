/** What the audit rows of each change contain: written once, for every engine. */
import { uuidV7 } from '@property-events/protocol/plain'
import type { AuditChange, AuditedMove, AuditRow } from './audit.ts'
import type { Actor } from './actor.ts'
import type { Deletion, DeletionRequest } from '../tenants/deletion/deletion.ts'
import type { ErasureRequest } from '../privacy/erasure/erasure.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { Hold, HoldRequest } from '../privacy/hold/hold.ts'
import type { Grant, KeyRate, KeyRecord } from '../keys/key.ts'
import type { Tenant } from '../tenants/tenant.ts'
import type { LeavingRequest } from '../tenants/leaving/leaving.ts'
import type { Maintenance } from '../maintenance/maintenance.ts'
import type { MoveState } from '../events/feed.ts'
import type { Restriction, RestrictionRequest } from '../privacy/restriction/restriction.ts'
import type { RetentionRule } from '../privacy/retention/retention.ts'
import type { WholeRecord } from '../store/store-records.ts'

type Changes = readonly AuditChange[]

export function tenantCreated({ tenantId, suspended }: Tenant): Changes {
  return [{ action: 'tenant.created', tenant: tenantId, target: tenantId, detail: { suspended } }]
}

function suspensionSet(tenantId: string, suspended: boolean): Changes {
  const action = suspended ? 'tenant.suspended' : 'tenant.resumed'
  return [{ action, tenant: tenantId, target: tenantId, detail: {} }]
}

export function tenantChanged(before: Tenant, after: Tenant): Changes {
  const { tenantId } = after
  const row = { tenant: tenantId, target: tenantId, detail: {} }
  return [
    ...(before.name === after.name ? [] : [{ action: 'tenant.renamed', ...row } as const]),
    ...(before.reference === after.reference ? [] : [{ action: 'tenant.referenced', ...row } as const]),
    ...(before.suspended === after.suspended ? [] : suspensionSet(tenantId, after.suspended)),
    ...(before.withoutDuties === after.withoutDuties
      ? []
      : [
          { ...row, action: 'tenant.duties_set', detail: { advised: after.withoutDuties !== true } } as const,
        ]),
  ]
}

export function leavingBegun({ tenantId, readingEndsMs }: LeavingRequest): Changes {
  return [{ action: 'tenant.leaving', tenant: tenantId, target: tenantId, detail: { readingEndsMs } }]
}

export function leavingEnded(tenantId: string): Changes {
  return [{ action: 'tenant.stays', tenant: tenantId, target: tenantId, detail: {} }]
}

export function tenantUnpublished(tenantId: string): Changes {
  return [{ action: 'tenant.unpublished', tenant: tenantId, target: tenantId, detail: {} }]
}

export function tenantMoved(tenantId: string, from: MoveState, to: MoveState): Changes {
  const detail = { from: stageOf(from), to: stageOf(to) }
  return [{ action: 'tenant.moved', tenant: tenantId, target: tenantId, detail }]
}

export function deletionBegun({ tenantId, deletionId, export: by }: DeletionRequest): Changes {
  return [{ action: 'tenant.deletion_begun', tenant: tenantId, target: deletionId, detail: { export: by } }]
}

/** Rows for removed keys, each with whether the key stays. */
export function keysRemoved(tenantId: string, keys: ReadonlyMap<string, boolean>): Changes {
  return [...keys].map(([keyId, stays]) => {
    return { action: 'key.removed', tenant: tenantId, target: keyId, detail: { stays } }
  })
}

export function tenantDeleted({ tenantId, deletionId, counts: { events, keys } }: Deletion): Changes {
  return [{ action: 'tenant.deleted', tenant: tenantId, target: deletionId, detail: { events, keys } }]
}

export function erasureBegun({ erasureId, key, target, reason }: ErasureRequest): Changes {
  const detail = { feed: key.feed, of: target.kind, reason }
  return [{ action: 'erasure.begun', tenant: key.tenantId, target: erasureId, detail }]
}

export function holdAdded({ holdId, key, ground, untilMs }: HoldRequest): Changes {
  const detail = { feed: key.feed, ground, untilMs }
  return [{ action: 'hold.added', tenant: key.tenantId, target: holdId, detail }]
}

export function holdEnded({ holdId, key }: Hold): Changes {
  return [{ action: 'hold.ended', tenant: key.tenantId, target: holdId, detail: {} }]
}

export function holdsExpired(holds: readonly Hold[]): Changes {
  return holds.map(({ holdId, key }) => {
    return { action: 'hold.expired', tenant: key.tenantId, target: holdId, detail: {} }
  })
}

export function restrictionBegun({ restrictionId, key, reason }: RestrictionRequest): Changes {
  return [{ action: 'restriction.begun', tenant: key.tenantId, target: restrictionId, detail: { reason } }]
}

export function restrictionLifted({ restrictionId, key }: Restriction): Changes {
  return [{ action: 'restriction.lifted', tenant: key.tenantId, target: restrictionId, detail: {} }]
}

export function retentionSet(tenantId: string, rule: RetentionRule, days: number | undefined): Changes {
  const detail = { rule, days: days ?? null }
  return [{ action: 'retention.set', tenant: tenantId, target: tenantId, detail }]
}

export function contactKept(tenantId: string, contactRef: string): Changes {
  return [{ action: 'contact.kept', tenant: tenantId, target: contactRef, detail: {} }]
}

function stageOf(state: MoveState): AuditedMove {
  if (state === 'open' || state === 'leaving' || state === 'left' || state === 'abandoned') return state
  return 'arriving'
}

/** One row for each tenant, so that what one tenant sees reveals nothing about another. */
export function keyCreated(record: KeyRecord): Changes {
  const { keyId, operator, grants, expiresMs, revokedMs, rate, adminScopes = [], networks, reading } = record
  const readingDetail = reading && { reading: { ...reading, eventTypes: reading.eventTypes ?? null } }
  const common = {
    operator,
    expiresMs: expiresMs ?? null,
    revoked: revokedMs !== undefined,
    ...readingDetail,
  }
  const created = overTenants(grants, (grant) => {
    const detail = {
      ...common,
      scopes: grant?.scopes ?? adminScopes,
      ...contactLimitsOf(grant),
      ...branchesOf(grant),
    }
    return { action: 'key.created', tenant: grant?.tenantId ?? null, target: keyId, detail }
  })
  const tenantIds = grants.map(({ tenantId }) => tenantId)
  return [
    ...created,
    ...(rate === undefined ? [] : ofKey(keyId, tenantIds, rateSet(rate))),
    ...(networks === undefined ? [] : ofKey(keyId, tenantIds, networksSet(networks))),
  ]
}

function contactLimitsOf(grant: Grant | undefined): Pick<Grant, 'contact'> {
  return grant?.contact === undefined ? {} : { contact: grant.contact }
}

/** For one commit: `before` is the key as found under its lock. */
export function keyChanged(before: KeyRecord, after: KeyRecord): Changes {
  const { keyId, label, expiresMs, rate, networks } = after
  const tenantIds = after.grants.map(({ tenantId }) => tenantId)
  const isSameRate = before.rate?.perSecond === rate?.perSecond && before.rate?.burst === rate?.burst
  const isSameFrom = String(before.networks ?? []) === String(networks ?? [])
  const changes: readonly KeyChange[] = [
    ...(before.label === label ? [] : [{ action: 'key.labelled', detail: {} } as const]),
    ...(before.expiresMs === expiresMs
      ? []
      : [{ action: 'key.expiry_set', detail: { expiresMs: expiresMs ?? null } } as const]),
    ...(isSameRate ? [] : [rateSet(rate)]),
    ...(isSameFrom ? [] : [networksSet(networks ?? [])]),
  ]
  return changes.flatMap((change) => ofKey(keyId, tenantIds, change))
}

function rateSet(rate: KeyRate | undefined): KeyChange {
  return { action: 'key.rate_set', detail: { rate: rate ?? null } }
}

function networksSet(networks: readonly string[]): KeyChange {
  return { action: 'key.networks_set', detail: { networks } }
}

/** The key that ends, and the key that replaces it. */
export function keyRotated(old: KeyRecord, fresh: KeyRecord): Changes {
  const tenantIds = old.grants.map(({ tenantId }) => tenantId)
  const detail = { by: fresh.keyId, endsMs: old.expiresMs ?? 0 }
  return [...ofKey(old.keyId, tenantIds, { action: 'key.rotated', detail }), ...keyCreated(fresh)]
}

export function keyGranted(keyId: string, grant: Grant): Changes {
  const { tenantId, scopes } = grant
  const detail = { scopes, ...contactLimitsOf(grant), ...branchesOf(grant) }
  return [{ action: 'key.granted', tenant: tenantId, target: keyId, detail }]
}

function branchesOf(grant: Grant | undefined): { readonly branches?: number } {
  return grant?.branches === undefined ? {} : { branches: grant.branches.length }
}

export function keyRevoked(keyId: string, tenantIds: readonly string[]): Changes {
  return ofKey(keyId, tenantIds, { action: 'key.revoked', detail: {} })
}

export function keyRehashed(keyId: string, tenantIds: readonly string[], pepperId: string): Changes {
  return ofKey(keyId, tenantIds, { action: 'key.rehashed', detail: { pepperId } })
}

export function pepperFinished(pepperId: string): Changes {
  return [{ action: 'pepper.finished', tenant: null, target: pepperId, detail: {} }]
}

export function epochStarted(continueAfter: number, feeds: readonly FeedKey[] | undefined): Changes {
  if (feeds === undefined) {
    const detail = { continueAfter, feed: null }
    return [{ action: 'epoch.started', tenant: null, target: null, detail }]
  }
  return feeds.map(({ tenantId, feed }) => {
    const detail = { continueAfter, feed }
    return { action: 'epoch.started', tenant: tenantId, target: tenantId, detail }
  })
}

export function historyAccepted(): Changes {
  return [{ action: 'history.accepted', tenant: null, target: null, detail: {} }]
}

/** Also when maintenance is begun again with another time to wait. */
export function maintenanceSet(maintenance: Maintenance | undefined): Changes {
  const common = { tenant: null, target: null }
  if (maintenance === undefined) return [{ action: 'maintenance.ended', ...common, detail: {} }]
  const { retryAfterSeconds } = maintenance
  return [{ action: 'maintenance.began', ...common, detail: { retryAfterSeconds } }]
}

export function storeCompacted(storeId: string, erasures: number): Changes {
  return [{ action: 'store.compacted', tenant: null, target: storeId, detail: { erasures } }]
}

export function storeFilled({ firstOffset, needsEpoch }: WholeRecord): Changes {
  return [{ action: 'store.filled', tenant: null, target: null, detail: { firstOffset, needsEpoch } }]
}

export function actorNamed(actor: string): Changes {
  return [{ action: 'actor.named', tenant: null, target: actor, detail: {} }]
}

export function nameErased(actor: string): Changes {
  return [{ action: 'actor.name_erased', tenant: null, target: actor, detail: {} }]
}

/** For a key of several tenants, one row for each, so that each sees it in its own audit. */
export function sessionBegun(
  keyId: string,
  tenantIds: readonly string[],
  by: 'pasted_key' | 'link',
): Changes {
  return ofKey(keyId, tenantIds, { action: 'session.begun', detail: { by } })
}

export function auditPruned(beforeMs: number, rows: number): Changes {
  return [{ action: 'audit.pruned', tenant: null, target: null, detail: { beforeMs, rows } }]
}

/** The rows of the changes of one commit, in their order. */
export function auditRows(changes: Changes, actor: Actor, nowMs: number): readonly AuditRow[] {
  return changes.map((change) => ({ id: uuidV7(nowMs), atMs: nowMs, actor, ...change }))
}

/** What all rows of one change of a key have. */
type KeyChange = Without<AuditChange, 'tenant' | 'target'>

/** Of each member of a union. */
type Without<Union, Name extends string> = Union extends unknown ? Omit<Union, Name> : never

function ofKey(keyId: string, tenantIds: readonly string[], change: KeyChange): Changes {
  return overTenants(tenantIds, (tenant) => ({ ...change, tenant: tenant ?? null, target: keyId }))
}

/** One row for a change that belongs to no tenant. */
function overTenants<T>(
  tenants: readonly T[],
  changeOf: (tenant: T | undefined) => AuditChange,
): readonly AuditChange[] {
  return tenants.length === 0 ? [changeOf(undefined)] : tenants.map((tenant) => changeOf(tenant))
}
