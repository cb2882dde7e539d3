import { readPropertyPayload } from '../payload/property.ts'
import type { Property, PropertyDetails } from '../payload/property.ts'
import { addressOf } from './address.ts'
import type { ListingAddress } from './address.ts'
import { describe, wordsOf } from './description.ts'
import type { ListingText } from './description.ts'
import { plainText } from './entities.ts'
import { headlineOf } from './headline.ts'
import { mediaOf } from './media.ts'
import type { ListingMedia } from './media.ts'
import { named, namedAll, namedWord, namedWords } from './named.ts'
import type { Named } from './named.ts'
import type { ListingPrice } from './price.ts'

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

/** What a property is like, with names for its codes. */
interface Area {
  readonly size: number
  /** `sq ft`, `sq m`, `acre`, `hectares`. */
  readonly unit: Named | null
}

interface Room {
  readonly name: string
  readonly description: string
  /** As the agency wrote it, otherwise from length and width: `4.2 × 3.1 Metres`; `null`: neither is known. */
  readonly size: string | null
}

export interface ListingFacts {
  readonly bedrooms: number | null
  readonly bathrooms: number | null
  readonly receptionRooms: number | null
  readonly features: readonly string[]
  readonly rooms: readonly Room[]
  readonly internalArea: Area | null
  readonly landArea: Area | null
  /** The range of sizes, if parts of different sizes are on offer, as in offices. */
  readonly sizes: {
    readonly minimum: number | null
    readonly maximum: number | null
    readonly unit: Named | null
  } | null
  readonly tenure: Named | null
  /** Years left on the lease. */
  readonly leaseYears: number | null
  readonly furnished: Named | null
  readonly letType: Named | null
  readonly entranceFloor: Named | null
  readonly condition: Named | null
  readonly councilTaxBand: Named<string> | null
  readonly energyRating: Named<string> | null
  readonly potentialEnergyRating: Named<string> | null
  readonly heating: readonly Named[]
  readonly parking: readonly Named[]
  readonly outsideSpace: readonly Named[]
  readonly accessibility: readonly Named[]
  readonly electricity: readonly Named<string>[]
  readonly water: Named<string> | null
  readonly sewerage: Named<string> | null
  readonly broadband: readonly Named<string>[]
  readonly floodingSources: readonly Named<string>[]
  readonly commercialUse: readonly Named[]
}

function factsOf(property: Property): ListingFacts {
  const { details, price_information: price } = property
  return {
    bedrooms: details?.bedrooms ?? null,
    bathrooms: details?.bathrooms ?? null,
    receptionRooms: details?.reception_rooms ?? null,
    features: (details?.features ?? []).map(wordsOf).filter((feature) => feature !== ''),
    rooms: (details?.rooms ?? []).map(roomOf),
    internalArea: areaOf(details?.internal_area, details?.internal_area_unit),
    landArea: areaOf(details?.land_area, details?.land_area_unit),
    sizes: sizesOf(details),
    tenure: named('tenure', price?.tenure_type),
    leaseYears: price?.tenure_unexpired_years ?? null,
    furnished: named('furnishedType', details?.furnished_type),
    letType: named('letType', property.let_type),
    entranceFloor: named('entranceFloor', details?.entrance_floor),
    condition: named('condition', details?.condition),
    councilTaxBand: namedWord('councilTaxBand', details?.council_tax_band),
    energyRating: namedWord('energyRating', details?.epc_information?.current_energy_rating),
    potentialEnergyRating: namedWord('energyRating', details?.epc_information?.potential_energy_rating),
    heating: namedAll('heating', details?.heating),
    parking: namedAll('parking', details?.parking),
    outsideSpace: namedAll('outsideSpace', details?.outside_space),
    accessibility: namedAll('accessibility', details?.accessibility),
    electricity: namedWords('electricity', details?.electricity),
    water: namedWord('water', details?.water),
    sewerage: namedWord('sewerage', details?.sewerage),
    broadband: namedWords('broadband', details?.broadband),
    floodingSources: namedWords('sourceOfFlooding', property.risks.sources_of_flooding),
    commercialUse: namedAll('commercialUseClass', details?.comm_use_class),
  }
}

function areaOf(size: number | null | undefined, unit: number | null | undefined): Area | null {
  return size === null || size === undefined || size <= 0 ? null : { size, unit: named('areaUnit', unit) }
}

function sizesOf(details: PropertyDetails | null): ListingFacts['sizes'] {
  const { minimum = null, maximum = null, area_unit: unit } = details?.sizing ?? {}
  return minimum === null && maximum === null ? null : { minimum, maximum, unit: named('areaUnit', unit) }
}

function roomOf(room: PropertyDetails['rooms'][number]): Room {
  const unit = named('roomDimensionUnit', room.room_dimension_unit)?.name ?? ''
  const { room_length: length, room_width: width } = room
  const measured = length === null || width === null ? null : `${length} × ${width} ${unit}`.trim()
  return {
    name: wordsOf(room.room_name),
    description: describe(room.room_description).text,
    size: wordsOf(room.room_dimension_text) || measured,
  }
}
