/** Removes ids that were kept long enough, in the background (PROTOCOL §4.6, decision 0003). */
import { ticksPerMillisecond } from '@property-events/protocol/plain'
import type { Ticks } from '@property-events/protocol'
import { unreported } from '../runtime/background-task.ts'
import type { TaskReport } from '../runtime/background-task.ts'
import { removalWaitMs, startWorker } from '../runtime/worker-loop.ts'
import type { Worker } from '../runtime/worker-loop.ts'

/** Ids are kept for 30 days, so ten minutes more or less do not matter. */
const checkEveryMs = 600_000

/**
 * Checks at once and then every ten minutes, and continues step by step while there are ids to remove. A store that
 * fails is asked again the next time; its publishers get the failure.
 */
export function forgetSkippedIds(
  storage: { forgetSkippedIds(): Promise<number> },
  everyMs: number = checkEveryMs,
  report: TaskReport = unreported,
): Worker {
  return startWorker({ task: 'forget_ids', report, retryMs: everyMs }, async () => {
    const startedMs = performance.now()
    const removed = await storage.forgetSkippedIds()
    return { waitMs: removed === 0 ? everyMs : removalWaitMs(startedMs) }
  })
}

const keptDays = 30n

/** 30 days. */
export const skippedIdKeptTicks: Ticks = keptDays * 24n * 3_600_000n * ticksPerMillisecond

/**
 * How many are removed at a time. On SQLite, where publishing waits for it, this took 4 ms among a million ids (the longest of 60 steps
 * 21 ms), and 500 took 19 ms (48 ms).
 */
export const skippedIdsPerStep = 200

/** Ids skipped before this moment may be removed. */
export function skippedIdsEnd(now: Ticks): Ticks {
  return now - skippedIdKeptTicks
}
