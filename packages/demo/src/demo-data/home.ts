/** The lasting facts of a home: what stays the same each time it comes to the market. */
import type { PropertyPayload } from '@property-events/protocol'
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

type Details = NonNullable<PropertyPayload['details']>

interface Traits {
  readonly traits: Details
  readonly risks: NonNullable<PropertyPayload['risks']>
  /** Words of the traits for texts. */
  readonly words: Facts
}

type Codes = readonly (readonly number[])[]
type Texts = readonly (readonly (string | null)[])[]

const accessChoices: Codes = [[], [], [], [37], [42], [37, 43], [38, 40], [38, 38], [37, 43, 37], [44]]
const heatingChoices: Codes = [[7], [7], [7, 3], [2, 3, 6], [5], [8], [12, 50], [7, 46]]
const broadbandChoices: Texts = [['fttc'], ['fttp'], ['fttp', 'cable'], ['adsl'], [null], [null, 'fttc'], []]
const electricityChoices: Texts = [['mains_supply'], ['mains_supply'], ['mains_supply', 'solar_pv_panels']]
const houseParking: Codes = [[17], [17, 16], [18, 17], [19], [20], [22], [17, 57]]
const flatParking: Codes = [[13], [14], [22], [20], [24, 18], [56]]
const houseOutside: Codes = [[29], [32, 34], [33, 36], [31], [29, 35]]
const flatOutside: Codes = [[30], [35], [], [36]]
const floodChoices: Texts = [['river'], ['groundwater'], [null], ['river', null], ['other']]
const bands = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'] as const
/** The least efficiency of each energy rating (England and Wales). */
const ratings = [
  ['A', 92],
  ['B', 81],
  ['C', 69],
  ['D', 55],
  ['E', 39],
  ['F', 21],
] as const

/** Services, energy, access and risks of a home, with the oddities that the spec lists (§2.6) in some of them. */
function traitsOf(random: Random, sold: SoldHome, bedrooms: number): Traits {
  const { words } = marketData()
  const flat = sold.type === 'F'
  const band = bands[Math.min(7, bedrooms - 1 + (sold.area === 'london-sw19' ? 2 : 0))] ?? 'H'
  const energy = energyOf(random, sold.newBuild)
  const floods = random.chance(0.12)
  const risks = {
    flooded_in_last_five_years: floods && random.chance(0.3),
    flood_defences: floods && random.chance(0.5),
    sources_of_flooding: floods ? random.pick(floodChoices) : [],
  }
  return {
    traits: {
      ...(flat ? { entrance_floor: random.integer(1, 6) } : { floors: random.integer(2, 3) }),
      accessibility: [...random.pick(accessChoices)],
      ...(random.chance(0.9) ? { heating: [...random.pick(heatingChoices)] } : {}),
      parking: [...random.pick(flat ? flatParking : houseParking)],
      outside_space: [...random.pick(flat ? flatOutside : houseOutside)],
      sewerage: random.chance(0.95) ? 'mains_supply' : null,
      ...(random.chance(0.9) ? { water: 'mains_supply' } : {}),
      ...(random.chance(0.9) ? { electricity: [...random.pick(electricityChoices)] } : {}),
      obligations: obligationsOf(random),
      epc_information: energy,
      ...(random.chance(0.2) ? risks : {}),
      broadband: [...random.pick(broadbandChoices)],
      council_tax_band: sold.newBuild ? 'TBC' : random.chance(0.08) ? null : band,
      internal_area: 24 + bedrooms * random.integer(16, 27),
      internal_area_unit: 2,
      condition: random.chance(0.3) ? random.integer(1, 3) : null,
    },
    risks,
    words: {
      aspect: random.pick(words['aspect'] ?? []),
      parkingText: random.pick(words[flat ? 'flatParkingText' : 'parkingText'] ?? []),
      band,
      rating: energy.current_energy_rating ?? 'D',
    },
  }
}

function obligationsOf(random: Random): NonNullable<Details['obligations']> {
  if (random.chance(0.2)) return []
  return {
    Listed: random.chance(0.05),
    Restrictions: random.chance(0.25),
    RequiredAccess: random.chance(0.1),
    RightOfWay: random.chance(0.12),
  }
}

function energyOf(random: Random, newBuild: boolean) {
  const current = newBuild ? random.integer(81, 94) : random.integer(34, 82)
  const potential = Math.min(96, current + random.integer(2, 26))
  const known = random.chance(0.9)
  return {
    epc_certificate_id: known && random.chance(0.7) ? certificateNumber(random) : null,
    current_energy_efficiency: known ? current : null,
    potential_energy_efficiency: known ? potential : null,
    current_energy_rating: known ? ratingOf(current) : null,
    potential_energy_rating: known ? ratingOf(potential) : null,
  }
}

/** The form of a certificate's number; made up, like all the rest. */
function certificateNumber(random: Random): string {
  const digits = () => String(random.integer(0, 9999)).padStart(4, '0')
  return `9999-${digits()}-${digits()}-${digits()}-${digits()}`
}

function ratingOf(efficiency: number): string {
  return ratings.find(([, least]) => efficiency >= least)?.[0] ?? 'G'
}
