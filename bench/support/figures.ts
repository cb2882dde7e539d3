/** Combines several runs into one figure: medians, and how far the runs differ. */
import type { LoadFigures } from './wrk.ts'

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** Nobody measures fifteen digits or more. */
export function rounded(value: number): number {
  return Number(value.toPrecision(4))
}

/** One measured case, in the form of `bench/results`. */
export interface CaseResult {
  readonly job: string
  readonly subject: string
  readonly what: string
  /** Medians over the runs. */
  readonly requestsPerSecond: number
  readonly megabytesPerSecond: number
  /** If a request or a commit carries events. */
  readonly eventsPerSecond?: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly cpuMicrosecondsPerRequest?: number
  /** The largest. */
  readonly memoryMiB?: number
  /** Statements that the database ran per request. */
  readonly queriesPerRequest?: number
  /** What a power cut could lose, for a case that writes. */
  readonly durability?: string
  /** (largest − smallest) / median of requests per second. */
  readonly spread: number
  readonly runs: readonly LoadFigures[]
}

export interface CaseFacts {
  /** Events that one request or commit carries. */
  readonly events?: number | undefined
  readonly durability?: string | undefined
}

export function caseResult(
  job: string,
  subject: string,
  what: string,
  runs: readonly LoadFigures[],
  { events, durability }: CaseFacts = {},
): CaseResult {
  const rates = runs.map((run) => run.requestsPerSecond)
  const cpu = runs.flatMap((run) => run.cpuMicrosecondsPerRequest ?? [])
  const memory = runs.flatMap((run) => run.memoryMiB ?? [])
  return {
    job,
    subject,
    what,
    requestsPerSecond: rounded(median(rates)),
    megabytesPerSecond: rounded(median(runs.map((run) => run.megabytesPerSecond))),
    ...(events === undefined ? {} : { eventsPerSecond: rounded(median(rates) * events) }),
    p50Ms: rounded(median(runs.map((run) => run.p50Ms))),
    p99Ms: rounded(median(runs.map((run) => run.p99Ms))),
    ...(cpu.length > 0 ? { cpuMicrosecondsPerRequest: rounded(median(cpu)) } : {}),
    ...(memory.length > 0 ? { memoryMiB: rounded(Math.max(...memory)) } : {}),
    ...(durability === undefined ? {} : { durability }),
    spread: median(rates) === 0 ? 0 : rounded((Math.max(...rates) - Math.min(...rates)) / median(rates)),
    runs,
  }
}
