/** What a property is like, with names for its codes. */
import type { Property, PropertyDetails } from '../payload/property.ts'
import { describe, wordsOf } from './description.ts'
import { named, namedAll, namedWord, namedWords } from './named.ts'
import type { Named } from './named.ts'

export interface Area {
  readonly size: number
  /** `sq ft`, `sq m`, `acre`, `hectares`. */
  readonly unit: Named | null
}

export interface Room {
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

export function factsOf(property: Property): ListingFacts {
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
