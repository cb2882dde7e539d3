/** What RTDF and its readers expect of a property payload, field by field. */
import {
  between,
  codeIn,
  date,
  dateTime,
  inwardCode,
  list,
  outwardCode,
  record,
  textOf,
  value,
  webAddress,
  wordsOrCodeIn,
} from './advice-rules.ts'
import type { Complaint, RecordRule } from './advice-rules.ts'
import * as codes from './codes.ts'
import { memberAt } from './member-at.ts'
import { propertyTypes } from './property-types.ts'

const atLeast0 = between(0)
const energyRating = codeIn(codes.energyRatings)
const areaUnit = codeIn(codes.areaUnits)
const rentFrequency = codeIn(codes.rentFrequencies)

const floodingSources = list({ unique: true }, codeIn(codes.floodingSources))
const risks = record({ sources_of_flooding: floodingSources })

/** A UPRN. Zeros before it do not count. */
const propertyNumber = value((sent, show) =>
  /^[0-9]{1,12}$/.test(String(sent))
    ? undefined
    : { code: 'out_of_range', message: `should be a UPRN of up to 12 digits; ${show(sent)} was sent` },
)

const address = record(
  {
    house_name_number: textOf(1, 60),
    address_2: textOf(0, 60),
    address_3: textOf(0, 60),
    address_4: textOf(0, 60),
    town: textOf(1, 60),
    postcode_1: outwardCode,
    postcode_2: inwardCode,
    display_address: textOf(1, 120),
    latitude: between(-90, 90),
    longitude: between(-180, 180),
    pov_latitude: between(-90, 90),
    pov_longitude: between(-180, 180),
    pov_pitch: between(-180, 180),
    pov_heading: between(-360, 360),
    uprn: propertyNumber,
  },
  positionTogether,
)

const priceInformation = record({
  price: between(1),
  deposit: atLeast0,
  price_qualifier: codeIn(codes.priceQualifiers),
  administration_fee: textOf(0, 4000),
  rent_frequency: rentFrequency,
  tenure_type: codeIn(codes.tenures),
  tenure_unexpired_years: atLeast0,
  price_per_unit_area: atLeast0,
  price_per_unit_per_annum: atLeast0,
  shared_ownership_percentage: between(1, 99),
  shared_ownership_rent_frequency: rentFrequency,
  annual_ground_rent: atLeast0,
  ground_rent_review_period_years: atLeast0,
  ground_rent_percentage_increase: atLeast0,
  annual_service_charge: atLeast0,
})

const room = record({
  room_name: textOf(1, 120),
  room_description: textOf(0, 1000),
  room_length: atLeast0,
  room_width: atLeast0,
  room_dimension_unit: codeIn(codes.roomDimensionUnits),
  room_dimension_text: textOf(1, 120),
  room_photo_urls: list({ maxItems: 10, unique: true }, webAddress(250)),
})

const details = record({
  summary: textOf(1, 1000),
  description: textOf(1, 32_000),
  features: list({ maxItems: 10, unique: true }, textOf(1, 200)),
  bedrooms: atLeast0,
  bathrooms: atLeast0,
  reception_rooms: atLeast0,
  parking: list({ unique: true }, codeIn(codes.parkingTypes)),
  outside_space: list({ unique: true }, codeIn(codes.outsideSpaces)),
  // RTDF wants these unique as well, but the spec (§2.6) says that repeats occur, so there is no warning.
  accessibility: list({}, codeIn(codes.accessibilityFeatures)),
  heating: list({ unique: true }, codeIn(codes.heatingTypes)),
  year_built: atLeast0,
  floors: atLeast0,
  internal_area: atLeast0,
  internal_area_unit: areaUnit,
  land_area: atLeast0,
  land_area_unit: areaUnit,
  sizing: record({ minimum: atLeast0, maximum: atLeast0, area_unit: areaUnit }),
  entrance_floor: codeIn(codes.entranceFloors),
  condition: codeIn(codes.conditions),
  sewerage: codeIn(codes.sewerageTypes),
  water: codeIn(codes.waterSupplies),
  electricity: list({ unique: true }, codeIn(codes.electricitySupplies)),
  broadband: list({ unique: true }, codeIn(codes.broadbandTypes)),
  sources_of_flooding: floodingSources,
  furnished_type: codeIn(codes.furnishedTypes),
  council_tax_band: codeIn(codes.councilTaxBands),
  domestic_rates: atLeast0,
  comm_use_class: list({ maxItems: 6 }, codeIn(codes.commercialUseClasses)),
  rooms: list({ maxItems: 99 }, room),
  risks,
  epc_information: record({
    current_energy_rating: energyRating,
    potential_energy_rating: energyRating,
  }),
})

const mediaItem = record({
  media_type: codeIn(codes.mediaTypes),
  media_url: webAddress(250),
  caption: textOf(0, 50),
  sort_order: atLeast0,
  media_update_date: dateTime,
})

/** The same address in two items of a type: listings show it once. */
function pictureOf(item: unknown): string | undefined {
  const address = memberAt(item, ['media_url'])
  return typeof address === 'string' ? `${String(memberAt(item, ['media_type']))} ${address}` : undefined
}

/** Limits: RTDF's SendProperty schema. Codes: `codes.ts`. Dates: D24. */
export const propertyAdvice: RecordRule = record({
  property_type: codeIn(propertyTypes),
  status: codeIn(codes.statuses),
  create_date: dateTime,
  update_date: dateTime,
  date_available: date,
  contract_months: atLeast0,
  minimum_term: atLeast0,
  let_type: codeIn(codes.letTypes),
  removal_reason: wordsOrCodeIn(codes.removalReasons),
  address,
  price_information: priceInformation,
  details,
  media: list({ maxItems: 999, identity: pictureOf }, mediaItem),
  risks,
  principal: record({ principal_email_address: textOf(6, 200) }),
})

/** Degrees in which the United Kingdom and the Channel Islands lie. */
const north = { from: 49, to: 61 }
const east = { from: -9, to: 2 }

/** What is odd about a position as a whole; numbers out of range are remarked on by themselves. */
function positionTogether({
  latitude,
  longitude,
}: Readonly<Record<string, unknown>>): readonly (readonly [string, Complaint])[] {
  if (typeof latitude !== 'number' || typeof longitude !== 'number') return []
  if (latitude === 0 && longitude === 0)
    return about('and longitude are 0, off Africa: the position is not shown')
  if (isIn(latitude, east) && isIn(longitude, north)) {
    return about(`and longitude are probably exchanged: ${latitude} north, ${longitude} east were sent`)
  }
  return []
}

function isIn(degrees: number, { from, to }: typeof north): boolean {
  return degrees >= from && degrees <= to
}

function about(message: string): readonly (readonly [string, Complaint])[] {
  return [['latitude', { code: 'bad_position', message }]]
}
