/**
 * Readers for the kinds of field in a payload. Each accepts any value and gives the field's value or null: absent and
 * null mean the same to a consumer. Deviations from the contract are reported, corrected where their meaning is clear,
 * and left out where it is not.
 */
import { isObject } from '../decode.ts'
import type { ReportQuirk } from './read-payload.ts'
import { readDate } from './wall-time.ts'
import type { WallTime } from './wall-time.ts'

/** Reads the value at a pointer of a payload. */
export type Read<T> = (value: unknown, pointer: string, report: ReportQuirk) => T

/** Member name → how to read it. */
type Fields = Readonly<Record<string, Read<unknown>>>

/** The result of reading these fields: every member is there. */
export type Values<F extends Fields> = { readonly [Name in keyof F]: ReturnType<F[Name]> }

export const text: Read<string | null> = (value, pointer, report) => {
  if (value === undefined || value === null) return null
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') {
    report('converted', pointer, `a ${typeof value} where a text belongs`)
    return String(value)
  }
  report('wrong_type', pointer, 'not a text')
  return null
}

/** A number or code that agencies send in either form. */
export const textOrNumber: Read<string | null> = (value, pointer, report) =>
  typeof value === 'number' ? String(value) : text(value, pointer, report)

export const decimal: Read<number | null> = (value, pointer, report) => {
  if (value === undefined || value === null) return null
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (typeof value === 'string' && /^\s*-?\d{1,15}(\.\d{1,15})?\s*$/.test(value)) {
    report('converted', pointer, 'a number written as a text')
    return Number(value)
  }
  if (value !== '') report('wrong_type', pointer, 'not a number')
  return null
}

export const integer: Read<number | null> = (value, pointer, report) => {
  const number = decimal(value, pointer, report)
  if (number === null || Number.isSafeInteger(number)) return number
  report('wrong_type', pointer, 'not a whole number')
  return null
}

export const flag: Read<boolean | null> = (value, pointer, report) => {
  if (value === undefined || value === null) return null
  if (typeof value === 'boolean') return value
  const word = typeof value === 'string' || typeof value === 'number' ? String(value).toLowerCase() : ''
  if (word === 'true' || word === '1' || word === 'false' || word === '0') {
    report('converted', pointer, 'true or false written as another type')
    return word === 'true' || word === '1'
  }
  if (value !== '') report('wrong_type', pointer, 'not true or false')
  return null
}

/** Europe/London wall time; see `WallTime`. */
export const date: Read<WallTime | null> = readDate

/** A list without nulls and elements that cannot be read; an absent one is empty. */
export function listOf<T>(element: Read<T | null>): Read<readonly T[]> {
  return (value, pointer, report) => {
    if (value === undefined || value === null) return []
    if (!Array.isArray(value)) {
      report('wrong_type', pointer, 'not a list')
      return []
    }
    if (value.includes(null)) report('null_element', pointer, 'has null elements')
    return value.flatMap((item, index) => element(item, `${pointer}/${index}`, report) ?? [])
  }
}

/** A list of codes, each once, in the order of the payload. */
export function codesOf<T>(element: Read<T | null>): Read<readonly T[]> {
  const read = listOf(element)
  return (value, pointer, report) => {
    const codes = read(value, pointer, report)
    const distinct = [...new Set(codes)]
    if (distinct.length < codes.length) report('repeated_element', pointer, 'names a code more than once')
    return distinct
  }
}

/** An object with these members; null for anything else. */
export function record<F extends Fields>(fields: F): Read<Values<F> | null> {
  return (value, pointer, report) => {
    if (value === undefined || value === null) return null
    if (isObject(value)) return readMembers(fields, value, pointer, report)
    report('wrong_type', pointer, 'not an object')
    return null
  }
}

/** Every member of `fields`, read from the object. */
export function readMembers<F extends Fields>(
  fields: F,
  value: Readonly<Record<string, unknown>>,
  pointer: string,
  report: ReportQuirk,
): Values<F>
export function readMembers(
  fields: Fields,
  value: Readonly<Record<string, unknown>>,
  pointer: string,
  report: ReportQuirk,
): unknown {
  // Copied: filling an empty object is slow.
  const members: Record<string, unknown> = { ...fields }
  for (const [name, read] of Object.entries(fields)) {
    const member = Object.hasOwn(value, name) ? value[name] : undefined
    members[name] = read(member, `${pointer}/${name}`, report)
  }
  return members
}
