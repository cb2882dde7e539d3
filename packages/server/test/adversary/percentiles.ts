/** Milliseconds. */
export interface Percentiles {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

export function percentiles(times: readonly number[]): Percentiles {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number): number =>
    Math.round(10 * (sorted[Math.ceil(part * sorted.length) - 1] ?? 0)) / 10
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) }
}
