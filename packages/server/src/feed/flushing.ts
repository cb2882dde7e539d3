/**
 * A thread notes in memory what it counts about requests, and adds all of it to the store every half minute, in one rhythm. A crash loses
 * one interval at most.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { unreported } from '../background-task.ts'
import type { TaskReport } from '../background-task.ts'

/** Notes that are kept in memory until they are added. */
export interface Notes {
  /**
   * Adds all notes, a few hundred rows with each statement, and calls `rest` between two statements. Notes that could not be added stay,
   * and it rejects.
   */
  flush(rest: () => Promise<void>): Promise<void>
}

export interface Flushing {
  /** Adds everything now. Rejects as the store does, after it has tried all. */
  flush(): Promise<void>
  /** Adds everything a last time, if the store can still be reached. */
  close(): Promise<void>
}

/** Different on each node and time, so that the nodes of a store do not write at the same moment. */
const flushEveryMs = 30_000
const flushSpreadMs = 5_000
/** The pause after a statement, as a multiple of its duration: commits of events that wait for the same writer come in between. */
const pausePerStatement = 4

export function flushEveryHalfMinute(notes: readonly Notes[], report: TaskReport = unreported): Flushing {
  const closing = new AbortController()
  let flushing: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  async function addAll(): Promise<void> {
    const failures: unknown[] = []
    for (const one of notes) {
      await one.flush(resting(closing.signal)).catch((error: unknown) => failures.push(error))
    }
    if (failures.length === 0) {
      report.worked('add_notes')
      return
    }
    report.failed('add_notes', failures[0])
    throw failures[0]
  }

  function flush(): Promise<void> {
    flushing = flushing.then(addAll, addAll)
    return flushing
  }

  // The failure has been reported, and what was not added is still noted.
  const quietly = (): Promise<void> => flush().catch(() => undefined)

  async function flushAgain(): Promise<void> {
    await quietly()
    if (!closing.signal.aborted) flushLater()
  }

  function flushLater(): void {
    timer = setTimeout(() => void flushAgain(), flushEveryMs + (Math.random() * 2 - 1) * flushSpreadMs)
    timer.unref()
  }

  flushLater()
  return {
    flush,
    async close() {
      clearTimeout(timer)
      closing.abort()
      await quietly()
    },
  }
}

/** Rests in proportion to the duration of the last statement; not at all at the end of the service. */
function resting(signal: AbortSignal): () => Promise<void> {
  let beganMs = performance.now()
  return async () => {
    const restMs = (performance.now() - beganMs) * pausePerStatement
    await delay(restMs, undefined, { signal, ref: false }).catch(() => undefined)
    beganMs = performance.now()
  }
}
