import { listConsumers } from '../feed/list-consumers.ts'
import { createReadings } from '../feed/readings.ts'
import { whoHasSeen } from '../feed/who-has-seen.ts'
import type { StorageEngine } from '../storage/storage.ts'
import type { HttpContext } from './context.ts'
import type { ServiceLimits } from './limits.ts'

/** Questions about who has seen what. What this thread has noted is added first: it is then in the answer. */
export function seenParts(
  storage: StorageEngine,
  clock: (() => number) | undefined,
  { sentDays }: Pick<ServiceLimits, 'sentDays'>,
): Pick<HttpContext, 'readings' | 'whoHasSeen' | 'listConsumers' | 'hasSubject'> {
  const readings = createReadings(storage.consumers, { clock, sentDays })
  const afterAdding = async <T>(ask: () => Promise<T>): Promise<T> => {
    // Where that fails, what is kept is shown without it.
    await readings.flush(() => Promise.resolve()).catch(() => undefined)
    return ask()
  }
  return {
    readings,
    whoHasSeen: (query) => afterAdding(() => whoHasSeen(storage, query)),
    listConsumers: (query) => afterAdding(() => listConsumers(storage, query)),
    // Where only some branches may be read, a property of another one is not there.
    hasSubject: async (key, subjectId, branches) =>
      branches === undefined
        ? (await storage.ledger.placesOf({ key, subjectId, after: 0, limit: 1 })).length > 0
        : (await storage.events.readLatest(key, subjectId, branches)) !== undefined,
  }
}
