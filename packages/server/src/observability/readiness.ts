/** What `/readyz` says: whether traffic should be sent to this node, in a few words that a person understands. */
import type { EpochNeed, StorageEngine } from '../storage/storage.ts'

export interface Readiness {
  readonly ready: boolean
  /** The body of the answer, without a line's end. */
  readonly words: string
}

export const stoppingReadiness: Readiness = { ready: false, words: 'stopping' }
export const unansweredReadiness: Readiness = { ready: false, words: 'not ready' }

/** A node that can be read and not published to is ready: reading goes on, and no other node could publish either (D13). */
const wordsByNeed: Readonly<Record<EpochNeed, string>> = {
  none: 'ok',
  some: 'partly read only',
  all: 'read only',
}

/** Never rejects. */
export async function storeReadiness(storage: Pick<StorageEngine, 'ping' | 'epochNeed'>): Promise<Readiness> {
  try {
    await storage.ping()
    return { ready: true, words: wordsByNeed[await storage.epochNeed()] }
  } catch {
    return unansweredReadiness
  }
}
