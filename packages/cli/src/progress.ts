/** Progress of long tasks, on a terminal: how much is done, how fast and, if the total is known, the remaining time. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Output } from './output.ts'

/** A terminal is refreshed four times a second: more would flicker. */
const refreshMs = 250

/** A task that ends within this time shows nothing. */
const quietMs = 1_000

/** Before this, the duration cannot be estimated. */
const estimatedAfterMs = 2_000

/** Shows the progress and the speed of a long task, if stderr is a terminal. */
interface Progress {
  /** `part` of the whole, 0 to 1, where it is known. */
  update(done: number, part: number | undefined): void
  end(): void
}

/** `what` is counted: `events`, `MB`. */
export function createProgress(output: Output, what: string, clock: () => number = Date.now): Progress {
  const startMs = clock()
  let shownMs = startMs + quietMs - refreshMs
  /** A task that continues after an interruption begins with a part of it done. */
  let firstPart: number | undefined
  let firstDone: number | undefined
  return {
    update(done, part) {
      firstPart ??= part
      firstDone ??= done
      const nowMs = clock()
      if (!output.showsProgress || nowMs - shownMs < refreshMs) return
      shownMs = nowMs
      const elapsedMs = nowMs - startMs
      const perSecond = Math.round((Math.max(0, done - firstDone) * 1000) / Math.max(1, elapsedMs))
      const share = part === undefined ? [] : [`${Math.floor(Math.min(1, part) * 100)} %`]
      const left = part === undefined ? undefined : timeLeftMs(elapsedMs, firstPart ?? 0, part)
      output.progress(
        [
          `${done.toLocaleString('en-GB')} ${what}`,
          `${perSecond.toLocaleString('en-GB')}/s`,
          ...share,
          ...(left === undefined ? [] : [`${durationText(left)} left`]),
        ].join(' · '),
      )
    },
    end() {
      output.progress('')
    },
  }
}

/** The time for the rest at the speed so far; `undefined` if that cannot be estimated. */
function timeLeftMs(elapsedMs: number, firstPart: number, part: number): number | undefined {
  const gained = part - firstPart
  if (elapsedMs < estimatedAfterMs || gained <= 0 || part >= 1) return undefined
  return (elapsedMs * (1 - part)) / gained
}

/** `8 s`, `2 min 5 s`, `1 h 4 min`; never empty. */
export function durationText(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** The progress of a task. */
export interface Measure {
  readonly done: number
  /** The share of the whole, 0 to 1, if it is known. */
  readonly part: number | undefined
}

/**
 * Waits for a task that reports nothing itself and polls its progress meanwhile, only on a terminal. Resolves and rejects as the task
 * does; a measurement that fails is left out.
 */
export async function withProgress<Result>(
  output: Output,
  what: string,
  measure: () => Measure | Promise<Measure>,
  work: Promise<Result>,
): Promise<Result> {
  if (!output.showsProgress) return work
  const progress = createProgress(output, what)
  const over = new AbortController()
  const watching = watch(progress, measure, over.signal)
  try {
    return await work
  } finally {
    over.abort()
    await watching
    progress.end()
  }
}

async function watch(
  progress: Progress,
  measure: () => Measure | Promise<Measure>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const { done, part } = await measure()
      if (!signal.aborted) progress.update(done, part)
    } catch {
      // For example a file that does not exist yet.
    }
    await delay(refreshMs, undefined, { signal }).catch(() => undefined)
  }
}
