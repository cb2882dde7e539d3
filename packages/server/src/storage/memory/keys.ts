import { feedNames } from '@property-events/protocol'
import { isDeepStrictEqual } from 'node:util'
import {
  expirySet,
  keyCreated,
  keyGranted,
  keyRehashed,
  keyRevoked,
  rateSet,
  suspensionSet,
  tenantCreated,
} from '../audit-changes.ts'
import { setsOfGrants, viewsBeingMade } from '../branch-view-store.ts'
import { feedName } from '../storage.ts'
import type {
  Actor,
  FoundKey,
  KeyRecord,
  KeyStore,
  NewTenantOptions,
  NewTenantOutcome,
  Tenant,
} from '../storage.ts'
import { noteChanges } from './audit.ts'
import { newFeed, openState } from './state.ts'
import type { MemoryState, MemoryStore } from './state.ts'

export function memoryKeys(store: MemoryStore): KeyStore {
  return {
    ...keyWrites(store),
    async tenants() {
      return [...openState(store).tenants.values()]
    },
    findKey: async (keyId) => findKey(openState(store), keyId),
    // Each of these changes is in the audit, and so are others.
    async keysVersion() {
      const { audit, branchViewChanges } = openState(store)
      return `${audit.at(-1)?.id ?? ''} ${branchViewChanges}`
    },
    async keys() {
      return [...openState(store).keys.values()]
    },
    async keyIds() {
      return [...openState(store).keys.keys()]
    },
    async pepperIdsInUse() {
      const used = [...openState(store).keys.values()].filter(({ revokedMs }) => revokedMs === undefined)
      return [...new Set(used.map(({ pepperId }) => pepperId))]
    },
  }
}

/** How long a key is valid, and its rate. */
function keyTerms(store: MemoryStore): Pick<KeyStore, 'setKeyExpiry' | 'setKeyRate'> {
  return {
    async setKeyExpiry(keyId, expiresMs, actor) {
      const { keys } = openState(store)
      const record = keys.get(keyId)
      if (record === undefined) return 'unknownKey'
      if (record.expiresMs === expiresMs) return 'done'
      keys.set(keyId, { ...record, expiresMs })
      noteChanges(store, expirySet(keyId, tenantIdsOf(record), expiresMs), actor)
      return 'done'
    },
    async setKeyRate(keyId, rate, actor) {
      const { keys } = openState(store)
      const record = keys.get(keyId)
      if (record === undefined) return 'unknownKey'
      if (isDeepStrictEqual(record.rate, rate)) return 'done'
      keys.set(keyId, { ...record, rate })
      noteChanges(store, rateSet(keyId, tenantIdsOf(record), rate), actor)
      return 'done'
    },
  }
}

