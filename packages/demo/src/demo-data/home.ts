/** The lasting facts of a home: what stays the same each time it comes to the market. */
import type { PropertyPayload } from '@property-events/protocol'
import { traitsOf } from './home-traits.ts'
import { type Area, marketData, type Place, type SoldHome, type SoldType } from './load-data.ts'
import { type HomeAddress, inventAddress } from './address.ts'
import type { Facts } from './phrases.ts'
import type { Random } from './random.ts'
import { type MarketTenant, tenantOfArea } from './tenants.ts'

export interface Home {
  readonly tenant: MarketTenant
  /** UUID, the subject of its events (D16). */
  readonly agentRef: string
  /** The agency's own reference. */
  readonly reference: string
  readonly serviceReference: string
  readonly place: Place
  readonly address: HomeAddress
  readonly propertyType: number
  readonly flat: boolean
  readonly newHome: boolean
  readonly bedrooms: number
  readonly bathrooms: number
  readonly receptionRooms: number
  readonly leasehold: boolean
  /** The lasting part of `details`. */
  readonly traits: NonNullable<PropertyPayload['details']>
  readonly risks: NonNullable<PropertyPayload['risks']>
  /** What texts say about it. */
  readonly facts: Facts
  /** What the addresses of its media begin with, without a slash at its end. */
  readonly mediaUrl: string
}

/** RTDF property type codes with the words for them, by the type of the sale. */
const styles: Readonly<Record<SoldType, readonly (readonly [number, string])[]>> = {
  D: [
    [4, 'detached house'],
    [4, 'detached family home'],
    [15, 'detached bungalow'],
    [21, 'link-detached house'],
  ],
  S: [
    [3, 'semi-detached house'],
    [3, 'semi-detached family home'],
    [14, 'semi-detached bungalow'],
  ],
  T: [
    [1, 'terraced house'],
    [1, 'mid-terrace home'],
    [2, 'end of terrace house'],
    [22, 'town house'],
    [23, 'cottage'],
  ],
  F: [
    [8, 'flat'],
    [28, 'apartment'],
    [7, 'ground floor flat'],
    [11, 'maisonette'],
    [29, 'penthouse'],
  ],
}

/** Pounds: about the median of the data, by area and type. */
const medianPrices: Readonly<Record<Area, Readonly<Record<SoldType, number>>>> = {
  'london-sw19': { D: 1_900_000, S: 950_000, T: 650_000, F: 355_000 },
  'greater-manchester': { D: 245_000, S: 199_000, T: 185_000, F: 160_000 },
  newcastle: { D: 355_000, S: 192_000, T: 165_000, F: 125_000 },
}

const typicalBedrooms: Readonly<Record<SoldType, number>> = { D: 4, S: 3, T: 3, F: 2 }

const numberWords = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven'] as const

/** Makes up everything the data does not say about a home that sold. */
export function makeHome(random: Random, sold: SoldHome, agentRef: string, mediaUrl: string): Home {
  const place = random.pick(marketData().surroundings[sold.area].places)
  const flat = sold.type === 'F'
  const [propertyType, style] = random.pick(styles[sold.type])
  const bedrooms = countBedrooms(random, sold)
  const { street, address } = inventAddress(random, place, flat)
  const tenant = tenantOfArea(sold.area)
  const { traits, risks, words } = traitsOf(random, sold, bedrooms)
  const bedroomsWord = numberWords[bedrooms] ?? String(bedrooms)
  return {
    tenant,
    agentRef,
    reference: `${tenant.initials}${random.integer(10_000, 99_999)}`,
    serviceReference: `${tenant.initials}-${place.outcode}-${random.integer(100_000, 999_999)}`,
    place,
    address,
    propertyType,
    flat,
    newHome: sold.newBuild,
    bedrooms,
    bathrooms: Math.max(1, bedrooms - random.integer(1, 2)),
    receptionRooms: flat ? 1 : random.integer(1, Math.max(1, bedrooms - 1)),
    leasehold: sold.leasehold,
    traits,
    risks,
    facts: {
      ...words,
      street,
      style,
      locality: place.locality,
      town: place.town,
      outcode: place.outcode,
      bedroomsWord,
      bedroomLabel: `${bedroomsWord} bedroom`,
    },
    mediaUrl,
  }
}

/** 1 to 7: dearer homes have more. */
function countBedrooms(random: Random, sold: SoldHome): number {
  const ratio = (sold.sales[0]?.pricePaid ?? 0) / medianPrices[sold.area][sold.type]
  const more = ratio > 1.7 ? 2 : ratio > 1.2 ? 1 : ratio < 0.75 ? -1 : 0
  return Math.min(7, Math.max(1, typicalBedrooms[sold.type] + more + (random.chance(0.2) ? 1 : 0)))
}
