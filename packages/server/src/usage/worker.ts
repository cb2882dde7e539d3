/** Removes old notes of requests and publications, and sessions that are over, in the background (PROTOCOL §14, §15). */
import type { StorageEngine } from '../store/storage.ts'
import { unreported } from '../runtime/background-task.ts'
import type { TaskReport } from '../runtime/background-task.ts'
import { removalWaitMs, startWorker } from '../runtime/worker-loop.ts'
import type { Worker } from '../runtime/worker-loop.ts'
import { idleSessionMs } from '../console/session.ts'

type AgeingStores = Pick<StorageEngine, 'consoleSessions' | 'publications' | 'usage'>

/** Rows that are kept for days may stay for ten minutes more. */
const checkEveryMs = 600_000

interface AgeingTimes {
  readonly everyMs?: number
  /** Milliseconds since 1970. */
  readonly clock?: () => number
}

/** Looks at once and then every ten minutes, and continues step by step while there is something to remove. */
export function startAgeing(
  storage: AgeingStores,
  report: TaskReport = unreported,
  { everyMs = checkEveryMs, clock = Date.now }: AgeingTimes = {},
): Worker {
  return startWorker({ task: 'age_notes', report, retryMs: everyMs }, async () => {
    const startedMs = performance.now()
    const changed = await ageOnce(storage, clock())
    return { waitMs: changed === 0 ? everyMs : removalWaitMs(startedMs) }
  })
}

async function ageOnce(
  { usage, publications, consoleSessions }: AgeingStores,
  nowMs: number,
): Promise<number> {
  const rows = (await usage.age(nowMs)) + (await publications.age(nowMs))
  return rows + (await consoleSessions.age(nowMs, nowMs - idleSessionMs))
}
