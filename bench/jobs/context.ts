/** What every job is given. */
import type { CaseResult } from '../support/figures.ts'

export interface BenchOptions {
  readonly events: number
  readonly averageBytes: number
  readonly runs: number
  readonly seconds: number
  readonly connections: number
  /** Scratch files of this run. */
  readonly folder: string
  report(result: CaseResult): void
}
