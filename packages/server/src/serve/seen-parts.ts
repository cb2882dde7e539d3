import { listConsumers } from '../consumers/list-consumers.ts'
import { createReadCounts } from '../consumers/read-counts.ts'
import { whoHasSeen } from '../consumers/who-has-seen.ts'
import type { StorageEngine } from '../store/storage.ts'
import type { HttpContext } from '../http/context.ts'
import type { ServiceLimits } from '../http/limits.ts'

interface SeenSource {
  readonly storage: StorageEngine
  /** Milliseconds since 1970. */
  readonly clock?: (() => number) | undefined
}

/** Answers who has seen what. This node's notes are added first, so that they are in the answer. */
export function seenParts(
  { storage, clock }: SeenSource,
  { sentDays }: Pick<ServiceLimits, 'sentDays'>,
): Pick<HttpContext, 'readCounts' | 'whoHasSeen' | 'listConsumers' | 'hasSubject'> {
  const readCounts = createReadCounts(storage.consumers, { clock, sentDays })
  const afterAdding = async <T>(ask: () => Promise<T>): Promise<T> => {
    // If that fails, the answer has what was stored before.
    await readCounts.flush(() => Promise.resolve()).catch(() => undefined)
    return ask()
  }
  return {
    readCounts,
    whoHasSeen: (query) => afterAdding(() => whoHasSeen(storage, query)),
    listConsumers: (query) => afterAdding(() => listConsumers(storage, query)),
    // With a limit to some branches, a property of another branch does not exist.
    hasSubject: async (key, subjectId, branches) =>
      branches === undefined
        ? (await storage.events.subjectPositions({ key, subjectId, after: 0, limit: 1 })).length > 0
        : (await storage.events.readLatest(key, subjectId, branches)) !== undefined,
  }
}
