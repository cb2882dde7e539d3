/** Where a property is. */
import type { PropertyAddress } from '../payload/address-and-price.ts'
import { plainText } from './entities.ts'

export interface ListingAddress {
  /** As the agency wants it shown; if it says nothing, the lines without house name and number. */
  readonly display: string | null
  /** Everything known, without repeats: house, street and so on, town, postcode. Not all agencies want the house shown. */
  readonly lines: readonly string[]
  readonly town: string | null
  /** `SW19 3AB`, or the outward part alone; capitals. */
  readonly postcode: string | null
  /** `null` if the payload has no position, half of one, or an impossible one: outside the globe, or 0, 0. */
  readonly position: { readonly latitude: number; readonly longitude: number } | null
}

export function addressOf(address: PropertyAddress | null): ListingAddress {
  const postcode = [address?.postcode_1, address?.postcode_2]
    .map(plainText)
    .filter(Boolean)
    .join(' ')
    .toUpperCase()
  const house = plainText(address?.house_name_number)
  const street = plainText(address?.address_2)
  const town = plainText(address?.town)
  // "12" belongs in front of its street, "Rose Cottage" on a line of its own.
  const first = /^\d+[A-Za-z]?$/.test(house) && street !== '' ? [`${house} ${street}`] : [house, street]
  const rest = [plainText(address?.address_3), plainText(address?.address_4), town, postcode]
  const lines = [...new Set([...first, ...rest])].filter((line) => line !== '')
  const shown = [...new Set([street, ...rest.slice(0, 3)])].filter((line) => line !== '').join(', ')
  return {
    display: plainText(address?.display_address) || shown || null,
    lines,
    town: town || null,
    postcode: postcode || null,
    position: positionOf(address),
  }
}

function positionOf(address: PropertyAddress | null): ListingAddress['position'] {
  const latitude = address?.latitude ?? null
  const longitude = address?.longitude ?? null
  if (latitude === null || longitude === null) return null
  const isOnGlobe = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180
  return isOnGlobe && (latitude !== 0 || longitude !== 0) ? { latitude, longitude } : null
}
