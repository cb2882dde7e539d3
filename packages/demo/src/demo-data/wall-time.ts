/** Dates as agents write them (D24): wall time in London, worked out here because `Intl` takes 50 times as long. */
import type { Random } from './random.ts'

export const dayMs = 86_400_000
const hourMs = 3_600_000

/** `DD-MM-YYYY HH:mm:ss` in London. */
export function londonTime(ms: number): string {
  const iso = new Date(ms + (isSummerTime(ms) ? hourMs : 0)).toISOString()
  return `${iso.slice(8, 10)}-${iso.slice(5, 7)}-${iso.slice(0, 4)} ${iso.slice(11, 19)}`
}

/** `DD-MM-YYYY` in London. */
export function londonDay(ms: number): string {
  return londonTime(ms).slice(0, 10)
}

const summers = new Map<number, readonly [number, number]>()

/** From 01:00 UTC on March's last Sunday to 01:00 UTC on October's. */
function isSummerTime(ms: number): boolean {
  const year = new Date(ms).getUTCFullYear()
  let summer = summers.get(year)
  if (summer === undefined) {
    summer = [lastSunday(year, 2) + hourMs, lastSunday(year, 9) + hourMs]
    summers.set(year, summer)
  }
  return ms >= summer[0] && ms < summer[1]
}

/** Midnight UTC of the last Sunday of a month of 31 days; January is 0. */
function lastSunday(year: number, month: number): number {
  const last = Date.UTC(year, month, 31)
  return last - new Date(last).getUTCDay() * dayMs
}

/** A moment between 08:30 and 18:30 UTC on the day of `ms`, or on the Monday after it if that is a Sunday. */
export function openingHours(random: Random, ms: number): number {
  const day = Math.floor(ms / dayMs) * dayMs
  const open = new Date(day).getUTCDay() === 0 ? day + dayMs : day
  return open + 8.5 * hourMs + random.integer(0, 10 * hourMs)
}
