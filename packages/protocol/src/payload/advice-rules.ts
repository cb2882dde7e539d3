/**
 * The words in which advice tables are written: a table is a tree of rules with the shape of its payload. Rules skip
 * values that are absent, null or of a type that the contract does not allow: those are faults of the contract
 * (`find-faults.ts`).
 */
import type { CodeList } from './code-list.ts'
import { isShownAddress } from './web-address.ts'

/** What advice about duties by law can be about (`duties.ts`). Stable. */
export type DutyCode =
  | 'rent_not_specific'
  | 'rent_period_too_long'
  | 'fixed_term_advertised'
  | 'tenant_excluded'
  | 'material_information'

/** What advice can be about. Stable: programs may rely on these codes. */
export type PayloadAdviceCode =
  | 'unknown_code'
  | 'too_long'
  | 'too_short'
  | 'too_many_items'
  | 'repeated_item'
  | 'out_of_range'
  | 'bad_date'
  | 'bad_postcode'
  | 'bad_position'
  | 'bad_url'
  | 'bad_email'
  | 'bad_phone'
  | 'sales_only'
  | 'lettings_only'
  | 'consent_without_date'
  | 'unknown_field'
  | 'missing_price'
  | 'no_photographs'
  | DutyCode

/** A rule's complaint about a value; `message` continues a sentence that begins with the pointer. */
export interface Complaint {
  readonly code: PayloadAdviceCode
  readonly message: string
}

/** How messages show a value: in full or, for personal data, by its kind only. */
export type Show = (value: unknown) => string

interface ValueRule {
  readonly kind: 'value'
  /** Where the value is a code: the list it should be of. */
  readonly codes?: CodeList<number | string>
  check(value: unknown, show: Show): Complaint | undefined
}

export interface RecordRule {
  readonly kind: 'record'
  readonly members: readonly (readonly [string, Rule])[]
  /** A rule about one member in the light of others; complaints carry the name of the member they are about. */
  together?(members: Readonly<Record<string, unknown>>, show: Show): readonly (readonly [string, Complaint])[]
}

export interface ListRule {
  readonly kind: 'list'
  readonly maxItems: number
  /** What must not be in the list twice: of an item, or nothing. */
  readonly identity?: (item: unknown) => unknown
  readonly item?: Rule
}

export type Rule = ValueRule | RecordRule | ListRule

export function record(
  members: Readonly<Record<string, Rule>>,
  together?: NonNullable<RecordRule['together']>,
): RecordRule {
  const rule = { kind: 'record', members: Object.entries(members) } as const
  return together === undefined ? rule : { ...rule, together }
}

/** `unique`: no item may be in the list twice, or what `identity` gives of it; items of which that is `undefined` may. */
export function list(
  limits: { maxItems?: number; unique?: boolean; identity?: NonNullable<ListRule['identity']> },
  item?: Rule,
): ListRule {
  const {
    maxItems = Number.POSITIVE_INFINITY,
    unique = false,
    identity = unique ? itself : undefined,
  } = limits
  return {
    kind: 'list',
    maxItems,
    ...(identity === undefined ? {} : { identity }),
    ...(item === undefined ? {} : { item }),
  }
}

/** Of simple values. */
function itself(item: unknown): unknown {
  return item ?? undefined
}

/** A code of the list. */
export function codeIn<C extends number | string>(codes: CodeList<C>): ValueRule {
  const known = new Set<unknown>(codes.labels.keys())
  const advice =
    known.size > 30
      ? `is not a known ${codes.name} code`
      : `is not a known ${codes.name} code (${[...known].join(', ')})`
  const check: ValueRule['check'] = (sent, show) =>
    known.has(sent) ? undefined : { code: 'unknown_code', message: `${advice}; ${show(sent)} was sent` }
  return { kind: 'value', codes, check }
}

/** Words of any kind, or a code of the list. */
export function wordsOrCodeIn(codes: CodeList<number>): ValueRule {
  const code = codeIn(codes)
  return { ...code, check: (sent, show) => (typeof sent === 'number' ? code.check(sent, show) : undefined) }
}

/** A text with so many characters. */
export function textOf(min: number, max: number): ValueRule {
  return text((sent) => {
    if (sent.length < min) return { code: 'too_short', message: `should have at least ${min} characters` }
    return tooLong(sent, max)
  })
}

/** A number in a range, both ends included. */
export function between(min: number, max = Number.POSITIVE_INFINITY): ValueRule {
  const range = max === Number.POSITIVE_INFINITY ? `at least ${min}` : `from ${min} to ${max}`
  return value((sent, show) => {
    if (typeof sent !== 'number' || (sent >= min && sent <= max)) return undefined
    return { code: 'out_of_range', message: `should be ${range}; ${show(sent)} was sent` }
  })
}

