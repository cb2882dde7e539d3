import { feedNames } from '@property-events/protocol'
import { feedName } from '../storage.ts'
import type { FoundKey, KeyRecord, KeyStore, NewTenantOptions, NewTenantOutcome, Tenant } from '../storage.ts'
import { newFeed, openState } from './state.ts'
import type { MemoryState, MemoryStore } from './state.ts'

export function memoryKeys(store: MemoryStore): KeyStore {
  return {
    createTenant: async (tenant, options) => createTenant(openState(store), tenant, options),
    async tenants() {
      return [...openState(store).tenants.values()]
    },
    async setTenantSuspended(tenantId, suspended) {
      const { tenants } = openState(store)
      const tenant = tenants.get(tenantId)
      if (tenant === undefined) return 'unknownTenant'
      tenants.set(tenantId, { ...tenant, suspended })
      return 'done'
    },
    async insertKey(record) {
      const { keys, tenants } = openState(store)
      if (keys.has(record.keyId)) return 'exists'
      if (record.grants.some((grant) => !tenants.has(grant.tenantId))) return 'unknownTenant'
      keys.set(record.keyId, structuredClone(record))
      return 'created'
    },
    async grant(keyId, { tenantId, scopes }) {
      const { keys, tenants } = openState(store)
      if (keys.has(keyId) && !tenants.has(tenantId)) return 'unknownTenant'
      const others = (keys.get(keyId)?.grants ?? []).filter((grant) => grant.tenantId !== tenantId)
      return change(openState(store), keyId, (record) => ({
        ...record,
        grants: [...others, { tenantId, scopes }],
      }))
    },
    findKey: async (keyId) => findKey(openState(store), keyId),
    async keys() {
      return [...openState(store).keys.values()]
    },
    async revokeKey(keyId, revokedMs) {
      return change(openState(store), keyId, (record) => ({
        ...record,
        revokedMs: record.revokedMs ?? revokedMs,
      }))
    },
    async setKeyExpiry(keyId, expiresMs) {
      return change(openState(store), keyId, (record) => ({ ...record, expiresMs }))
    },
    async keyIds() {
      return [...openState(store).keys.keys()]
    },
    async pepperIdsInUse() {
      const used = [...openState(store).keys.values()].filter(({ revokedMs }) => revokedMs === undefined)
      return [...new Set(used.map(({ pepperId }) => pepperId))]
    },
    async rehashKey(keyId, fromPepperId, { secretHash, pepperId }) {
      if (openState(store).keys.get(keyId)?.pepperId !== fromPepperId) return 'unchanged'
      change(openState(store), keyId, (record) => ({
        ...record,
        secretHash: Uint8Array.from(secretHash),
        pepperId,
      }))
      return 'done'
    },
    async recordKeyUses(uses) {
      for (const { keyId, usedMs } of uses) {
        change(openState(store), keyId, (record) => ({
          ...record,
          lastUsedMs: Math.max(usedMs, record.lastUsedMs ?? usedMs),
        }))
      }
    },
  }
}

function createTenant(
  { tenants, feeds, firstOffset }: MemoryState,
  tenant: Tenant,
  options: NewTenantOptions | undefined,
): NewTenantOutcome {
  if (tenants.has(tenant.tenantId)) return 'exists'
  const names = new Set([...tenants.values()].map(({ name }) => name))
  if (options?.sameName !== 'allowed' && names.has(tenant.name)) return 'nameTaken'
  const { tenantId } = tenant
  tenants.set(tenantId, { ...tenant })
  for (const feed of feedNames) feeds.set(feedName({ tenantId, feed }), newFeed(feed, firstOffset))
  return 'created'
}

function findKey({ keys, tenants, pepperId }: MemoryState, keyId: string): FoundKey | undefined {
  const record = keys.get(keyId)
  if (record === undefined) return undefined
  const ids = record.grants.map((grant) => grant.tenantId)
  const suspendedTenantIds = ids.filter((id) => tenants.get(id)?.suspended === true)
  return { record, suspendedTenantIds, currentPepperId: pepperId }
}

function change(
  { keys }: MemoryState,
  keyId: string,
  changed: (record: KeyRecord) => KeyRecord,
): 'done' | 'unknownKey' {
  const record = keys.get(keyId)
  if (record === undefined) return 'unknownKey'
  keys.set(keyId, changed(record))
  return 'done'
}
