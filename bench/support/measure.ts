/** Cases measured in turn, so that a machine that drifts drifts for all of them: A B C, A B C, … */
import type { BenchOptions } from '../jobs/context.ts'
import { caseResult } from './figures.ts'
import type { CaseResult } from './figures.ts'
import { runLoad } from './wrk.ts'
import type { LoadFigures, LoadOptions } from './wrk.ts'

export interface Case {
  readonly subject: string
  readonly what: string
  readonly load: Omit<LoadOptions, 'connections' | 'seconds'> & { readonly connections?: number }
  /** Run before the measured runs, as long as one of them, to fill caches. Default: yes. */
  readonly warm?: boolean
}

export async function measure(
  options: BenchOptions,
  job: string,
  cases: readonly Case[],
): Promise<readonly CaseResult[]> {
  const { runs, seconds } = options
  const run = (entry: Case): Promise<LoadFigures> =>
    runLoad({ seconds, connections: options.connections, ...entry.load })
  for (const entry of cases) if (entry.warm !== false) await run(entry)
  const figures = new Map<Case, LoadFigures[]>(cases.map((entry) => [entry, []]))
  for (let round = 0; round < runs; round += 1) {
    for (const entry of cases) figures.get(entry)?.push(await run(entry))
  }
  return cases.map((entry) => {
    const result = caseResult(job, entry.subject, entry.what, figures.get(entry) ?? [])
    if (result.runs.some((one) => one.errors > 0))
      throw new Error(`${entry.subject} ${entry.what}: answers were errors`)
    options.report(result)
    return result
  })
}