function keyWrites(
  store: MemoryStore,
): Omit<KeyStore, 'tenants' | 'findKey' | 'keysVersion' | 'keys' | 'keyIds' | 'pepperIdsInUse'> {
  return {
    createTenant: async (tenant, actor, options) => createTenant(store, tenant, actor, options),
    async setTenantSuspended(tenantId, suspended, actor) {
      const { tenants } = openState(store)
      const tenant = tenants.get(tenantId)
      if (tenant === undefined) return 'unknownTenant'
      if (tenant.suspended === suspended) return 'done'
      tenants.set(tenantId, { ...tenant, suspended })
      noteChanges(store, suspensionSet(tenantId, suspended), actor)
      return 'done'
    },
    async insertKey(record, actor) {
      const { keys, tenants } = openState(store)
      if (keys.has(record.keyId)) return 'exists'
      if (record.grants.some((grant) => !tenants.has(grant.tenantId))) return 'unknownTenant'
      keys.set(record.keyId, structuredClone(record))
      noteChanges(store, keyCreated(record), actor)
      return 'created'
    },
    async grant(keyId, grant, actor) {
      const { keys, tenants } = openState(store)
      const record = keys.get(keyId)
      if (record === undefined) return 'unknownKey'
      if (!tenants.has(grant.tenantId)) return 'unknownTenant'
      const before = record.grants.find(({ tenantId }) => tenantId === grant.tenantId)
      if (isDeepStrictEqual(before, grant)) return 'done'
      const others = record.grants.filter((one) => one !== before)
      keys.set(keyId, { ...record, grants: [...others, structuredClone(grant)] })
      noteChanges(store, keyGranted(keyId, grant), actor)
      return 'done'
    },
    async revokeKey(keyId, revokedMs, actor) {
      const { keys } = openState(store)
      const record = keys.get(keyId)
      if (record === undefined) return 'unknownKey'
      if (record.revokedMs !== undefined) return 'done'
      keys.set(keyId, { ...record, revokedMs })
      noteChanges(store, keyRevoked(keyId, tenantIdsOf(record)), actor)
      return 'done'
    },
    ...keyTerms(store),
    async rehashKey(keyId, fromPepperId, { secretHash, pepperId }, actor) {
      const { keys } = openState(store)
      const record = keys.get(keyId)
      if (record?.pepperId !== fromPepperId) return 'unchanged'
      keys.set(keyId, { ...record, secretHash: Uint8Array.from(secretHash), pepperId })
      noteChanges(store, keyRehashed(keyId, tenantIdsOf(record), pepperId), actor)
      return 'done'
    },
    async recordKeyUses(uses) {
      const { keys } = openState(store)
      for (const { keyId, usedMs } of uses) {
        const record = keys.get(keyId)
        if (record === undefined) continue
        keys.set(keyId, { ...record, lastUsedMs: Math.max(usedMs, record.lastUsedMs ?? usedMs) })
      }
    },
  }
}

function createTenant(
  store: MemoryStore,
  tenant: Tenant,
  actor: Actor,
  options: NewTenantOptions | undefined,
): NewTenantOutcome {
  const { tenants } = openState(store)
  if (tenants.has(tenant.tenantId)) return 'exists'
  const others = [...tenants.values()]
  if (options?.sameName !== 'allowed' && others.some(({ name }) => name === tenant.name)) return 'nameTaken'
  const { reference } = tenant
  if (reference !== undefined && others.some((one) => one.reference === reference)) return 'referenceTaken'
  addTenant(store, tenant)
  noteChanges(store, tenantCreated(tenant), actor)
  return 'created'
}

/** With its empty feeds. */
export function addTenant(store: MemoryStore, tenant: Tenant): void {
  const { tenants, feeds, firstOffset } = openState(store)
  const { tenantId } = tenant
  tenants.set(tenantId, { ...tenant })
  for (const feed of feedNames) feeds.set(feedName({ tenantId, feed }), newFeed(feed, firstOffset))
}

function findKey(state: MemoryState, keyId: string): FoundKey | undefined {
  const { keys, leaving, tenants, pepperId } = state
  const record = keys.get(keyId)
  if (record === undefined) return undefined
  const wanted = setsOfGrants(record.grants)
  const ready = wanted.filter(
    ({ tenantId, set }) =>
      state.feeds.get(feedName({ tenantId, feed: 'property' }))?.branchSets.get(set)?.state === 'ready',
  )
  const isDeleted = (tenantId: string): boolean =>
    state.feeds.get(feedName({ tenantId, feed: 'property' }))?.move === 'deleting'
  const suspendedTenantIds = tenantIdsOf(record).filter(
    (id) => tenants.get(id)?.suspended === true || isDeleted(id),
  )
  const ofTenants = tenantIdsOf(record).flatMap((id) => leaving.get(id) ?? [])
  return {
    record,
    suspendedTenantIds,
    leaving: ofTenants.map(({ tenantId, readingEndsMs }) => ({ tenantId, readingEndsMs })),
    ...viewsBeingMade(wanted, ready),
    currentPepperId: pepperId,
  }
}

function tenantIdsOf({ grants }: KeyRecord): readonly string[] {
  return grants.map(({ tenantId }) => tenantId)
}
