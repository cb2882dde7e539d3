/** How a key was used, as bars and as a table. */
import type { UsageItem } from '@property-events/protocol/wire'
import type { ChartPoint } from '../../parts/chart-scale.ts'
import { counted, countText } from '../../words/numbers.ts'
import { localText } from '../../words/times.ts'

/** One day in UTC. */
export interface UsageDay {
  /** `2026-03-01`. */
  readonly day: string
  readonly requests: number
  /** How many of them were refused: status 400 and above. */
  readonly refused: number
}

const shownDays = 30
const dayMs = 86_400_000

/** The last 30 days, ending with today, including days without a request. */
export function usageDays(items: readonly UsageItem[], nowMs: number, days = shownDays): readonly UsageDay[] {
  const sums = new Map<string, { requests: number; refused: number }>()
  for (const { at, status, requests } of items) {
    const day = at.slice(0, 10)
    const sum = sums.get(day) ?? { requests: 0, refused: 0 }
    sums.set(day, {
      requests: sum.requests + requests,
      refused: sum.refused + (status >= 400 ? requests : 0),
    })
  }
  return Array.from({ length: days }, (_, index) => {
    const day = new Date(nowMs - (days - 1 - index) * dayMs).toISOString().slice(0, 10)
    return { day, requests: 0, refused: 0, ...sums.get(day) }
  })
}

interface Bar {
  readonly day: UsageDay
  readonly x: number
  readonly width: number
  /** From the top of the box. */
  readonly y: number
  readonly height: number
  /** The part of the bar for refusals, at its bottom. */
  readonly refusedHeight: number
}

/** Bars in a box of `width` × `height`. A day with any request has a visible bar. */
export function usageBars(
  days: readonly UsageDay[],
  { width, height }: { readonly width: number; readonly height: number },
): readonly Bar[] {
  const most = Math.max(1, ...days.map(({ requests }) => requests))
  const step = width / Math.max(1, days.length)
  const tall = (count: number): number => (count === 0 ? 0 : Math.max(1, rounded((height * count) / most)))
  return days.map((day, index) => {
    const own = tall(day.requests)
    return {
      day,
      x: rounded(index * step),
      width: rounded(step * 0.8),
      y: rounded(height - own),
      height: own,
      refusedHeight: Math.min(own, tall(day.refused)),
    }
  })
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}

/** The same days for a chart with axes. */
export function usagePoints(days: readonly UsageDay[], nowMs: number): readonly ChartPoint[] {
  return days.map(({ day, requests, refused }, n) => ({
    from: n / days.length,
    to: (n + 1) / days.length,
    value: requests,
    bad: refused,
    says: `${dayText(day, nowMs)}: ${counted(requests, 'request')}${refused === 0 ? '' : `, ${countText(refused)} refused`}`,
  }))
}

/** `28 Feb`: a day in UTC. */
export function dayText(day: string, nowMs: number): string {
  return localText(new Date(`${day}T12:00`).getTime(), nowMs).slice(0, -9)
}

/** `12,040 requests in 30 days, 72 refused`: the bars in words. */
export function usageWords(days: readonly UsageDay[]): string {
  const requests = days.reduce((sum, day) => sum + day.requests, 0)
  const refused = days.reduce((sum, day) => sum + day.refused, 0)
  const of = `${counted(requests, 'request')} in ${days.length} days`
  return refused === 0 ? of : `${of}, ${countText(refused)} refused`
}

interface UsageRow {
  readonly operation: string
  readonly status: number
  readonly requests: number
  readonly bytes: number
}

/** By operation and status, the most frequent first. */
export function usageRows(items: readonly UsageItem[]): readonly UsageRow[] {
  const rows = new Map<string, UsageRow>()
  for (const { operation, status, requests, bytes } of items) {
    const name = `${operation} ${status}`
    const sum = rows.get(name) ?? { operation, status, requests: 0, bytes: 0 }
    rows.set(name, { ...sum, requests: sum.requests + requests, bytes: sum.bytes + bytes })
  }
  return [...rows.values()].toSorted((a, b) => b.requests - a.requests)
}
