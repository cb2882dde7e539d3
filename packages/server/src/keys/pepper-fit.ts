/** Compares a node's peppers with those that the keys of its store were made with (D11). */
import type { KeyStore } from './key.ts'
import type { NodeStore } from '../nodes/node.ts'
import type { Pepper } from './pepper.ts'

interface PepperUse {
  /** The pepper of new keys, if `pepper finish` has recorded one. */
  readonly pepperId: string | undefined
  /** The peppers of keys that are not revoked. A lost pepper does not matter once all of its keys are revoked. */
  readonly inUse: readonly string[]
}

interface PepperSource {
  readonly keys: Pick<KeyStore, 'pepperIdsInUse'>
  readonly nodes: Pick<NodeStore, 'pepperId'>
}

export async function readPepperUse({ keys, nodes }: PepperSource): Promise<PepperUse> {
  const [inUse, pepperId] = await Promise.all([keys.pepperIdsInUse(), nodes.pepperId()])
  return { inUse, pepperId }
}

/** Which of the store's keys work with these peppers. The result is `none` also when keys made from now on would not work. */
export function pepperFit(
  peppers: readonly Pick<Pepper, 'pepperId'>[],
  { pepperId, inUse }: PepperUse,
): 'all' | 'some' | 'none' {
  const known = new Set(peppers.map((pepper) => pepper.pepperId))
  if (pepperId !== undefined && inUse.length > 0 && !known.has(pepperId)) return 'none'
  const fitting = inUse.filter((id) => known.has(id)).length
  if (fitting === inUse.length) return 'all'
  return fitting === 0 ? 'none' : 'some'
}

/**
 * The pepper for a new key. This is the one that `pepper finish` has recorded. Before that, while an old pepper is being replaced, it is
 * the old one, which every node knows. `undefined`: this node does not have that pepper.
 */
export function pepperForNew(peppers: readonly Pepper[], { pepperId, inUse }: PepperUse): Pepper | undefined {
  if (pepperId !== undefined && (inUse.length > 0 || peppers.some((one) => one.pepperId === pepperId))) {
    return peppers.find((one) => one.pepperId === pepperId)
  }
  return peppers.find((one) => one.isOld && inUse.includes(one.pepperId)) ?? peppers[0]
}
