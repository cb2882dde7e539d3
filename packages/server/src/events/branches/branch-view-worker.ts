/**
 * Fills the views of sets of branches in the background, and drops those that no key reads any more (D11, docs/decisions/0042): in steps,
 * one set after another. If several nodes do this at the same time, none repeats the other's work: a set that another node is working on
 * is skipped.
 */
import type { KeyStore } from '../../keys/key.ts'
import type { BranchViewStore } from './branch-view-store.ts'
import type { TaskReport } from '../../runtime/background-task.ts'
import { inSteps, startWorker } from '../../runtime/worker-loop.ts'
import type { Worker } from '../../runtime/worker-loop.ts'
import { isolateFailure } from '../../sql/isolate-failure.ts'

/** How often it checks whether keys have changed: one row. */
const checkEveryMs = 1_000
/** How often it checks for keys that have expired, which changes no row. */
const checkAgainMs = 60_000
/** After a failure, the next check comes this many times later. */
const checksPerFailure = 5
/** The pause after a step is as long as the step, so that filling takes at most half of a writer's time; publishers wait for the last one. */
const stepSizes = { first: 200, fewest: 50, most: 2_000, pausePerStep: 1 } as const

interface FillingParts {
  readonly storage: { readonly branchViews: BranchViewStore; readonly keys: KeyStore }
  /** Called with failures, which are retried. */
  readonly report: TaskReport
  /** For tests; a second if left out. */
  readonly everyMs?: number
}

/** What is known about the last time when there was nothing to do. */
interface Rest {
  keysVersion: string | undefined
  sinceMs: number
}

/** Checks at once and then continuously. Any node continues what a crash has interrupted. */
export function fillBranchViews(parts: FillingParts): Worker {
  const { report, everyMs = checkEveryMs } = parts
  const rest: Rest = { keysVersion: undefined, sinceMs: 0 }
  const retryMs = everyMs * checksPerFailure
  return startWorker({ task: 'fill_views', report, retryMs }, async (signal) =>
    (await fillDue(parts, rest, signal)) ? { waitMs: everyMs } : { waitMs: retryMs, hasFailed: true },
  )
}

/** False: at least one set could not be filled. */
async function fillDue({ storage, report }: FillingParts, rest: Rest, signal: AbortSignal): Promise<boolean> {
  // Read before the sets: a later change is another version.
  const version = await storage.keys.keysVersion()
  if (version === rest.keysVersion && performance.now() - rest.sinceMs < checkAgainMs) return true
  const due = await storage.branchViews.due()
  let isWhole = true
  for (const set of due) {
    if (signal.aborted) return isWhole
    const filling = inSteps(stepSizes, signal, async (limit) =>
      (await storage.branchViews.step(set, limit)) === 'more' ? 'more' : 'done',
    )
    isWhole &&= (await isolateFailure(report, 'fill_views', { ...set }, filling)) !== 'broken'
  }
  rest.keysVersion = due.length === 0 ? version : undefined
  rest.sinceMs = performance.now()
  return isWhole
}
