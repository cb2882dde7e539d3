import {
  formatTicks,
  millisecondsOfTicks,
  parseWindowBound,
  readWholeNumber,
  ticksOfMilliseconds,
} from '@property-events/protocol'

const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 }

export const momentWords =
  'a time from now such as 12h, 90d or 52w, a UTC date such as 2027-01-31, or a time such as 2027-01-31T09:30+01:00'

/**
 * A time from now, or a date with or without a time in the forms of `from` (D5; UTC without an offset), as milliseconds
 * since 1970. `undefined`: neither.
 */
export function readMoment(text: string, nowMs: number): number | undefined {
  const [, digits = '', unit = ''] = /^([0-9]+)([hdw])$/.exec(text) ?? []
  const count = readWholeNumber(digits, { from: 1, to: 99_999 })
  if (count !== undefined) return nowMs + count * (unitMs[unit] ?? 0)
  const ticks = parseWindowBound('from', text)
  return ticks === undefined ? undefined : millisecondsOfTicks(ticks)
}

/** `2027-01-31 00:00:00`, UTC. */
export function momentText(ms: number | undefined): string {
  return ms === undefined ? '' : formatTicks(ticksOfMilliseconds(ms)).slice(0, 19).replace('T', ' ')
}

/** For JSON: ISO 8601 with `Z`, or null. */
export function momentJson(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}
