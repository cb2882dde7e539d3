/**
 * Fills the views of sets of branches in the background, and drops those that no key reads any more (D11, docs/decisions/0042): in steps,
 * one set after another. If several nodes do this at the same time, none repeats the other's work: a set that another node is working on
 * is skipped.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { TaskReport } from '../background-task.ts'
import type { BranchSet, StorageEngine } from '../storage/storage.ts'
import { unlessBroken } from './unless-broken.ts'

/** How often it checks whether keys have changed: one row. */
const lookEveryMs = 1_000
/** How often it checks for keys that have expired, which changes no row. */
const lookAgainMs = 60_000
/** After a failure, the next look comes this many times later. */
const looksPerFailure = 5
/** The pause after a step is as long as the step, so that filling takes at most half of a writer's time. */
const pausePerStep = 1
/**
 * After a step that took longer than this, smaller ones follow. A step holds the writer of a file, and publishers wait for the last one.
 */
const stepTargetMs = 20
const [fewestEvents, firstEvents, mostEvents] = [50, 200, 2_000]

export interface FillingParts {
  readonly storage: Pick<StorageEngine, 'branchViews' | 'keys'>
  /** Called with failures, which are retried. */
  readonly report: TaskReport
  /** For tests; a second if left out. */
  readonly everyMs?: number
}

export interface Filling {
  /** Resolves when the step under way has ended; none begins after that. */
  close(): Promise<void>
}

/** What is known about the last time when there was nothing to do. */
interface Rest {
  keysVersion: string | undefined
  sinceMs: number
}

/** Looks at once and then continuously. Any node continues what a crash has interrupted. */
export function fillBranchViews(parts: FillingParts): Filling {
  const closing = new AbortController()
  const { signal } = closing
  const rest: Rest = { keysVersion: undefined, sinceMs: 0 }
  const run = async (): Promise<void> => {
    while (!signal.aborted) await pause(await look(parts, rest, signal), signal)
  }
  const running = run()
  return {
    async close() {
      closing.abort()
      await running
    },
  }
}

/** Returns how long to wait before the next look. */
async function look(
  { storage, report, everyMs = lookEveryMs }: FillingParts,
  rest: Rest,
  signal: AbortSignal,
): Promise<number> {
  try {
    // Read before the sets: a later change is another version.
    const version = await storage.keys.keysVersion()
    if (version === rest.keysVersion && performance.now() - rest.sinceMs < lookAgainMs) return everyMs
    const due = await storage.branchViews.due()
    let isWhole = true
    for (const set of due) {
      if (signal.aborted) return 0
      const done = await unlessBroken(report, 'fill_views', { ...set }, stepAll(storage, set, signal))
      isWhole &&= done !== 'broken'
    }
    if (isWhole) report.worked('fill_views')
    rest.keysVersion = due.length === 0 ? version : undefined
    rest.sinceMs = performance.now()
    return isWhole ? everyMs : everyMs * looksPerFailure
  } catch (error) {
    if (!signal.aborted) report.failed('fill_views', error)
    return everyMs * looksPerFailure
  }
}

/** All steps of a set, until it is done or another node is working on it. */
async function stepAll(
  { branchViews }: FillingParts['storage'],
  set: Pick<BranchSet, 'tenantId' | 'set'>,
  signal: AbortSignal,
): Promise<void> {
  let limit = firstEvents
  while (!signal.aborted) {
    const startedMs = performance.now()
    const outcome = await branchViews.step(set, limit)
    const tookMs = performance.now() - startedMs
    if (outcome !== 'more') return
    if (tookMs > stepTargetMs) limit = Math.max(fewestEvents, Math.floor(limit / 2))
    else if (tookMs < stepTargetMs / 2) limit = Math.min(mostEvents, limit * 2)
    await pause(tookMs * pausePerStep, signal)
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal, ref: false }).catch(() => undefined)
}
