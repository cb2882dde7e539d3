/** Where a property is. */
import type { PropertyAddress } from '../payload/address-and-price.ts'
import { plainText } from './entities.ts'
import { begins, eachOnce, shownAddressOf } from './shown-address.ts'

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
  return words !== '' && begins(text, words, String.raw`(?![\p{L}\p{N}])`)
}
