/** Services, energy, access and risks of a home, with the oddities that the spec lists (§2.6) in some of them. */
import type { PropertyPayload } from '@property-events/protocol'
import { marketData, type SoldHome } from './load-data.ts'
import type { Facts } from './phrases.ts'
import type { Random } from './random.ts'

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

export function traitsOf(random: Random, sold: SoldHome, bedrooms: number): Traits {
  const { words } = marketData()
  const flat = sold.type === 'F'
  const band = bands[Math.min(7, bedrooms - 1 + (sold.area === 'london-sw19' ? 2 : 0))] ?? 'H'
  const energy = energyOf(random, sold.newBuild)
  const floods = random.chance(0.12)
  const risks = {
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
