/** What a list shows of an address. */
import type { PropertyAddress } from '../payload/address-and-price.ts'
import type { ReadText } from './read-text.ts'

interface ShownAddress {
  /** As the agency wants it shown; if it says nothing, the lines without house name and number. */
  readonly display: string | null
  /** `SW19 3AB`, or the outward part alone; capitals. */
  readonly postcode: string | null
}

export function shownAddressOf(address: PropertyAddress | null, read: ReadText): ShownAddress {
  const { address_2, address_3, address_4, town, display_address } = address ?? {}
  const shown = eachOnce([address_2, address_3, address_4, town].map(read)).join(', ')
  const postcode = postcodeOf(read(address?.postcode_1), read(address?.postcode_2))
  return { display: read(display_address) || shown || null, postcode: postcode || null }
}

/** A whole postcode, without its blank. */
const wholePostcode = /^([A-Z]{1,2}\d[A-Z\d]?|GIR)(\d[A-Z]{2})$/

/** Some programs write all of it into one of its two fields, or into both. */
function postcodeOf(outward: string, inward: string): string {
  const parts = [outward, inward].map((part) => part.replaceAll(/[a-z]+/g, (one) => one.toUpperCase()))
  const [first = '', second = ''] = parts.map((part) => part.replaceAll(' ', ''))
  const whole = [first, second].find(
    (part) => wholePostcode.test(part) && part.includes(first) && part.includes(second),
  )
  const [, out, end] = wholePostcode.exec(whole ?? first + second) ?? []
  return out === undefined ? eachOnce(parts).join(' ') : `${out} ${end}`
}

/** Without empty lines, and without those that say the same in other capitals. */
export function eachOnce(lines: readonly string[]): readonly string[] {
  const found: string[] = []
  for (const line of lines) {
    if (line !== '' && !found.some((other) => isSame(other, line))) found.push(line)
  }
  return found
}

function isSame(text: string, other: string): boolean {
  return text === other || (text.length === other.length && begins(text, other, '$'))
}

/** Compared by an expression, as in PHP, where no other way knows the capitals of all letters. */
export function begins(text: string, words: string, end: string): boolean {
  const isShort = /^.{0,200}$/su.test(words)
  const quoted = words.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  return isShort && new RegExp(`^${quoted}${end}`, 'iu').test(text)
}
