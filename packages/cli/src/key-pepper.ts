/** The pepper beside the keys of a store: a key that was made with another one than the service has is refused there. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { loadPeppers, pepperFileName } from '@property-events/server'
import type { KeyRecord, Pepper, Peppers } from '@property-events/server'
import type { OpenedStore } from './open-store.ts'
import { Refusal } from './refusal.ts'

/** Which of the keys that were made with the peppers of these ids work with what was loaded. Without keys: all. */
export function pepperFit(peppers: Peppers, pepperIds: readonly string[]): 'all' | 'some' | 'none' {
  const known = new Set(peppers.map(({ pepperId }) => pepperId))
  const fitting = pepperIds.filter((pepperId) => known.has(pepperId)).length
  if (fitting === pepperIds.length) return 'all'
  return fitting === 0 ? 'none' : 'some'
}

/** The peppers of keys that are not revoked: once all are, a lost pepper is no loss. */
export function pepperIdsInUse(keys: readonly KeyRecord[]): readonly string[] {
  return keys.filter(({ revokedMs }) => revokedMs === undefined).map(({ pepperId }) => pepperId)
}

/**
 * What a new key is to be made with. A new pepper is made only beside a store in a file that has no keys in use: there the
 * service will find it. Throws a `Refusal`, and makes nothing, where the service has another one.
 */
export async function pepperForNewKey(
  { storage, folder, database }: OpenedStore,
  given: string | undefined,
): Promise<Pepper> {
  const pepperIds = pepperIdsInUse(await storage.keys.keys())
  const isMissing = given === undefined && !existsSync(join(folder, pepperFileName))
  if (isMissing && database !== undefined) {
    throw new Refusal(
      `${folder} holds no pepper, and no node would know a key made with a new one. Name the data folder of a node with --data, or set PROPERTY_EVENTS_KEY_PEPPER as for the nodes.`,
    )
  }
  if (isMissing && pepperIds.length > 0) {
    throw new Refusal(
      `${folder} holds no pepper, and no key of this store would work with a new one. Put the file ${pepperFileName} back from where it was kept, or set PROPERTY_EVENTS_KEY_PEPPER to its text. ${ifLost}`,
    )
  }
  const peppers = loadPeppers({ folder, given })
  if (pepperFit(peppers, pepperIds) === 'none') {
    throw new Refusal(
      `No key of this store was made with this pepper, so a service that knows the others would not know a new one. Put the right one back, or name it with --data or PROPERTY_EVENTS_KEY_PEPPER. ${ifLost}`,
    )
  }
  return peppers[0]
}

const ifLost = 'If it is lost for good, revoke every key there is, then make new ones.'
