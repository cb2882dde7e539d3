/** Removes old notes of requests and publications, and sessions that are over, in the background (PROTOCOL §14, §15). */
import { setTimeout as delay } from 'node:timers/promises'
import { reported, unreported } from '../background-task.ts'
import type { TaskReport } from '../background-task.ts'
import { idleSessionMs } from '../storage/storage.ts'
import type { StorageEngine } from '../storage/storage.ts'

type AgeingStores = Pick<StorageEngine, 'usage' | 'publications' | 'consoleSessions'>

/** Rows that are kept for days may stay for ten minutes more. */
const lookEveryMs = 600_000
/** The pause after a step: at least this long, and four times as long as the step took. */
const shortestPauseMs = 100
const pausePerStep = 4

export interface Ageing {
  /** Resolves when the step under way has ended; none begins after that. */
  close(): Promise<void>
}

export interface AgeingTimes {
  readonly everyMs?: number
  /** Milliseconds since 1970. */
  readonly clock?: () => number
}

/** Looks at once and then every ten minutes, and continues step by step while there is something to remove. */
export function ageNotes(
  storage: AgeingStores,
  report: TaskReport = unreported,
  { everyMs = lookEveryMs, clock = Date.now }: AgeingTimes = {},
): Ageing {
  const closing = new AbortController()
  const { signal } = closing
  const pause = (ms: number): Promise<void> =>
    delay(ms, undefined, { signal, ref: false }).catch(() => undefined)

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const startedMs = performance.now()
      const changed = (await reported(report, 'age_notes', ageOnce(storage, clock()))) ?? 0
      const tookMs = performance.now() - startedMs
      await pause(changed === 0 ? everyMs : Math.max(shortestPauseMs, tookMs * pausePerStep))
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

async function ageOnce(
  { usage, publications, consoleSessions }: AgeingStores,
  nowMs: number,
): Promise<number> {
  const noted = (await usage.age(nowMs)) + (await publications.age(nowMs))
  return noted + (await consoleSessions.age(nowMs, nowMs - idleSessionMs))
}
