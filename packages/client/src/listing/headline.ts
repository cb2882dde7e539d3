/** What a list shows of a property: its place, price and status, without its texts and media. */
import { address, priceInformation } from '../payload/address-and-price.ts'
import { flag, integer, readMembers, record, text } from '../payload/read-fields.ts'
import type { Values } from '../payload/read-fields.ts'
import { readPayload } from '../payload/read-payload.ts'
import type { ListingAddress } from './address.ts'
import { asWritten, named, nameOf } from './named.ts'
import type { Named, ReadText } from './named.ts'
import { priceOf } from './price.ts'
import type { ListingPrice } from './price.ts'
import { shownAddressOf } from './address.ts'

/** What of a payload it is made of, and the signs of a letting (D23): a page that shows lists carries no reader of texts and media. */
const shown = {
  status: integer,
  statusstring: text,
  contract_months: integer,
  address: record(address),
  price_information: record(priceInformation),
  details: record({ furnished_type: integer, deposit_replacement_scheme: flag }),
  minimum_term: integer,
  let_type: integer,
  removal_reason: text,
}

/** A `Property` is one, too. */
type Shown = Values<typeof shown>

/** The members of a `Listing` with the same names. */
export interface Headline {
  readonly category: 'sales' | 'lettings'
  /** Its name is the payload's own text if the code is unknown. */
  readonly status: Named | null
  readonly price: ListingPrice
  readonly address: Pick<ListingAddress, 'display' | 'postcode'>
  /** In words, even if the payload has a code. */
  readonly removalReason: string | null
}

/**
 * Like `listing`, but smaller in a page: it reads no texts and media. Our own pages use it; it is not published separately. `undefined`
 * if the text is not a JSON object.
 */
export function headline(payload: string): Headline | undefined {
  const { value } = readPayload(payload, (object, report) => readMembers(shown, object, '', report))
  return value === undefined ? undefined : headlineOf(value, asWritten)
}

/** `category`: if it is known, as from a feed of one category; otherwise it is derived from the payload (D23). */
export function headlineOf(property: Shown, read: ReadText, category = categoryOf(property)): Headline {
  const { removal_reason: reason } = property
  return {
    category,
    status: statusOf(property, read),
    price: priceOf(property.price_information, category === 'lettings', read),
    address: shownAddressOf(property.address, read),
    removalReason: reason === null ? null : (nameOf('removalReason', reason) ?? read(reason)),
  }
}

const letAgreed = 6

/** By the same signs as in the service (D23), for payloads whose event does not name the category. 0 and false are none. */
function categoryOf(property: Shown): 'sales' | 'lettings' {
  const { price_information: price, details } = property
  const signs = [
    price?.rent_frequency,
    price?.deposit,
    property.contract_months,
    property.let_type,
    property.minimum_term,
    details?.furnished_type,
    details?.deposit_replacement_scheme,
  ]
  const isLetting = property.status === letAgreed || signs.some((sign) => sign === true || Number(sign) > 0)
  return isLetting ? 'lettings' : 'sales'
}

function statusOf({ status, statusstring: words }: Shown, read: ReadText): Named | null {
  const known = named('status', status)
  return known === null ? null : { ...known, name: known.name ?? (read(words) || null) }
}
