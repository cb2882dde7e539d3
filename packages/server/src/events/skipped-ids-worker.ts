/** Removes ids that were kept long enough, in the background (PROTOCOL §4.6, decision 0003). */
import { unreported } from '../runtime/background-task.ts'
import type { TaskReport } from '../runtime/background-task.ts'
import { removalWaitMs, startWorker } from '../runtime/worker-loop.ts'
import type { Worker } from '../runtime/worker-loop.ts'
import type { StorageEngine } from '../store/storage.ts'

/** Ids are kept for 30 days, so ten minutes more or less do not matter. */
const lookEveryMs = 600_000

/**
 * Looks at once and then every ten minutes, and continues step by step while there are ids to remove. A store that
 * fails is asked again the next time; its publishers are told of the failure.
 */
export function forgetSkippedIds(
  storage: Pick<StorageEngine, 'forgetSkippedIds'>,
  everyMs: number = lookEveryMs,
  report: TaskReport = unreported,
): Worker {
  return startWorker({ task: 'forget_ids', report, retryMs: everyMs }, async () => {
    const startedMs = performance.now()
    const removed = await storage.forgetSkippedIds()
    return { waitMs: removed === 0 ? everyMs : removalWaitMs(startedMs) }
  })
}
