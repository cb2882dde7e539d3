import {
  formatTicks,
  millisecondsOfTicks,
  parseWindowBound,
  readWholeNumber,
  ticksOfMilliseconds,
} from '@property-events/protocol'

const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 }

export const futureTimeHelp =
  'a time from now such as 12h, 90d or 52w, a UTC date such as 2027-01-31, or a time such as 2027-01-31T09:30+01:00'

/**
 * A time from now, or a date with or without a time in the forms of `from` (D5; UTC without an offset), as milliseconds
 * since 1970. `undefined`: neither.
 */
export function readTimestamp(text: string, nowMs: number): number | undefined {
  const lengthMs = readDuration(text)
  if (lengthMs !== undefined) return nowMs + lengthMs
  const ticks = parseWindowBound('from', text)
  return ticks === undefined ? undefined : millisecondsOfTicks(ticks)
}

/** `2027-01-31 00:00:00`, UTC. */
export function timestampText(ms: number | undefined): string {
  return ms === undefined ? '' : formatTicks(ticksOfMilliseconds(ms)).slice(0, 19).replace('T', ' ')
}

/** The same, of a time in UTC as the service writes it. */
export function timeText(written: string): string {
  return written.slice(0, 19).replace('T', ' ')
}

/** `2027-01-31 09:00 to 11:00`, of the beginning of an hour and the end of that or of a later one. */
export function hoursText(from: string, to: string): string {
  const [begin, end] = [timeText(from).slice(0, 16), timeText(to).slice(0, 16)]
  return `${begin} to ${begin.slice(0, 10) === end.slice(0, 10) ? end.slice(11) : end}`
}

/** For JSON: ISO 8601 with `Z`, or null. */
export function timestampJson(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}

export const pastTimeHelp =
  'a time ago such as 12h, 90d or 52w, a UTC date such as 2026-01-31, or a time such as 2026-01-31T09:30+01:00'

/**
 * A time ago, or a date with or without a time in the forms of `from` and `to` (D5), as milliseconds since 1970. For `to` the first
 * millisecond after what is written. `undefined`: neither.
 */
export function readPastTimestamp(bound: 'from' | 'to', text: string, nowMs: number): number | undefined {
  const agoMs = readDuration(text)
  if (agoMs !== undefined) return nowMs - agoMs
  const ticks = parseWindowBound(bound, text)
  return ticks === undefined ? undefined : millisecondsOfTicks(ticks)
}

export const durationHelp = 'a time such as 12h, 7d or 2w'

/** A length of time, in milliseconds. */
export function readDuration(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^([0-9]+)([hdw])$/.exec(text) ?? []
  const count = readWholeNumber(digits, { from: 1, to: 99_999 })
  return count === undefined ? undefined : count * (unitMs[unit] ?? 0)
}
