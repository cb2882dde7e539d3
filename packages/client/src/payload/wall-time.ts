/**
 * Dates inside payloads: Europe/London wall time, day first (spec §2.7, D24). A wall time names one instant except in
 * two hours of a year: in autumn an hour is repeated, in spring one is left out.
 */
import type { ReportQuirk } from './read-payload.ts'

export interface WallTime {
  /** As written in the payload. */
  readonly text: string
  /** `date`: the text has no time of day; the instant is that day's first. */
  readonly kind: 'date' | 'dateTime'
  /** `YYYY-MM-DD` or `YYYY-MM-DDTHH:mm:ss`, still Europe/London: sorts as text. */
  readonly local: string
  /**
   * `once`: the ordinary case. `twice`: in the hour that autumn repeats; `instantMs` is the first of the two (summer
   * time), `secondMs` the other. `never`: in the hour that spring skips; `instantMs` is the instant that the clocks
   * would have shown had they not been put forward.
   */
  readonly occurs: 'once' | 'twice' | 'never'
  /** Milliseconds since 1970, UTC. */
  readonly instantMs: number
  readonly secondMs?: number
}

const pattern = /^(\d{2})-(\d{2})-(\d{4})(?: (\d{1,2}):(\d{2}):(\d{2}))?$/
const hourMs = 3_600_000

/** Days come again and again in a feed. */
const recent = new Map<string, WallTime | undefined>()

/** Reads `DD-MM-YYYY` or `DD-MM-YYYY HH:mm:ss`, the hour also with one digit; `undefined` for other texts and for days that do not exist. */
export function readWallTime(text: string): WallTime | undefined {
  if (recent.size > 5_000) recent.clear()
  if (!recent.has(text)) recent.set(text, wallTimeOf(text))
  return recent.get(text)
}

function wallTimeOf(text: string): WallTime | undefined {
  const match = pattern.exec(text)
  if (match === null) return undefined
  const [day, month, year, hour, minute, second] = match.slice(1).map((part) => Number(part ?? 0))
  if (day === undefined || month === undefined || year === undefined) return undefined
  if (hour === undefined || minute === undefined || second === undefined) return undefined
  if (year === 0 || hour > 23 || minute > 59 || second > 59) return undefined
  const wall = new Date(0)
  wall.setUTCFullYear(year, month - 1, day)
  wall.setUTCHours(hour, minute, second)
  if (wall.getUTCFullYear() !== year || wall.getUTCMonth() !== month - 1 || wall.getUTCDate() !== day) {
    return undefined
  }
  const wallMs = wall.getTime()
  const isDate = match[4] === undefined
  const local = wall.toISOString().slice(0, isDate ? 10 : 19)
  return { text, kind: isDate ? 'date' : 'dateTime', local, ...instantsOf(wallMs) }
}

/** Reads a wall time of a payload, and reports what is odd about it. */
export function readDate(value: unknown, pointer: string, report: ReportQuirk): WallTime | null {
  if (value === undefined || value === null || value === '') return null
  const time = typeof value === 'string' ? readWallTime(value) : undefined
  if (time === undefined) {
    report('invalid_date', pointer, 'not DD-MM-YYYY, alone or with HH:mm:ss, or no such day')
    return null
  }
  if (time.kind === 'dateTime' && time.occurs === 'twice') {
    report('repeated_hour', pointer, 'lies in the hour that the clocks repeat in autumn')
  }
  if (time.kind === 'dateTime' && time.occurs === 'never') {
    report('skipped_hour', pointer, 'lies in the hour that the clocks skip in spring')
  }
  return time
}

function instantsOf(wallMs: number): Pick<WallTime, 'occurs' | 'instantMs' | 'secondMs'> {
  // London's clocks have been on UTC or an hour ahead since 1948; double summer time before that is read as one hour.
  const [summer, winter] = [wallMs - hourMs, wallMs]
  const isSummer = londonOffsetMs(summer) === hourMs
  const isWinter = londonOffsetMs(winter) === 0
  if (isSummer && isWinter) return { occurs: 'twice', instantMs: summer, secondMs: winter }
  if (isSummer) return { occurs: 'once', instantMs: summer }
  return { occurs: isWinter ? 'once' : 'never', instantMs: winter }
}

const firstEuropeanRuleYear = 1996

/** How far London's clocks are ahead of UTC at an instant. */
function londonOffsetMs(instantMs: number): number {
  const year = new Date(instantMs).getUTCFullYear()
  if (year >= firstEuropeanRuleYear) {
    // Last Sunday of March to last Sunday of October, at 01:00 UTC (Summer Time Order 2002; the same dates since 1996).
    return instantMs >= lastSunday(year, 2) && instantMs < lastSunday(year, 9) ? hourMs : 0
  }
  return intlOffsetMs(instantMs)
}

function lastSunday(year: number, month: number): number {
  const last = new Date(Date.UTC(year, month + 1, 0, 1))
  return last.getTime() - last.getUTCDay() * 24 * hourMs
}

let london: Intl.DateTimeFormat | undefined

/** From the platform's own time zone data: knows the years before the rule (1968 to 1971 had no winter time). */
function intlOffsetMs(instantMs: number): number {
  london ??= new Intl.DateTimeFormat('en-GB', {
    timeZone: 'Europe/London',
    hour: '2-digit',
    hourCycle: 'h23',
  })
  const hour = Number(london.format(instantMs))
  return hour === new Date(instantMs).getUTCHours() ? 0 : hourMs
}
