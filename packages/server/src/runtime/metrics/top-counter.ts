/** A counter with a label for the names that count most, and `other` for the rest (`topSums`). */
import type { CountsByName } from './named-counts.ts'
import type { MetricJson } from './metric-json.ts'
import { topSums } from './top-sums.ts'

export { namesShown } from './top-sums.ts'

/** A metric of the names that count most. */
export interface TopMetric {
  /** Adds the counts since the last call. */
  add(counts: CountsByName): void
  json(): MetricJson
}

export interface TopCounterOptions {
  readonly name: string
  readonly help: string
  readonly label: string
  /** Which of a name's numbers the metric shows. */
  readonly column: 0 | 1
}

/** `clock`: milliseconds, never set back. */
export function topCounter(
  { name, help, label, column }: TopCounterOptions,
  clock?: () => number,
): TopMetric {
  const sums = topSums({ weightOf: (counts) => counts[column] ?? 0, clock })
  return {
    add: (counts) => sums.add(counts),
    json() {
      const values = sums.shown().map(([key, own]) => ({ labels: { [label]: key }, value: own[column] ?? 0 }))
      return { name, help, type: 'counter', aggregator: 'sum', values }
    },
  }
}
