/** Addresses that cannot be real, in real towns. */
import { marketData, type Place } from './load-data.ts'
import type { Random } from './random.ts'

/** The address of a home, as the payload shows it (spec §2.4, and RTDF's position). */
export interface HomeAddress {
  readonly house_name_number: string
  readonly address_2: string
  readonly address_3: string
  readonly address_4: string | null
  readonly town: string
  readonly postcode_1: string
  readonly postcode_2: string
  readonly display_address: string
  readonly latitude: number
  readonly longitude: number
}

/** No inward code has these letters, so a postcode made with them leads to nobody's door. */
const unusedLetters = ['C', 'I', 'K', 'M', 'O', 'V'] as const

/** An address in the place. `street` is the name alone, as texts use it. */
export function inventAddress(
  random: Random,
  place: Place,
  flat: boolean,
): { readonly street: string; readonly address: HomeAddress } {
  const { words, centres } = marketData()
  const street = `${random.pick(words['streetFirst'] ?? [])} ${random.pick(words['streetLast'] ?? [])}`
  const number = String(random.integer(1, 180))
  const building = flat && random.chance(0.6) ? random.pick(words['building'] ?? []) : undefined
  const [latitude, longitude] = centres.get(place.outcode) ?? [0, 0]
  return {
    street,
    address: {
      house_name_number: houseNumber(random, flat, number),
      address_2: building ?? (flat ? `${number} ${street}` : street),
      address_3: building === undefined ? (random.chance(0.5) ? '' : place.locality) : street,
      address_4: building === undefined ? null : place.locality,
      town: place.town,
      postcode_1: place.outcode,
      postcode_2: inventInwardCode(random),
      display_address: [building, street, place.locality, place.town].filter(Boolean).join(', '),
      latitude: degrees(latitude + (random.fraction() - 0.5) * 0.018),
      longitude: degrees(longitude + (random.fraction() - 0.5) * 0.028),
    },
  }
}

/** A digit and two letters, such as `4KV`. */
function inventInwardCode(random: Random): string {
  return `${random.integer(0, 9)}${random.pick(unusedLetters)}${random.pick(unusedLetters)}`
}

function houseNumber(random: Random, flat: boolean, number: string): string {
  if (flat) return `${random.pick(['Flat', 'Apartment'])} ${random.integer(1, 60)}`
  return random.chance(0.06) ? random.pick(marketData().words['houseName'] ?? []) : number
}

/** Six decimals, about 10 cm. */
function degrees(value: number): number {
  return Math.round(value * 1e6) / 1e6
}
