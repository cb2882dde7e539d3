/** What every job is given. */
import type { CaseResult } from '../support/figures.ts'
import type { Target } from '../support/targets.ts'

export interface BenchOptions {
  /** In the main store. */
  readonly events: number
  readonly averageBytes: number
  readonly runs: number
  readonly seconds: number
  readonly connections: number
  /** Of the soak. */
  readonly minutes: number
  /** Scratch files of this run. */
  readonly folder: string
  report(result: CaseResult): void
  /** Compares two results that were reported before. */
  aim(target: Target): void
  /** A peer that cannot be measured here, and what would help. */
  skip(peer: string, reason: string): void
}
