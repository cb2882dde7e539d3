import { readPropertyPayload } from '../payload/property.ts'
import type { Property } from '../payload/property.ts'
import { addressOf } from './address.ts'
import type { ListingAddress } from './address.ts'
import { describe } from './description.ts'
import type { ListingText } from './description.ts'
import { plainText } from './entities.ts'
import { factsOf } from './facts.ts'
import type { ListingFacts } from './facts.ts'
import { headlineOf } from './headline.ts'
import { mediaOf } from './media.ts'
import type { ListingMedia } from './media.ts'
import { named } from './named.ts'
import type { Named } from './named.ts'
import type { ListingPrice } from './price.ts'

export type { ListingFacts }

export interface ListingOptions {
  /** Give it if it is known, as from a feed of one category; otherwise it is derived from the payload (D23). */
  readonly category?: 'sales' | 'lettings'
}

/** A property as a page shows it. Absent and null are both `null`, absent lists are empty. */
export interface Listing extends ListingFacts, ListingMedia {
  /** `agent_ref`, in lower case: the key of a copy. */
  readonly reference: string | null
  /** The agency's own reference, for people. */
  readonly agentReference: string | null
  readonly branchId: string | null
  readonly category: 'sales' | 'lettings'
  /** Whether the public may see it; `null`: the payload does not say. */
  readonly published: boolean | null
  /** Its name is the payload's own text if the code is unknown. */
  readonly status: Named | null
  readonly type: Named | null
  readonly isNewHome: boolean
  readonly price: ListingPrice
  readonly address: ListingAddress
  readonly summary: ListingText
  readonly description: ListingText
  readonly directions: ListingText
  /** `YYYY-MM-DD`, Europe/London, as the next two. */
  readonly availableOn: string | null
  readonly addedOn: string | null
  readonly changedOn: string | null
  /** In words, even if the payload has a code. */
  readonly removalReason: string | null
  /** Pointers into the payload to members that a listing page usually shows and this payload lacks. */
  readonly missing: readonly string[]
}

/**
 * Reads a payload, or a property that was already read, as a page shows it. Never throws; `undefined` if the text is not a JSON object.
 */
export function listing(payload: Property, options?: ListingOptions): Listing
export function listing(payload: string | Property, options?: ListingOptions): Listing | undefined
export function listing(payload: string | Property, options: ListingOptions = {}): Listing | undefined {
  const property = typeof payload === 'string' ? readPropertyPayload(payload).value : payload
  if (property === undefined) return undefined
  const { category, status, price, removalReason } = headlineOf(property, plainText, options.category)
  const address = addressOf(property.address)
  const facts = factsOf(property)
  const media = mediaOf(property.media)
  const description = describe(property.details?.description)
  const summary = describe(property.details?.summary)
  return {
    reference: property.agent_ref?.toLowerCase() ?? null,
    agentReference: property.reference,
    branchId: property.branch_id,
    category,
    published: property.published,
    status,
    type: named('propertyType', property.property_type),
    isNewHome: property.new_home === true,
    price,
    address,
    summary,
    description,
    directions: describe(property.directions),
    ...facts,
    ...media,
    availableOn: property.date_available?.local.slice(0, 10) ?? null,
    addedOn: property.create_date?.local.slice(0, 10) ?? null,
    changedOn: property.update_date?.local.slice(0, 10) ?? null,
    removalReason,
    missing: [
      ...(property.property_type === null ? ['/property_type'] : []),
      ...(property.status === null ? ['/status'] : []),
      ...(price.text === null ? ['/price_information/price'] : []),
      ...(category === 'lettings' && price.rentFrequency === null
        ? ['/price_information/rent_frequency']
        : []),
      ...(address.display === null ? ['/address/display_address'] : []),
      ...(address.postcode === null ? ['/address/postcode_1'] : []),
      ...(address.position === null ? ['/address/latitude'] : []),
      ...(description.text === '' ? ['/details/description'] : []),
      ...(summary.text === '' ? ['/details/summary'] : []),
      ...(facts.bedrooms === null ? ['/details/bedrooms'] : []),
      ...(media.photographs.length === 0 ? ['/media'] : []),
    ],
  }
}
