/** The parameters of every job. */
import type { CaseResult } from '../support/figures.ts'
import type { Target } from '../support/targets.ts'

export interface BenchOptions {
  /** For the main store. */
  readonly events: number
  readonly averageBytes: number
  readonly runs: number
  readonly seconds: number
  readonly connections: number
  /** For the soak. */
  readonly minutes: number
  /** Scratch files of this run. */
  readonly folder: string
  report(result: CaseResult): void
  /** Compares two results reported earlier. */
  aim(target: Target): void
  /** A peer that cannot be measured here, and what would help. */
  skip(peer: string, reason: string): void
}
