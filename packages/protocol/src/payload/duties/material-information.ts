/** What buyers and tenants need to know of a home, and whether a payload states it. Stated as none (0, false, a code for none) is stated. */
import type { MaterialFact } from '../../../schemas/wire.ts'
import type { Category } from '../../feeds.ts'
import { memberAt } from '../member-at.ts'

/** Whose adverts state it: of homes to let, of homes for sale, of all, or of leaseholds for sale; `always`: of land and parking too. */
type Of = 'always' | 'homes' | 'lettings' | 'sales' | 'leaseholds'

interface Fact {
  readonly name: string
  readonly of: Of
  /** Where it is stated; the first place is the one that is named. */
  readonly paths: readonly (readonly string[])[]
  readonly isStated: (value: unknown) => boolean
}

const leasehold = 2

const isText = (value: unknown) => typeof value === 'string' && value.trim() !== ''
const isNumber = (value: unknown) => typeof value === 'number'
const isAboveZero = (value: unknown) => typeof value === 'number' && value > 0
const isFlag = (value: unknown) => typeof value === 'boolean'
/** An empty list says nothing: "none" has a code of its own. */
const isFilled = (value: unknown) => Array.isArray(value) && value.some((item) => item !== null)
const isTextOrNumber = (value: unknown) => isText(value) || isNumber(value)

const money = (member: string) => [['price_information', member]]
const detail = (member: string) => [['details', member]]
const obligation = (...names: readonly string[]) => names.map((name) => ['details', 'obligations', name])

/** 19 facts, so one warning has at most 20 pointers. */
const facts: readonly Fact[] = [
  { name: 'price', of: 'always', paths: money('price'), isStated: isAboveZero },
  { name: 'deposit', of: 'lettings', paths: money('deposit'), isStated: isNumber },
  { name: 'tenure', of: 'sales', paths: money('tenure_type'), isStated: isAboveZero },
  {
    name: 'years left on the lease',
    of: 'leaseholds',
    paths: money('tenure_unexpired_years'),
    isStated: isAboveZero,
  },
  { name: 'ground rent', of: 'leaseholds', paths: money('annual_ground_rent'), isStated: isNumber },
  { name: 'service charge', of: 'leaseholds', paths: money('annual_service_charge'), isStated: isNumber },
  {
    name: 'council tax band',
    of: 'homes',
    paths: [...detail('council_tax_band'), ...detail('council_tax_exempt'), ...detail('domestic_rates')],
    isStated: (value) => isTextOrNumber(value) || value === true,
  },
  {
    name: 'EPC rating',
    of: 'homes',
    paths: [['details', 'epc_information', 'current_energy_rating']],
    isStated: isTextOrNumber,
  },
  { name: 'property type', of: 'homes', paths: [['property_type']], isStated: isAboveZero },
  {
    name: 'rooms',
    of: 'homes',
    paths: [...detail('bedrooms'), ...detail('rooms')],
    isStated: (value) => isNumber(value) || isFilled(value),
  },
  { name: 'parking', of: 'homes', paths: detail('parking'), isStated: isFilled },
  { name: 'heating', of: 'homes', paths: detail('heating'), isStated: isFilled },
  { name: 'water', of: 'homes', paths: detail('water'), isStated: isText },
  { name: 'electricity', of: 'homes', paths: detail('electricity'), isStated: isFilled },
  { name: 'sewerage', of: 'homes', paths: detail('sewerage'), isStated: isText },
  { name: 'broadband', of: 'homes', paths: detail('broadband'), isStated: isFilled },
  {
    name: 'flood risk',
    of: 'always',
    paths: [
      ['risks', 'flooded_in_last_five_years'],
      ['risks', 'sources_of_flooding'],
      ['details', 'risks', 'flooded_in_last_five_years'],
      ['details', 'risks', 'sources_of_flooding'],
      ['details', 'sources_of_flooding'],
    ],
    isStated: (value) => isFlag(value) || isFilled(value),
  },
  {
    name: 'restrictions',
    of: 'always',
    paths: obligation('Restrictions', 'restrictions'),
    isStated: isFlag,
  },
  {
    name: 'rights of way',
    of: 'always',
    paths: obligation('RightOfWay', 'rights_of_way'),
    isStated: isFlag,
  },
]

/** Where an advert states each of them, in the order of a warning's pointers. */
export const materialPointers: readonly string[] = facts.map(({ paths: [first = []] }) => pointerOf(first))

/** What a payload does not state. */
export interface Unstated {
  readonly names: string
  readonly pointers: readonly string[]
}

/** Most properties of an agency lack the same facts, so what is said of them is kept. */
const known = new Map<number, Unstated>()
const knownAtMost = 1000

/**
 * What the advert of this property does not state; `undefined`: nothing is missing.
 *
 * @param category `undefined`: it is not known, and only what all adverts state is looked at.
 * @param isHome False for land and parking.
 */
export function unstatedOf(
  payload: unknown,
  category: Category | undefined,
  isHome: boolean,
): Unstated | undefined {
  const isOf = whoseAdverts(payload, category, isHome)
  let missing = 0
  for (let index = 0, bit = 1; index < facts.length; index += 1, bit *= 2) {
    const fact = facts[index]
    if (fact !== undefined && isOf[fact.of] && !isStated(payload, fact)) missing += bit
  }
  return missing === 0 ? undefined : unstated(missing)
}

function whoseAdverts(
  payload: unknown,
  category: Category | undefined,
  isHome: boolean,
): Readonly<Record<Of, boolean>> {
  const isLeasehold =
    category === 'sales' && memberAt(payload, ['price_information', 'tenure_type']) === leasehold
  return {
    always: true,
    homes: isHome,
    lettings: isHome && category === 'lettings',
    sales: category === 'sales',
    leaseholds: isLeasehold,
  }
}

/** All that the advert of this property states, or should state. The parameters are those of `unstatedOf`. */
export function materialFacts(
  payload: unknown,
  category: Category | undefined,
  isHome: boolean,
): MaterialFact[] {
  const isOf = whoseAdverts(payload, category, isHome)
  return facts.flatMap((fact) => {
    const stated = isStated(payload, fact)
    if (!stated && !isOf[fact.of]) return []
    const found = fact.paths.map((path) => ({ pointer: pointerOf(path), value: memberAt(payload, path) }))
    const values = found.filter(({ value }) => value !== undefined)
    return [{ name: fact.name, pointer: pointerOf(fact.paths[0] ?? []), stated, values }]
  })
}

function pointerOf(path: readonly string[]): string {
  return `/${path.join('/')}`
}

function isStated(payload: unknown, { paths, isStated: states }: Fact): boolean {
  return paths.some((path) => states(memberAt(payload, path)))
}

/** One bit for each fact. */
function unstated(missing: number): Unstated {
  const held = known.get(missing)
  if (held !== undefined) return held
  const isLacking = (_: unknown, index: number) => Math.floor(missing / 2 ** index) % 2 === 1
  const lacking = facts.filter(isLacking)
  const made = {
    names: lacking.map(({ name }) => name).join(', '),
    pointers: materialPointers.filter(isLacking),
  }
  if (known.size < knownAtMost) known.set(missing, made)
  return made
}
