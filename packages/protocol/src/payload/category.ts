import type { Category } from '../feeds.ts'
import { memberAt } from './member-at.ts'

/** The members that show that a payload is about a letting (D23), if they say something. */
const lettingsSigns: readonly (readonly string[])[] = [
  ['price_information', 'rent_frequency'],
  ['price_information', 'deposit'],
  ['contract_months'],
  ['let_type'],
  ['minimum_term'],
  ['details', 'furnished_type'],
  ['details', 'deposit_replacement_scheme'],
]

const letAgreed = 6

/**
 * True when a property payload can only be about a letting, for events that do not say so (D23): one of seven lettings
 * fields says something, or its status is 6, Let Agreed.
 */
export function impliesLettings(payload: unknown): boolean {
  if (memberAt(payload, ['status']) === letAgreed) return true
  return lettingsSigns.some((path) => saysSomething(memberAt(payload, path)))
}

/**
 * Whether a field of one category shows that a property is in it. Typed senders write 0 or false into fields that they did not fill in,
 * and 0 is RTDF's "not specified".
 */
export function saysSomething(value: unknown): boolean {
  return typeof value === 'number' ? value > 0 : value === true
}

/** Pounds. Lower ones are placeholders, as in guide prices of auctions. */
const lowestPrice = 10
/** Pounds. Few homes are sold for less, and few rents without a frequency are higher. */
const lowestSale = 10_000
/** Pounds, at least four times a year. */
const highestRent = 100_000
const yearly = 1

/** What the price of a property looks like; `undefined`: nothing can be said. It decides nothing, because there are garages and palaces. */
export function priceLooksLike(payload: unknown): Category | undefined {
  const price = memberAt(payload, ['price_information', 'price'])
  if (typeof price !== 'number' || price < lowestPrice) return undefined
  const frequency = memberAt(payload, ['price_information', 'rent_frequency'])
  if (saysSomething(frequency)) return frequency !== yearly && price >= highestRent ? 'sales' : 'lettings'
  if (memberAt(payload, ['price_information', 'auction']) === true) return 'sales'
  return price >= lowestSale ? 'sales' : 'lettings'
}
