/** The one loop of all work in the background: when a step runs, what follows a failure, and how the work stops. */
import { setTimeout as delay } from 'node:timers/promises'
import type { BackgroundTask, TaskReport } from './background-task.ts'

export interface Worker {
  /** Resolves when the step under way has ended; none begins after that. */
  close(): Promise<void>
}

interface WorkerOptions {
  readonly task: BackgroundTask
  /** Hears of each step: that it worked, or why it failed. */
  readonly report: TaskReport
  /** How long to wait after a step that failed: the store may be down. */
  readonly retryMs: number
  /** How long to wait before the first step, give or take a tenth. Default: not at all. */
  readonly firstAfterMs?: number
  /** Waits before a step. Default: by the clock. For tests. */
  readonly wait?: Wait | undefined
}

/** Resolves after this many milliseconds, or when the signal is aborted. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>

/** How a step ended. */
export interface StepEnd {
  /** Until the next step, give or take a tenth, so that the nodes of a store do not take their steps at the same moment. */
  readonly waitMs: number
  /** A part of the work failed, and the step has reported it. */
  readonly hasFailed?: boolean
}

/** Takes a step at once or after the first wait, and the next one after the wait that it asks for, until the worker is closed. */
export function startWorker(
  { task, report, retryMs, firstAfterMs = 0, wait = pause }: WorkerOptions,
  step: (signal: AbortSignal) => Promise<StepEnd>,
): Worker {
  const closing = new AbortController()
  const { signal } = closing

  async function once(): Promise<number> {
    try {
      const { waitMs, hasFailed = false } = await step(signal)
      if (!hasFailed) report.worked(task)
      return waitMs
    } catch (error) {
      if (!signal.aborted) report.failed(task, error)
      return retryMs
    }
  }
  async function run(): Promise<void> {
    if (firstAfterMs > 0) await wait(spreadMs(firstAfterMs), signal)
    while (!signal.aborted) {
      const waitMs = await once()
      await wait(spreadMs(waitMs), signal)
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

function spreadMs(waitMs: number): number {
  return waitMs * (0.9 + Math.random() * 0.2)
}

const shortestPauseMs = 100
const pausePerRemoval = 4

/** The pause after a step that has removed something: four times as long as the step took, so that steps take a fifth of the writer's time at most. */
export function removalWaitMs(startedMs: number): number {
  return Math.max(shortestPauseMs, (performance.now() - startedMs) * pausePerRemoval)
}

/** How much a step does at a time, and how long the store is left to others after it. */
interface StepSizes {
  readonly first: number
  readonly fewest: number
  readonly most: number
  /** The pause after a step, as a multiple of the step's time. */
  readonly pausePerStep: number
}

/** After a step that took longer, smaller ones follow: a step holds the writer of a file, and nobody should notice it. */
const stepTargetMs = 20

/** Takes steps until one says that nothing is left (`done`), or the signal is aborted (`stopped`). */
export async function inSteps(
  { first, fewest, most, pausePerStep }: StepSizes,
  signal: AbortSignal | undefined,
  step: (limit: number) => Promise<'more' | 'done'>,
): Promise<'done' | 'stopped'> {
  let limit = first
  for (;;) {
    if (signal?.aborted === true) return 'stopped'
    const startedMs = performance.now()
    const end = await step(limit)
    const tookMs = performance.now() - startedMs
    if (end === 'done') return 'done'
    if (tookMs > stepTargetMs) limit = Math.max(fewest, Math.floor(limit / 2))
    else if (tookMs < stepTargetMs / 2) limit = Math.min(most, limit * 2)
    await pause(tookMs * pausePerStep, signal)
  }
}

/** The pause between two steps, which ends early when something has changed, also during the step before it. */
export function nudgedWait(): { readonly wait: Wait; readonly nudge: () => void } {
  let isNudged = false
  let end = (): void => undefined
  return {
    nudge() {
      isNudged = true
      end()
    },
    async wait(ms, signal) {
      if (!isNudged && !signal.aborted) {
        await new Promise<void>((resolve) => {
          end = () => {
            clearTimeout(timer)
            signal.removeEventListener('abort', end)
            resolve()
          }
          const timer = setTimeout(end, ms).unref()
          signal.addEventListener('abort', end)
        })
      }
      isNudged = false
    },
  }
}

/** Resolves after this time, or when the signal is aborted. Keeps no process alive. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal, ref: false }).catch(() => undefined)
}
