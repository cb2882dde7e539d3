/**
 * Timestamps of the contract (spec §2.1): `YYYY-MM-DDTHH:mm:ss.fffffff`, UTC, no zone designator, 27 characters.
 * One unit of the last digit is a *tick*: 100 ns. Ticks since 1970 exceed 2^53 (today about 1.8e16), hence `bigint`.
 */

/** 100-nanosecond ticks since 1970-01-01T00:00:00Z. */
export type Ticks = bigint

export const ticksPerMillisecond = 10_000n
export const ticksPerSecond = 10_000_000n

/** Milliseconds since 1970 (as `Date.now()` gives them) in ticks. Fractions of a millisecond are kept to the tick. */
export function ticksOfMilliseconds(ms: number): Ticks {
  const whole = Math.floor(ms)
  return BigInt(whole) * ticksPerMillisecond + BigInt(Math.floor((ms - whole) * 10_000))
}

/** The last whole millisecond at or before the tick. */
export function millisecondsOfTicks(ticks: Ticks): number {
  const towardsZero = Number(ticks / ticksPerMillisecond)
  return ticks < 0n && ticks % ticksPerMillisecond !== 0n ? towardsZero - 1 : towardsZero
}

const minuteMs = 60_000

/** The text of a minute, from `YYYY` to the colon after `mm`, so that a date is worked out once a minute and not for each event. */
let latestMinute = { ms: Number.NaN, text: '' }

/** The 27-character text of a tick. The order of the texts is the order of the ticks. */
export function formatTicks(ticks: Ticks): string {
  const ms = Math.floor(millisecondsOfTicks(ticks) / minuteMs) * minuteMs
  // toISOString gives 'YYYY-MM-DDTHH:mm:ss.mmmZ'; seconds and their seven digits replace what follows the minute.
  if (latestMinute.ms !== ms) latestMinute = { ms, text: new Date(ms).toISOString().slice(0, 17) }
  const digits = String(Number(ticks - BigInt(ms) * ticksPerMillisecond)).padStart(9, '0')
  return `${latestMinute.text}${digits.slice(0, 2)}.${digits.slice(2)}`
}

/** Reads a 27-character `createdDate`. `undefined` for anything else, dates that do not exist included. */
export function parseCreatedDate(text: string): Ticks | undefined {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}$/.test(text) ? parseMoment(text)?.start : undefined
}

/** An instant as written: its first tick, and how many ticks its last written digit covers. */
interface Moment {
  readonly start: Ticks
  readonly length: Ticks
}

/**
 * The forms of D5. A space in place of an offset's sign is a `+` that the client did not percent-encode: decoding a
 * query turns it into a space.
 */
const momentPattern =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:[Zz]|([+ -])(\d\d)(?::?(\d\d))?)?)?$/

/**
 * The texts that `parseWindowBound` accepts, as a regular expression for descriptions of the service. It does not
 * exclude dates that do not exist.
 */
export const windowBoundPattern: string = momentPattern.source

function parseMoment(text: string): Moment | undefined {
  const match = momentPattern.exec(text)
  if (match === null) return undefined
  const date = utcDate(match)
  const offsetMinutes = offsetOf(match)
  if (date === undefined || offsetMinutes === undefined) return undefined
  const ms = date.getTime() - offsetMinutes * 60_000
  // Digits after the seventh lie within the tick that the first seven name; they are cut off, and the window widens to
  // that whole tick.
  const fraction = match[7]?.slice(0, 7) ?? ''
  const start = BigInt(ms) * ticksPerMillisecond + BigInt(fraction.padEnd(7, '0'))
  return { start, length: lengthOf(match, fraction.length) }
}

/** The date and time of the text as if it were UTC. `undefined`: there is no such date or time. */
function utcDate(match: RegExpExecArray): Date | undefined {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0))
  if (year === 0 || hour > 23 || minute > 59 || second > 59) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second)
  // Date turns 30 February into a day in March, so the result is compared with the text.
  const same = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  return same ? date : undefined
}

/** Minutes ahead of UTC, 0 without an offset. `undefined`: beyond 23:59, or no minute of an hour. */
function offsetOf(match: RegExpExecArray): number | undefined {
  const [sign, hours, minutes] = [match[8], Number(match[9] ?? 0), Number(match[10] ?? 0)]
  if (hours > 23 || minutes > 59) return undefined
  return (sign === '-' ? -1 : 1) * (hours * 60 + minutes)
}

/** The ticks that the last written digit covers. */
function lengthOf(match: RegExpExecArray, fractionDigits: number): Ticks {
  if (match[4] === undefined) return 86_400n * ticksPerSecond
  if (match[6] === undefined) return 60n * ticksPerSecond
  return 10n ** BigInt(7 - fractionDigits)
}

/**
 * A `from` or `to` of a request (D5): `YYYY-MM-DD`, alone or with a space or `T` and `HH:mm` or `HH:mm:ss`, fraction
 * digits, then `Z` or an offset such as `+01:00`, `+0100` or `+01`; without either it is UTC. `T` and `Z` can be lower case; digits after
 * the seventh are cut off so that the window widens. A `from` is the instant written; a `to` is the first tick *after*
 * the interval that its last written digit covers, so a window is always `from <= createdDate < to`. `undefined`: not
 * such a text, or no such date.
 */
export function parseWindowBound(bound: 'from' | 'to', text: string): Ticks | undefined {
  const moment = parseMoment(text)
  if (moment === undefined) return undefined
  return bound === 'from' ? moment.start : moment.start + moment.length
}
