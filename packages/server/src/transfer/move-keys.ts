/** The keys that move with a tenant: the checks before anything is changed, and how they get into the target. */
import type { Peppers } from '../keys/index.ts'
import type { Actor } from '../audit/actor.ts'
import type { KeyRecord } from '../keys/key.ts'
import type { StorageEngine } from '../store/storage.ts'
import type { Tenant } from '../tenants/tenant.ts'
import { CopyRefusal } from './compare.ts'

/** Keys with a grant for the tenant. Operator keys belong to none. */
export async function keysOfTenant(store: StorageEngine, tenantId: string): Promise<readonly KeyRecord[]> {
  return (await store.keys.keys()).filter(({ grants }) => grants.some((grant) => grant.tenantId === tenantId))
}

/**
 * Rejects with a `CopyRefusal` where the keys would not work at the target. Its nodes, its own keys, or the given pepper
 * show which pepper it uses; without any of these nothing can be known, and the keys are accepted.
 */
export async function refuseForeignKeys(
  from: StorageEngine,
  to: StorageEngine,
  { tenantId }: Tenant,
  given: Peppers | undefined,
): Promise<void> {
  const moving = await keysOfTenant(from, tenantId)
  const there = await to.keys.keys()
  const clash = moving.find((key) => {
    const other = there.find(({ keyId }) => keyId === key.keyId)
    return other !== undefined && !isSameKey(key, other)
  })
  if (clash !== undefined) {
    throw new CopyRefusal(
      `The target has another key with the id ${clash.keyId}. Nothing was changed. Revoke the key in the source and make a new one for its owner, or move the tenant with --without-keys.`,
    )
  }
  const knows = await pepperKnowledge(to, pepperIdsInUse(there), given)
  const lost = pepperIdsInUse(moving).filter((pepperId) => !knows(pepperId))
  if (lost.length === 0) return
  throw new CopyRefusal(
    `${lost.length} keys of this tenant were made with another pepper than the target's, and would be refused there. Nothing was changed. ` +
      'Serve the target with the pepper of the source; or use --without-keys, and make new keys in the target before its clients are sent there.',
  )
}

/** The peppers of keys that are not revoked. */
function pepperIdsInUse(keys: readonly KeyRecord[]): readonly string[] {
  return keys.filter(({ revokedMs }) => revokedMs === undefined).map(({ pepperId }) => pepperId)
}

/**
 * Whether the target knows a pepper: every live node of it does; or, without live nodes, its keys were made with it or
 * it was given, unless the given one fits none of the target's keys, and so may be another store's.
 */
async function pepperKnowledge(
  to: StorageEngine,
  there: readonly string[],
  given: Peppers | undefined,
): Promise<(pepperId: string) => boolean> {
  const nodes = await to.nodes.live()
  if (nodes.length > 0) return (pepperId) => nodes.every(({ pepperIds }) => pepperIds.includes(pepperId))
  const givenIds = given?.map(({ pepperId }) => pepperId) ?? []
  const fits = there.length === 0 || givenIds.some((pepperId) => there.includes(pepperId))
  const known = fits ? [...there, ...givenIds] : there
  return (pepperId) => known.length === 0 || known.includes(pepperId)
}

/** After a change of the pepper, the same key has another hash. */
function isSameKey(one: KeyRecord, other: KeyRecord): boolean {
  const isSameSecret = Buffer.from(one.secretHash).equals(other.secretHash)
  return one.createdMs === other.createdMs && (one.pepperId !== other.pepperId || isSameSecret)
}

/**
 * Puts the tenant's keys into the target, each with its grant for this tenant alone: a key that has others keeps them
 * where those tenants are. Changes of a key in either store count: a key revoked in one is revoked in both.
 */
export async function moveKeys(
  from: StorageEngine,
  to: StorageEngine,
  tenantId: string,
  actor: Actor,
): Promise<number> {
  const keys = await keysOfTenant(from, tenantId)
  for (const key of keys) {
    const grants = key.grants.filter((grant) => grant.tenantId === tenantId)
    const isNew = (await to.keys.insertKey({ ...key, grants }, actor)) !== 'exists'
    for (const grant of isNew ? [] : grants) await to.keys.grant(key.keyId, grant, actor)
    if (!isNew && grants.length === key.grants.length) {
      const { expiresMs = null, rate = null, networks = null } = key
      await to.keys.changeKey(key.keyId, { expiresMs, rate, networks }, actor)
    }
    if (key.revokedMs !== undefined) await to.keys.revokeKey(key.keyId, key.revokedMs, actor)
  }
  return keys.length
}
