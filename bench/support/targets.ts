/** What a figure should reach compared with another one of the same run, and whether it did. */
import { rounded } from './figures.ts'
import type { CaseResult } from './figures.ts'

export type TargetFigure =
  | 'requestsPerSecond'
  | 'eventsPerSecond'
  | 'megabytesPerSecond'
  | 'p50Ms'
  | 'p99Ms'
  | 'cpuMicrosecondsPerRequest'
  | 'memoryMiB'
  | 'queriesPerRequest'

/** A measured case of the job. */
export interface CaseName {
  readonly subject: string
  readonly what: string
}

export interface Target {
  /** The job's name in the tables: `J1`. */
  readonly job: string
  /** The target, for people: `page of 100, in memory: of nginx static`. */
  readonly text: string
  readonly ours: CaseName
  /** The other case, or a fixed number in the same unit. */
  readonly theirs: CaseName | number
  readonly figure: TargetFigure
  readonly wanted: { readonly atLeast: number } | { readonly atMost: number }
}

export interface TargetResult {
  readonly job: string
  readonly text: string
  readonly figure: TargetFigure
  readonly ours: string
  readonly theirs: string
  readonly ourValue: number
  readonly theirValue: number
  /** Ours divided by theirs. */
  readonly ratio: number
  readonly wanted: Target['wanted']
  readonly reached: boolean
}

/** If a target's cases were not both measured, it has no result: `undefined`. */
export function targetResult(target: Target, results: readonly CaseResult[]): TargetResult | undefined {
  const { job, text, figure, wanted, ours, theirs } = target
  const ourValue = find(target, ours, results)?.[figure]
  const theirValue = typeof theirs === 'number' ? theirs : find(target, theirs, results)?.[figure]
  if (ourValue === undefined || theirValue === undefined) return undefined
  const ratio = rounded(ourValue / theirValue)
  const reached = 'atLeast' in wanted ? ratio >= wanted.atLeast : ratio <= wanted.atMost
  const nameOf = (name: CaseName): string => `${name.subject}, ${name.what}`
  return {
    job,
    text,
    figure,
    ours: nameOf(ours),
    theirs: typeof theirs === 'number' ? 'fixed' : nameOf(theirs),
    ourValue,
    theirValue,
    ratio,
    wanted,
    reached,
  }
}

function find(
  { job }: Target,
  { subject, what }: CaseName,
  results: readonly CaseResult[],
): CaseResult | undefined {
  return results.find((result) => result.job === job && result.subject === subject && result.what === what)
}
