/** The arithmetic of charts and sparklines. */

/** One bar, or one step of a line. */
export interface ChartPoint {
  /** Where it begins and ends, as a share of the width. */
  readonly from: number
  readonly to: number
  /** Null: a gap. */
  readonly value: number | null
  /** The part of a bar that is bad, such as refusals. */
  readonly bad?: number
  /** What it is, for whoever points at it: `14:00: 12 events`. */
  readonly says: string
}

export interface Scale {
  readonly low: number
  readonly high: number
  /** Round values between them, ascending. */
  readonly ticks: readonly number[]
}

/** Round limits around the values, with 2 to 6 ticks. `isFromZero`: for bars. */
export function scaleOf(points: readonly ChartPoint[], isFromZero: boolean): Scale {
  const values = points.flatMap(({ value }) => value ?? [])
  const least = isFromZero ? 0 : Math.min(...values)
  const most = Math.max(...values, isFromZero ? 1 : least)
  const spread = most - least || Math.abs(most) / 5 || 1
  const step = stepOf(spread / 4)
  const low = isFromZero ? 0 : Math.max(0, Math.floor((least - spread / 10) / step) * step)
  const high = Math.ceil((isFromZero ? most : most + spread / 10) / step) * step
  const count = Math.round((high - low) / step)
  return { low, high, ticks: Array.from({ length: count + 1 }, (_, n) => low + n * step) }
}

/** The next of 1, 2, 5, 10, 20, …: half a request or half a pound does not exist. */
function stepOf(wanted: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, wanted)))
  const factor = [1, 2, 5, 10].find((one) => one * power >= wanted) ?? 10
  return factor * power
}

/** The point under a share of the width; the nearest one for a gap between them. */
export function pointAt(points: readonly ChartPoint[], share: number): ChartPoint | undefined {
  const distance = ({ from, to }: ChartPoint): number => Math.max(from - share, share - to, 0)
  return points.reduce<ChartPoint | undefined>(
    (best, point) => (best === undefined || distance(point) < distance(best) ? point : best),
    undefined,
  )
}

/** The heights of the bars of a sparkline: the greatest has the full height, and zero appears as a line. */
export function sparklineBars(counts: readonly number[], height: number): readonly number[] {
  const most = Math.max(...counts, 1)
  return counts.map((count) => (count === 0 ? 1 : Math.max(2, Math.round((count / most) * height))))
}
