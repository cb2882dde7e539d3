/** The answer of `/readyz`: whether this node should receive traffic, in a few words for people. */
import { pepperFit, readPepperUse } from '../keys/pepper-fit.ts'
import type { Pepper } from '../keys/pepper.ts'
import type { StorageEngine } from '../store/storage.ts'
import type { EpochNeed } from '../events/epochs.ts'

export interface Readiness {
  readonly ready: boolean
  /** The body of the answer, without a line feed. */
  readonly words: string
}

export const stoppingReadiness: Readiness = { ready: false, words: 'stopping' }
export const unansweredReadiness: Readiness = { ready: false, words: 'not ready' }

/** No key works here, so every request would be refused as if its key were wrong (D11). */
const unfitReadiness: Readiness = { ready: false, words: 'wrong pepper' }

/** Reading continues, and every other node refuses publications as well. */
const maintenanceReadiness: Readiness = { ready: true, words: 'maintenance' }

/** A node that can be read but not published to is ready: reading continues, and no other node could accept publications either (D13). */
const wordsByNeed: Readonly<Record<EpochNeed, string>> = {
  none: 'ok',
  some: 'partly read only',
  all: 'read only',
}

/** Never rejects. */
export async function storeReadiness(
  storage: Pick<StorageEngine, 'ping' | 'epochNeed' | 'maintenance' | 'keys' | 'nodes'>,
  peppers: readonly Pepper[],
): Promise<Readiness> {
  try {
    await storage.ping()
    if (pepperFit(peppers, await readPepperUse(storage)) === 'none') return unfitReadiness
    if ((await storage.maintenance()) !== undefined) return maintenanceReadiness
    return { ready: true, words: wordsByNeed[await storage.epochNeed()] }
  } catch {
    return unansweredReadiness
  }
}
