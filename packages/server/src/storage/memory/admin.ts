import { keyChanged, keyCreated, keyRotated, tenantChanged, tenantCreated } from '../audit-changes.ts'
import type { AdminStore } from '../admin-store.ts'
import { changedKey, changedTenant, decideImport, rotatedKeys } from '../changed-records.ts'
import { feedName } from '../storage.ts'
import type { Tenant } from '../storage.ts'
import { noteChanges } from './audit.ts'
import { addTenant } from './keys.ts'
import { openState } from './state.ts'
import type { MemoryStore } from './state.ts'

export function memoryAdmin(store: MemoryStore): AdminStore {
  return { ...tenantAdmin(store), ...keyAdmin(store) }
}

function tenantAdmin(
  store: MemoryStore,
): Pick<AdminStore, 'findTenant' | 'tenantsAfter' | 'changeTenant' | 'importTenants'> {
  const tenants = (): readonly Tenant[] => [...openState(store).tenants.values()]
  return {
    async findTenant(tenantId) {
      const { feeds, tenants: all } = openState(store)
      const tenant = all.get(tenantId)
      const isDeleted = feeds.get(feedName({ tenantId, feed: 'property' }))?.move === 'deleting'
      return tenant && isDeleted ? { ...tenant, deleting: true } : tenant
    },
    tenantsAfter: async (place, limit) =>
      placed(store, tenants(), ({ tenantId }) => tenantId)
        .filter((one) => one.place > place)
        .slice(0, limit)
        .map(({ place: at, one: tenant }) => ({ place: at, tenant })),
    async changeTenant(tenantId, change, actor) {
      const before = openState(store).tenants.get(tenantId)
      if (before === undefined) return { kind: 'unknownTenant' }
      const tenant = changedTenant(before, change)
      const others = tenants().filter((one) => one !== before)
      const { name, reference } = tenant
      if (name !== before.name && others.some((one) => one.name === name)) return { kind: 'nameTaken' }
      if (reference !== undefined && others.some((one) => one.reference === reference)) {
        return { kind: 'referenceTaken' }
      }
      openState(store).tenants.set(tenantId, tenant)
      noteChanges(store, tenantChanged(before, tenant), actor)
      return { kind: 'changed', tenant }
    },
    async importTenants(items, actor) {
      const held = tenants()
      const { outcomes, made } = decideImport(items, {
        byReference: new Map(
          held.flatMap((one) => (one.reference === undefined ? [] : [[one.reference, one]])),
        ),
        names: new Set(held.map(({ name }) => name)),
      })
      for (const { tenant, keys } of made) {
        addTenant(store, tenant)
        noteChanges(store, tenantCreated(tenant), actor)
        for (const key of keys) {
          openState(store).keys.set(key.keyId, structuredClone(key))
          noteChanges(store, keyCreated(key), actor)
        }
      }
      return outcomes
    },
  }
}

function keyAdmin(store: MemoryStore): Pick<AdminStore, 'keysAfter' | 'changeKey' | 'rotateKey'> {
  return {
    keysAfter: async ({ after, limit, tenantId }) =>
      placed(store, [...openState(store).keys.values()], ({ keyId }) => keyId)
        .filter(
          ({ place, one: { grants } }) =>
            place > after && (tenantId === undefined || grants.some((grant) => grant.tenantId === tenantId)),
        )
        .slice(0, limit)
        .map(({ place, one: record }) => ({ place, record })),
    async changeKey(keyId, change, actor) {
      const { keys } = openState(store)
      const before = keys.get(keyId)
      if (before === undefined) return { kind: 'unknownKey' }
      if (before.revokedMs !== undefined) return { kind: 'ended' }
      const record = changedKey(before, change)
      keys.set(keyId, record)
      noteChanges(store, keyChanged(before, record), actor)
      return { kind: 'changed', record }
    },
    async rotateKey(keyId, fresh, actor) {
      const { keys } = openState(store)
      const before = keys.get(keyId)
      if (before === undefined) return { kind: 'unknownKey' }
      if (keys.has(fresh.keyId)) return { kind: 'exists' }
      const rotated = rotatedKeys(before, fresh)
      if (rotated === 'ended') return { kind: 'ended' }
      const { old, record } = rotated
      keys.set(keyId, old)
      keys.set(record.keyId, structuredClone(record))
      noteChanges(store, keyRotated(old, record), actor)
      return { kind: 'rotated', record, old }
    },
  }
}

/** Nothing is ever removed from these, so an index is a place. */
/** Each item with its place, in order of creation. Places are assigned on first use, and never twice. */
function placed<T>(
  store: MemoryStore,
  list: readonly T[],
  idOf: (one: T) => string,
): readonly { readonly place: number; readonly one: T }[] {
  const { places } = openState(store)
  return list.map((one) => {
    const place = places.get(idOf(one)) ?? places.size + 1
    places.set(idOf(one), place)
    return { place, one }
  })
}
