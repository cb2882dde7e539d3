/** Where a property is. */
import type { PropertyAddress } from '../payload/address-and-price.ts'
import { plainText } from './entities.ts'
import type { ReadText } from './named.ts'

export interface ListingAddress {
  /** As the agency wants it shown; if it says nothing, the lines without house name and number. */
  readonly display: string | null
  /**
   * Everything known, each once: house, street and so on, town, postcode; a house's number in front of its street. Not all agencies want the
   * house shown.
   */
  readonly lines: readonly string[]
  readonly town: string | null
  /** `SW19 3AB`, or the outward part alone; capitals. */
  readonly postcode: string | null
  /** `null` if the payload has no position, half of one, or an impossible one: outside the globe, or 0, 0. */
  readonly position: { readonly latitude: number; readonly longitude: number } | null
}

export function addressOf(address: PropertyAddress | null): ListingAddress {
  const { display, postcode } = shownAddressOf(address, plainText)
  const street = plainText(address?.address_2)
  const town = plainText(address?.town)
  const rest = [plainText(address?.address_3), plainText(address?.address_4), town, postcode ?? '']
  const lines = eachOnce([...houseAndStreet(plainText(address?.house_name_number), street), ...rest])
  return { display, lines, town: town || null, postcode, position: positionOf(address) }
}

/** `12`, `12a`, `12-14`, `1/2`, `7 & 9`, also after something else: `Flat 3, 12`. */
const numberAtEnd = /^(?:.*, ?)?(\d{1,5}(?: ?[a-z])?(?: ?[-–/&] ?\d{1,5}(?: ?[a-z])?){0,3})$/iu

/** "12" belongs in front of its street, "Rose Cottage" on a line of its own; neither is said twice. */
function houseAndStreet(house: string, street: string): readonly string[] {
  if (street === '' || beginsWith(street, house)) return [street || house]
  const [, number = ''] = numberAtEnd.exec(house) ?? []
  if (number === '') return [house, street]
  const before = house.slice(0, house.length - number.length)
  return [beginsWith(street, number) ? `${before}${street}` : `${house} ${street}`]
}

function positionOf(address: PropertyAddress | null): ListingAddress['position'] {
  const latitude = address?.latitude ?? null
  const longitude = address?.longitude ?? null
  if (latitude === null || longitude === null) return null
  const isOnGlobe = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180
  return isOnGlobe && (latitude !== 0 || longitude !== 0) ? { latitude, longitude } : null
}

/** Whether a text begins with whole words, in any case. */
function beginsWith(text: string, words: string): boolean {
  return words !== '' && begins(text, words, wordEnd)
}

interface ShownAddress {
  /** As the agency wants it shown; if it says nothing, the lines without house name and number. */
  readonly display: string | null
  /** `SW19 3AB`, or the outward part alone; capitals. */
  readonly postcode: string | null
}

/** What a list shows of an address. */
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
function eachOnce(lines: readonly string[]): readonly string[] {
  const found: string[] = []
  for (const line of lines) {
    if (line !== '' && !found.some((other) => isSame(other, line))) found.push(line)
  }
  return found
}

function isSame(text: string, other: string): boolean {
  return text === other || (text.length === other.length && begins(text, other, lineEnd))
}

const lineEnd = '$'
const wordEnd = String.raw`(?![\p{L}\p{N}])`
const plain = /^[ -~]*$/

/** By an expression, as in PHP, which knows all capitals in no other way; plain letters save one for each pair. */
function begins(text: string, words: string, end: string): boolean {
  if (plain.test(text) && plain.test(words)) {
    const isEnded = !(end === lineEnd ? /^./ : /^[^\W_]/).test(text.slice(words.length))
    return isEnded && words.length <= 200 && text.toLowerCase().startsWith(words.toLowerCase())
  }
  const isShort = /^.{0,200}$/su.test(words)
  const quoted = words.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  return isShort && new RegExp(`^${quoted}${end}`, 'iu').test(text)
}
