/** Sums over the agencies of the overview. */
import type { ChartPoint } from '../../parts/chart-scale.ts'
import type { TenantActivity } from '@property-events/protocol/wire'
import { counted } from '../../words/numbers.ts'

const hours = 24
const hourMs = 3_600_000

/** What all of them published, by hour; the present one comes last. */
export function publishedByHour(facts: readonly TenantActivity[]): readonly number[] {
  return Array.from({ length: hours }, (_, n) =>
    facts.reduce((sum, { published }) => sum + (published[published.length - hours + n] ?? 0), 0),
  )
}

export function sumOf(facts: readonly TenantActivity[], name: 'live' | 'refused'): number {
  return facts.reduce((sum, one) => sum + one[name], 0)
}

/** A bar for each hour. `lastMs`: when the present hour began. */
export function hourPoints(byHour: readonly number[], lastMs: number): readonly ChartPoint[] {
  return byHour.map((value, n) => ({
    from: n / byHour.length,
    to: (n + 1) / byHour.length,
    value,
    says: `${clock(lastMs - (byHour.length - 1 - n) * hourMs)}: ${counted(value, 'event')}`,
  }))
}

/** The time of every sixth hour. */
export function hourTimes(points: readonly ChartPoint[]): readonly { at: number; text: string }[] {
  return points.filter((_, n) => n % 6 === 0).map(({ from, says }) => ({ at: from, text: says.slice(0, 5) }))
}

function clock(ms: number): string {
  return `${String(new Date(ms).getHours()).padStart(2, '0')}:00`
}
