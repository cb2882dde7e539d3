/** Removes ids that were kept long enough, in the background (PROTOCOL §4.6, decision 0003). */
import { setTimeout as delay } from 'node:timers/promises'
import { reported, unreported } from '../background-task.ts'
import type { TaskReport } from '../background-task.ts'
import type { StorageEngine } from '../storage/storage.ts'

/** Ids are kept for 30 days, so ten minutes more or less do not matter. */
const lookEveryMs = 600_000
/**
 * The pause after a step: at least this long, and four times as long as the step took, so that steps take a fifth of
 * the writer's time at most.
 */
const shortestPauseMs = 100
const pausePerStep = 4

export interface Forgetting {
  /** Resolves when the step under way has ended; none begins after that. */
  close(): Promise<void>
}

/**
 * Looks at once and then every ten minutes, and continues step by step while there are ids to remove. A store that
 * fails is asked again the next time; its publishers are told of the failure.
 */
export function forgetSkippedIds(
  storage: Pick<StorageEngine, 'forgetSkippedIds'>,
  everyMs: number = lookEveryMs,
  report: TaskReport = unreported,
): Forgetting {
  const closing = new AbortController()
  const { signal } = closing
  const pause = (ms: number): Promise<void> =>
    delay(ms, undefined, { signal, ref: false }).catch(() => undefined)

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const startedMs = performance.now()
      const removed = (await reported(report, 'forget_ids', storage.forgetSkippedIds())) ?? 0
      const tookMs = performance.now() - startedMs
      await pause(removed === 0 ? everyMs : Math.max(shortestPauseMs, tookMs * pausePerStep))
    }
  }
  const running = run()
  return {
    async close() {
      closing.abort()
      await running
    },
  }
}