/** `DD-MM-YYYY` of a day that exists. */
export const date: ValueRule = dated(isPayloadDate, 'DD-MM-YYYY')

/** `DD-MM-YYYY HH:mm:ss` of a day and time that exist. */
export const dateTime: ValueRule = dated(isPayloadDateTime, 'DD-MM-YYYY HH:mm:ss')

/** The outward part of a UK postcode, in either case. */
export const outwardCode: ValueRule = text((sent, show) => {
  return /^(?:[A-Z]{1,2}[0-9][A-Z0-9]?|GIR)$/i.test(sent)
    ? undefined
    : {
        code: 'bad_postcode',
        message: `should be the outward part of a postcode, such as SW19; ${show(sent)} was sent`,
      }
})

/** The inward part of a UK postcode, in either case. */
export const inwardCode: ValueRule = text((sent, show) => {
  return /^[0-9][A-Z]{2}$/i.test(sent)
    ? undefined
    : {
        code: 'bad_postcode',
        message: `should be the inward part of a postcode, such as 3AB; ${show(sent)} was sent`,
      }
})

/** An address that is shown, that every URL parser reads the same way, and that is no longer than `max`. */
export function webAddress(max: number): ValueRule {
  return text((sent, show) => {
    if (!isShownAddress(sent)) {
      return badUrl('a valid host and a port up to 65535', `${show(sent)} was sent, and is not shown`)
    }
    if (/[\s"<>\\^`{|}]/.test(sent)) {
      return badUrl('special characters percent-encoded', `${show(sent)} was sent, and is shown encoded`)
    }
    return tooLong(sent, max)
  })
}

/** A rule over one value of any type. */
export function value(check: ValueRule['check']): ValueRule {
  return { kind: 'value', check }
}

/** A rule over one string; other types pass. */
export function text(check: (sent: string, show: Show) => Complaint | undefined): ValueRule {
  return value((sent, show) => (typeof sent === 'string' ? check(sent, show) : undefined))
}

function dated(isDate: (text: string) => boolean, form: string): ValueRule {
  return text((sent, show) => {
    if (isDate(sent)) return undefined
    return {
      code: 'bad_date',
      message: `should be a date that exists, written ${form}; ${show(sent)} was sent`,
    }
  })
}

function badUrl(lacking: string, outcome: string): Complaint {
  return { code: 'bad_url', message: `should be a URL with ${lacking}; ${outcome}` }
}

function tooLong(sent: string, max: number): Complaint | undefined {
  // Code units are counted first: that costs nothing, and there are never fewer of them than characters.
  if (sent.length <= max) return undefined
  const length = Array.from(sent).length
  if (length <= max) return undefined
  return { code: 'too_long', message: `should have at most ${max} characters; it has ${length}` }
}

// Dates in payloads: day first, Europe/London wall time, kept as text (spec §2.7, D24). They are read digit by digit: a payload has a dozen
// dates, and regular expressions took a third of the time of all advice.

/** True for `DD-MM-YYYY` of a day that exists, from year 1 on: not for 30-02-2025 or 00-00-0000. */
function isPayloadDate(text: string): boolean {
  return text.length === 10 && startsWithDate(text)
}

/** True for `DD-MM-YYYY HH:mm:ss` of a day that exists and a time up to 23:59:59. */
function isPayloadDateTime(text: string): boolean {
  if (text.length !== 19 || text[10] !== ' ' || text[13] !== ':' || text[16] !== ':') return false
  return (
    startsWithDate(text) &&
    digitsAt(text, 11, 2) <= 23 &&
    digitsAt(text, 14, 2) <= 59 &&
    digitsAt(text, 17, 2) <= 59
  )
}

function startsWithDate(text: string): boolean {
  if (text[2] !== '-' || text[5] !== '-') return false
  const day = digitsAt(text, 0, 2)
  const year = digitsAt(text, 6, 4)
  return year >= 1 && day >= 1 && day <= daysOfMonth(year, digitsAt(text, 3, 2))
}

/** The number in so many digits, or NaN, with which no comparison is true. */
function digitsAt(text: string, start: number, count: number): number {
  let number = 0
  for (let index = start; index < start + count; index += 1) {
    const digit = text.charCodeAt(index) - 0x30
    number = digit >= 0 && digit <= 9 ? number * 10 + digit : Number.NaN
  }
  return number
}

const monthLengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** 0 for a month that does not exist. */
function daysOfMonth(year: number, month: number): number {
  const isLeapYear = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return month === 2 && isLeapYear ? 29 : (monthLengths[month - 1] ?? 0)
}
