import { listConsumers } from '../feed/list-consumers.ts'
import { createReadings } from '../feed/readings.ts'
import { whoHasSeen } from '../feed/who-has-seen.ts'
import type { StorageEngine } from '../storage/storage.ts'
import type { HttpContext } from './context.ts'
import type { ServiceLimits } from './limits.ts'

export interface SeenOptions {
  /**
   * Has the node's threads add their notes about consumers to the store. Resolves within 2 s, with or without all threads. Left out: no
   * other thread serves.
   */
  readonly addAllReadings?: () => Promise<void>
}

interface SeenSource extends SeenOptions {
  readonly storage: StorageEngine
  /** Milliseconds since 1970. */
  readonly clock?: (() => number) | undefined
}

/** Answers who has seen what. The notes of this node's threads are added first, so that they are in the answer. */
export function seenParts(
  { storage, clock, addAllReadings }: SeenSource,
  { sentDays }: Pick<ServiceLimits, 'sentDays'>,
): Pick<HttpContext, 'readings' | 'whoHasSeen' | 'listConsumers' | 'hasSubject'> {
  const readings = createReadings(storage.consumers, { clock, sentDays })
  const afterAdding = async <T>(ask: () => Promise<T>): Promise<T> => {
    // If that fails, the answer has what was stored before.
    await Promise.allSettled([readings.flush(() => Promise.resolve()), addAllReadings?.()])
    return ask()
  }
  return {
    readings,
    whoHasSeen: (query) => afterAdding(() => whoHasSeen(storage, query)),
    listConsumers: (query) => afterAdding(() => listConsumers(storage, query)),
    // With a limit to some branches, a property of another branch does not exist.
    hasSubject: async (key, subjectId, branches) =>
      branches === undefined
        ? (await storage.ledger.placesOf({ key, subjectId, after: 0, limit: 1 })).length > 0
        : (await storage.events.readLatest(key, subjectId, branches)) !== undefined,
  }
}
