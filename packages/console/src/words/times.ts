/** Times as text. The service's times are UTC; people read local ones. */

/**
 * The milliseconds since 1970 of a time from the service: `2026-01-31T09:30:00.1234567`, which is UTC without saying so (PROTOCOL §1.4),
 * or with a `Z`. `undefined` for anything else.
 */
export function readTime(text: string | null | undefined): number | undefined {
  const match = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))?Z?$/.exec(text ?? '')
  if (match === null) return undefined
  const [, day, time, fraction = ''] = match
  const ms = Date.parse(
    `${day}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`.replace(/T(\d\d:\d\d)\./, 'T$1:00.'),
  )
  return Number.isNaN(ms) ? undefined : ms
}

/** `2026-01-31 09:30:00 UTC`, for whoever points at a time. */
export function utcText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** `31 Jan 09:30:00` in the reader's time zone, with the year if it differs from that of `nowMs`. */
export function localText(ms: number, nowMs: number): string {
  const time = new Date(ms)
  const isThisYear = time.getFullYear() === new Date(nowMs).getFullYear()
  const day = `${time.getDate()} ${months[time.getMonth()]}${isThisYear ? '' : ` ${time.getFullYear()}`}`
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

function two(number: number): string {
  return String(number).padStart(2, '0')
}

/** `12 s ago`, `3 min ago`, `4 h ago`, `62 d ago`; `now` for less than a second; `in 6 d` for the future. */
export function ageText(ms: number, nowMs: number): string {
  const seconds = Math.round(Math.abs(nowMs - ms) / 1_000)
  if (seconds < 1) return 'now'
  const text = spanText(seconds)
  return ms > nowMs ? `in ${text}` : `${text} ago`
}

/** A length of time in its largest unit: `45 s`, `3 min`, `4 h`, `62 d`, `7 y`. */
export function spanText(seconds: number): string {
  if (seconds < 60) return `${Math.floor(seconds)} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3_600)} h`
  if (seconds < 2 * yearSeconds) return `${Math.floor(seconds / 86_400)} d`
  return `${Math.floor(seconds / yearSeconds)} y`
}

const yearSeconds = 365 * 86_400

/** The same within a sentence: `62 days`. */
export function longSpanText(seconds: number): string {
  return spanText(seconds).replace(/ d$/, ' days').replace(/ y$/, ' years')
}

/**
 * A moment that somebody typed in local time, as milliseconds: `2026-03-01 09:00`, `2026-03-01`, `09:00` for today, or a time with a `Z`
 * or offset. `undefined` for anything else, and for a day that does not exist.
 */
export function readMoment(typed: string, nowMs: number): number | undefined {
  const text = typed.trim().replace(/\s+/g, ' ')
  const clock = /^(\d{1,2}):(\d\d)(?::(\d\d))?$/.exec(text)
  if (clock !== null) {
    const [, hours = '', minutes = '', seconds = '0'] = clock
    if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined
    return new Date(nowMs).setHours(Number(hours), Number(minutes), Number(seconds), 0)
  }
  const match =
    /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?(Z|[+-]\d\d(?::?\d\d)?)?$/i.exec(
      text,
    )
  if (match === null) return undefined
  const [, year = '', month = '', day = '', hours = '0', minutes = '0', seconds = '0', fraction = '', zone] =
    match
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'))
  const numbers = [
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hours),
    Number(minutes),
    Number(seconds),
    ms,
  ] as const
  const utc = new Date(Date.UTC(...numbers))
  const exists =
    utc.getUTCMonth() === numbers[1] && utc.getUTCDate() === numbers[2] && utc.getUTCHours() === numbers[3]
  if (!exists || numbers[4] > 59 || numbers[5] > 59) return undefined
  return zone === undefined ? new Date(...numbers).getTime() : utc.getTime() - offsetMs(zone)
}

function offsetMs(zone: string): number {
  if (zone.toUpperCase() === 'Z') return 0
  const digits = zone.slice(1).replace(':', '')
  const [hours, minutes] = [Number(digits.slice(0, 2)), Number(digits.slice(2))]
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

/**
 * The value of a browser's field for a day and time, from a time in an address: in the reader's time zone, without seconds. A day alone
 * is a UTC day, as for the service, and `isEnd` means its last minute. Empty for anything that is not a time.
 */
export function fieldTime(text: string | undefined, isEnd = false): string {
  const ms = readTime(text?.length === 10 ? `${text}T${isEnd ? '23:59' : '00:00'}` : text)
  if (ms === undefined) return ''
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** `2026-03-01T09:30Z` from such a field: the same moment for every reader. `undefined` for an empty field. */
export function addressTime(held: string): string | undefined {
  const ms = readMoment(held, 0)
  return ms === undefined ? undefined : `${new Date(ms).toISOString().slice(0, 16)}Z`
}
