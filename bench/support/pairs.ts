/** Two builds measured in turn, pair by pair: how their rates compare, and how sure that is. */
import { median, rounded } from './figures.ts'
import type { Case } from './measure.ts'

export interface PairedCase {
  readonly what: string
  readonly before: Case
  readonly now: Case
}

/** V8 compiles the last of what reads in the first seconds: after one of them the same two builds differed by up to 10 % more. */
const warmReadingRuns = 4

/** The results of one launch of both builds. */
export interface PairedRuns {
  readonly what: string
  /** Requests a second of each run, in the order of the pairs. */
  readonly before: readonly number[]
  readonly now: readonly number[]
  /** Processor time of the service (and its database) per request, in µs, for each run. */
  readonly costs: { readonly before: readonly number[]; readonly now: readonly number[] }
}

export interface PairedResult extends PairedRuns {
  /** now / before of the medians: steadier than rates if the machine has other work. */
  readonly processorTime: number
  /** now / before: the median of the pairs, and the least that the true median is, with a certainty of 95 % or more. */
  readonly ratio: number
  readonly atLeast: number
}

/**
 * Measures one case after the other, `pairs` times each. In a pair each build runs for `seconds` in all, in `slices` of whole seconds that take turns: what
 * the machine does besides for some seconds then slows both. The build that goes first changes with each slice.
 */
export async function measurePairs(
  cases: readonly PairedCase[],
  { pairs, slices, seconds }: { readonly pairs: number; readonly slices: number; readonly seconds: number },
): Promise<readonly PairedRuns[]> {
  const all: PairedRuns[] = []
  for (const { what, before, now } of cases) {
    for (const warm of [before, now]) {
      for (let run = 0; run < (warm.warmRuns ?? warmReadingRuns); run += 1) await warm.run(seconds)
    }
    const rates = { before: [] as number[], now: [] as number[] }
    const costs = { before: [] as number[], now: [] as number[] }
    for (let pair = 0; pair < pairs; pair += 1) {
      const sums = { before: { rate: 0, cost: 0 }, now: { rate: 0, cost: 0 } }
      for (let slice = 0; slice < slices; slice += 1) {
        const order = (pair + slice) % 2 === 0 ? (['before', 'now'] as const) : (['now', 'before'] as const)
        for (const side of order) {
          const figures = await (side === 'before' ? before : now).run(seconds / slices)
          if (figures.errors > 0) throw new Error(`${what}, ${side}: ${figures.errors} answers were errors`)
          sums[side].rate += figures.requestsPerSecond
          sums[side].cost += figures.cpuMicrosecondsPerRequest ?? Number.NaN
        }
      }
      for (const side of ['before', 'now'] as const) {
        rates[side].push(rounded(sums[side].rate / slices))
        costs[side].push(rounded(sums[side].cost / slices))
      }
    }
    all.push({ what, ...rates, costs })
  }
  return all
}

/** The runs of one case, of all launches together. */
export function pairedResult(runs: readonly PairedRuns[]): PairedResult {
  const before = runs.flatMap((run) => run.before)
  const now = runs.flatMap((run) => run.now)
  const costs = {
    before: runs.flatMap((run) => run.costs.before),
    now: runs.flatMap((run) => run.costs.now),
  }
  const ratios = before.map((rate, pair) => (now[pair] ?? 0) / rate)
  return {
    what: runs[0]?.what ?? '',
    before,
    now,
    costs,
    processorTime: rounded(median(costs.now) / median(costs.before)),
    ratio: rounded(median(ratios)),
    atLeast: rounded(lowerBound(ratios)),
  }
}

/**
 * The value below which the median lies with a chance of 5 % at most, whatever the distribution: the k-th smallest of n, where
 * k is the greatest number for which fewer than k of n fair coins fall on one side with that chance.
 */
export function lowerBound(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const n = sorted.length
  let [chance, combinations, k] = [0, 1, 0]
  while (k < n) {
    chance += combinations / 2 ** n
    if (chance > 0.05) break
    k += 1
    combinations = (combinations * (n - k + 1)) / k
  }
  return sorted[k - 1] ?? Number.NaN
}
