import type { FoundKey, KeyRecord, KeyStore } from '../../src/keys/key.ts'
import { changedTenant } from '../../src/tenants/tenant.ts'
import type { Tenant, TenantStore } from '../../src/tenants/tenant.ts'

/** A key store for these tests: keeps records in a map and counts what it is asked. */
export interface CountingKeyStore extends KeyStore, Pick<TenantStore, 'createTenant' | 'changeTenant'> {
  /** Of keys, and of all ids. */
  reads: number
  versionReads: number
  readonly writes: { readonly keyId: string; readonly usedMs: number }[][]
  /** Awaited by every `findKey` before it looks. */
  gate: Promise<void>
  /** As `finishPepper` of a real one sets it. */
  currentPepperId: string | undefined
  /** Of any key. */
  leaving: FoundKey['leaving']
  /** Thrown by the next `findKey` or `recordKeyUses`. */
  failNext: Error | undefined
}

async function notAsked(): Promise<never> {
  throw new Error('nothing here asks this')
}

export function countingKeyStore(): CountingKeyStore {
  const tenants = new Map<string, Tenant>()
  const records = new Map<string, KeyRecord>()
  let version = 0

  function change(keyId: string, change: Partial<KeyRecord>): 'done' | 'unknownKey' {
    const record = records.get(keyId)
    if (record === undefined) return 'unknownKey'
    records.set(keyId, { ...record, ...change })
    version += 1
    return 'done'
  }

  function failOnce(): void {
    const error = store.failNext
    store.failNext = undefined
    if (error !== undefined) throw error
  }

  const store: CountingKeyStore = {
    reads: 0,
    versionReads: 0,
    writes: [],
    gate: Promise.resolve(),
    currentPepperId: undefined,
    leaving: [],
    failNext: undefined,
    async createTenant(tenant) {
      if (tenants.has(tenant.tenantId)) return 'exists'
      tenants.set(tenant.tenantId, tenant)
      return 'created'
    },
    async changeTenant(tenantId, change) {
      const before = tenants.get(tenantId)
      if (before === undefined) return { kind: 'unknownTenant' }
      const tenant = changedTenant(before, change)
      tenants.set(tenantId, tenant)
      version += 1
      return { kind: 'changed', tenant }
    },
    async insertKey(record) {
      if (records.has(record.keyId)) return 'exists'
      if (record.grants.some((grant) => !tenants.has(grant.tenantId))) return 'unknownTenant'
      records.set(record.keyId, record)
      version += 1
      return 'created'
    },
    async findKey(keyId): Promise<FoundKey | undefined> {
      store.reads += 1
      await store.gate
      failOnce()
      const record = records.get(keyId)
      if (record === undefined) return undefined
      const granted = record.grants.map((grant) => grant.tenantId)
      const suspendedTenantIds = granted.filter((id) => tenants.get(id)?.suspended === true)
      const leaving = store.leaving.filter(({ tenantId }) => granted.includes(tenantId))
      return { record, suspendedTenantIds, leaving, currentPepperId: store.currentPepperId }
    },
    async keysVersion() {
      store.versionReads += 1
      return `${version} ${store.currentPepperId}`
    },
    async keys() {
      return [...records.values()]
    },
    async grant(keyId, grant) {
      return change(keyId, { grants: [grant] })
    },
    async revokeKey(keyId, revokedMs) {
      return change(keyId, { revokedMs })
    },
    async keyIds() {
      failOnce()
      store.reads += 1
      return [...records.keys()]
    },
    async pepperIdsInUse() {
      return [...new Set([...records.values()].map(({ pepperId }) => pepperId))]
    },
    async rehashKey(keyId, fromPepperId, hashed) {
      if (records.get(keyId)?.pepperId !== fromPepperId) return 'unchanged'
      change(keyId, hashed)
      return 'done'
    },
    async recordKeyUses(uses) {
      failOnce()
      store.writes.push([...uses])
    },
    keysAfter: notAsked,
    changeKey: notAsked,
    rotateKey: notAsked,
  }
  return store
}
