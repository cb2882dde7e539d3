/** Cases measured in turn, so that a machine that drifts drifts for all of them: A B C, A B C, … */
import type { BenchOptions } from '../jobs/context.ts'
import { caseResult } from './figures.ts'
import type { CaseFacts, CaseResult } from './figures.ts'
import type { LoadFigures } from './wrk.ts'

export interface Case extends CaseFacts {
  readonly subject: string
  readonly what: string
  /** One run of about this many seconds. */
  run(seconds: number): Promise<LoadFigures>
  /** Runs before the measured ones, to fill caches and let V8 compile. Default: 1. */
  readonly warmRuns?: number
}

/** Measures and reports. Throws if an answer was an error. */
export async function measure(
  options: Pick<BenchOptions, 'runs' | 'seconds' | 'report'>,
  job: string,
  cases: readonly Case[],
): Promise<readonly CaseResult[]> {
  const { runs, seconds } = options
  for (const entry of cases) {
    for (let warmed = 0; warmed < (entry.warmRuns ?? 1); warmed += 1) await entry.run(seconds)
  }
  const figures = new Map<Case, LoadFigures[]>(cases.map((entry) => [entry, []]))
  for (let round = 0; round < runs; round += 1) {
    for (const entry of cases) {
      const run = await entry.run(seconds)
      if (run.errors > 0) throw new Error(`${entry.subject} ${entry.what}: ${run.errors} answers were errors`)
      figures.get(entry)?.push(run)
    }
  }
  return cases.map((entry) => {
    const result = caseResult(job, entry.subject, entry.what, figures.get(entry) ?? [], entry)
    options.report(result)
    return result
  })
}

/** A case during another one: only its figures are kept. */
export function beside(what: string, main: Case, background: Case): Case {
  return {
    ...main,
    what,
    async run(seconds) {
      const [figures, others] = await Promise.all([main.run(seconds), background.run(seconds)])
      return { ...figures, errors: figures.errors + others.errors }
    },
  }
}
