import * as codes from './codes.ts'
import { listCodes } from './code-list.ts'
import {
  decimal,
  flag,
  integer,
  integerList,
  list,
  record,
  recordList,
  recordOrList,
  text,
  textList,
  textOrNumber,
  webUrlList,
} from './fields.ts'

const areaUnit = `Code: ${listCodes(codes.areaUnits)}.`

/** The members of `risks` (spec §2.3; RTDF §3.5), which is beside `details`, or in RTDF inside it. */
export const riskMembers = {
  flooded_in_last_five_years: flag('Flooded in the last five years.'),
  sources_of_flooding: list(`Codes, null elements allowed: ${listCodes(codes.floodingSources)}.`),
  flood_defences: flag('Has flood defences.'),
}

/** RTDF's spelling beside the spec's (§2.6), since both are published. */
const obligationMembers = {
  Listed: flag('A listed building.'),
  Restrictions: flag('Restrictions or covenants apply.'),
  RequiredAccess: flag('Others need access through the property.'),
  RightOfWay: flag('A public right of way crosses the property.'),
  listed: flag("RTDF's spelling of `Listed`."),
  restrictions: flag("RTDF's spelling of `Restrictions`."),
  required_access: flag("RTDF's spelling of `RequiredAccess`."),
  rights_of_way: flag("RTDF's spelling of `RightOfWay`."),
}

const energyMembers = {
  epc_certificate_id: textOrNumber('Number of the energy performance certificate.'),
  current_energy_efficiency: textOrNumber('Current efficiency, 1 to 100 or a little more.'),
  potential_energy_efficiency: textOrNumber('Efficiency after the improvements the certificate lists.'),
  current_energy_rating: textOrNumber('Current rating, A to G.'),
  potential_energy_rating: textOrNumber('Rating after the improvements the certificate lists, A to G.'),
  fabric_performance: textOrNumber('Of the coming certificates: how well the building keeps its heat.'),
  heating_system: textOrNumber('Of the coming certificates: the heating.'),
  smart_readiness: textOrNumber('Of the coming certificates: how smart the building is.'),
  energy_cost: textOrNumber('Of the coming certificates: what the energy costs.'),
}

const roomMembers = {
  room_name: text('Name of the room; RTDF: 1 to 120 characters.'),
  room_description: text('RTDF: at most 1,000 characters.'),
  room_length: decimal('Length in `room_dimension_unit`.'),
  room_width: decimal('Width in `room_dimension_unit`.'),
  room_dimension_unit: integer(`Code: ${listCodes(codes.roomDimensionUnits)}.`),
  room_dimension_text: text('Dimensions in words; RTDF: 1 to 120 characters.'),
  room_photo_urls: webUrlList('Absolute http or https addresses of photographs; RTDF: at most 10.'),
}

/** The members of `details` that the spec lists (§2.6). */
const specMembers = {
  summary: text('Short description; RTDF: 1 to 1,000 characters.'),
  description: text('Full description, sometimes with HTML: never put it into a page unescaped.'),
  features: textList('Selling points; may be empty; RTDF: at most 10, of 1 to 200 characters.'),
  bedrooms: integer('Number of bedrooms.'),
  bathrooms: integer('Number of bathrooms.'),
  reception_rooms: integer('Number of reception rooms.'),
  entrance_floor: integer(`Code: ${listCodes(codes.entranceFloors)}.`),
  accessibility: integerList(`Codes, may repeat: ${listCodes(codes.accessibilityFeatures)}.`),
  heating: integerList(`Codes: ${listCodes(codes.heatingTypes)}.`),
  sewerage: text(`Code: ${listCodes(codes.sewerageTypes)}.`),
  water: text(`Code: ${listCodes(codes.waterSupplies)}.`),
  electricity: textList(`Codes: ${listCodes(codes.electricitySupplies)}.`),
  obligations: recordOrList('What binds the owner; some payloads have an empty array.', obligationMembers),
  epc_information: record('Energy performance certificate.', energyMembers),
  deposit_replacement_scheme: flag(
    'Lettings: an insurance may replace the deposit. True marks the property as a letting.',
  ),
  flood_defences: flag('Seen here in some payloads; the usual place is `risks`.'),
  broadband: list(`Codes, null elements allowed: ${listCodes(codes.broadbandTypes)}.`),
  sources_of_flooding: list(
    `Codes, null elements allowed: ${listCodes(codes.floodingSources)}; the usual place is \`risks\`.`,
  ),
}

/** The members of `details`: those of the spec, then RTDF's further ones. */
export const detailsMembers = {
  ...specMembers,
  risks: record("RTDF's place of the risks; the spec's is beside `details`.", riskMembers),
  parking: integerList(`Codes: ${listCodes(codes.parkingTypes)}.`),
  outside_space: integerList(`Codes: ${listCodes(codes.outsideSpaces)}.`),
  year_built: integer('Year of construction.'),
  floors: integer('Number of floors.'),
  internal_area: decimal('Area inside, in `internal_area_unit`.'),
  internal_area_unit: integer(areaUnit),
  land_area: decimal('Area of the land, in `land_area_unit`.'),
  land_area_unit: integer(areaUnit),
  sizing: record('Range of sizes on offer.', {
    minimum: decimal('Smallest size, in `area_unit`.'),
    maximum: decimal('Largest size, in `area_unit`.'),
    area_unit: integer(areaUnit),
  }),
  condition: integer(`Code: ${listCodes(codes.conditions)}.`),
  furnished_type: integer(
    `Lettings, code: ${listCodes(codes.furnishedTypes)}. Above 0, it marks the property as a letting.`,
  ),
  pets_allowed: flag('Lettings: pets are allowed.'),
  smokers_considered: flag('Lettings: smokers are considered.'),
  housing_benefit_considered: flag('Lettings: housing benefit is considered.'),
  sharers_considered: flag('Lettings: sharers are considered.'),
  burglar_alarm: flag('Has a burglar alarm.'),
  washing_machine: flag('Has a washing machine.'),
  dishwasher: flag('Has a dishwasher.'),
  all_bills_inc: flag('Lettings: all bills are in the rent.'),
  water_bill_inc: flag('Lettings: water is in the rent.'),
  gas_bill_inc: flag('Lettings: gas is in the rent.'),
  electricity_bill_inc: flag('Lettings: electricity is in the rent.'),
  oil_bill_inc: flag('Lettings: oil is in the rent.'),
  council_tax_inc: flag('Lettings: council tax is in the rent.'),
  tv_licence_inc: flag('Lettings: the television licence is in the rent.'),
  sat_cable_tv_bill_inc: flag('Lettings: satellite or cable television is in the rent.'),
  internet_bill_inc: flag('Lettings: the internet connection is in the rent.'),
  council_tax_exempt: flag('No council tax is due.'),
  council_tax_band: text(`Code: ${codes.councilTaxBands.codes.map(({ code }) => code).join(', ')}.`),
  domestic_rates: decimal('Northern Ireland: domestic rates in pounds a year.'),
  business_for_sale: flag('Commercial: a business is sold with the property.'),
  comm_use_class: integerList(`Commercial, codes: ${listCodes(codes.commercialUseClasses)}.`),
  rooms: recordList('Rooms; RTDF: at most 99.', roomMembers),
}
