/** How dates stand in payloads: day first, Europe/London wall time, kept as text (spec §2.7, D24). */
const datePattern = /^(\d\d)-(\d\d)-(\d{4})$/
const timePattern = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/

/** True for `DD-MM-YYYY` of a day that exists, from year 1 on: not for 30-02-2025 or 00-00-0000. */
export function isPayloadDate(text: string): boolean {
  const match = datePattern.exec(text)
  if (match === null) return false
  const [day = 0, month = 0, year = 0] = match.slice(1).map(Number)
  return year >= 1 && day >= 1 && day <= daysOfMonth(year, month)
}

/** True for `DD-MM-YYYY HH:mm:ss` of a day that exists and a time up to 23:59:59. */
export function isPayloadDateTime(text: string): boolean {
  return (
    text.length === 19 &&
    text[10] === ' ' &&
    isPayloadDate(text.slice(0, 10)) &&
    timePattern.test(text.slice(11))
  )
}

/** 0 for a month that does not exist. */
function daysOfMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0
}
