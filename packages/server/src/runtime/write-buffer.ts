/**
 * What a thread counts and records in memory, and adds to the store every half minute in one rhythm. A crash loses one interval at most.
 */
import { reported, unreported } from './background-task.ts'
import type { BackgroundTask, TaskReport } from './background-task.ts'
import { pause, startWorker } from './worker-loop.ts'

/** What is kept in memory until it is added to the store. */
export interface WriteBuffer {
  /**
   * Adds all of it, a few hundred rows with each statement, and calls `rest` between two statements. What could not be added stays, and it
   * rejects.
   */
  flush(rest: () => Promise<void>): Promise<void>
}

export interface Flushing {
  /** Adds everything now. Rejects as the store does, after it has tried all. */
  flush(): Promise<void>
  /** Adds everything a last time, if the store can still be reached. */
  close(): Promise<void>
}

const flushEveryMs = 30_000
/** The pause after a statement, as a multiple of its duration: commits of events that wait for the same writer come in between. */
const pausePerStatement = 4

/**
 * Calls `write` every half minute, on demand, and a last time at the close; one call at a time. Once `hurry` is aborted, it should rest no
 * more.
 */
export function startFlushing(
  task: BackgroundTask,
  report: TaskReport,
  write: (hurry?: AbortSignal) => Promise<void>,
): Flushing {
  let flushing: Promise<void> = Promise.resolve()

  function inTurn(hurry?: AbortSignal): Promise<void> {
    const writeNow = (): Promise<void> => write(hurry)
    flushing = flushing.then(writeNow, writeNow)
    return flushing
  }

  const options = { task, report, retryMs: flushEveryMs, firstAfterMs: flushEveryMs }
  const worker = startWorker(options, async (signal) => {
    await inTurn(signal)
    return { waitMs: flushEveryMs }
  })
  return {
    async flush() {
      const flushed = inTurn()
      await reported(report, task, flushed)
      return flushed
    },
    async close() {
      await worker.close()
      // What could not be added is lost with the process, and has been reported.
      await reported(report, task, inTurn(AbortSignal.abort()))
    },
  }
}

/** Adds all of these in one rhythm. */
export function flushEveryHalfMinute(
  buffers: readonly WriteBuffer[],
  report: TaskReport = unreported,
): Flushing {
  return startFlushing('add_notes', report, async (hurry) => {
    const failures: unknown[] = []
    for (const buffer of buffers) {
      await buffer.flush(resting(hurry)).catch((error: unknown) => failures.push(error))
    }
    if (failures.length > 0) throw failures[0]
  })
}

/** Rests in proportion to the duration of the last statement; not at all at the end of the service. */
function resting(hurry: AbortSignal | undefined): () => Promise<void> {
  let beganMs = performance.now()
  return async () => {
    await pause((performance.now() - beganMs) * pausePerStatement, hurry)
    beganMs = performance.now()
  }
}
