/**
 * The codes of the property payload, which the spec (§2.3) leaves open.
 *
 * Sources: the payload follows the public Real Time Datafeed (RTDF) "SendProperty" schema almost field for field. The
 * RTDF enumerations are those of the npm package rightmove-rtdf 0.3.5 (MIT licence) and of RTDF's published schema;
 * codes marked "newer" there are included. Statuses, price qualifiers, tenures, furnishing, rent frequencies, media
 * types and property types were checked against the default mapping tables of a public import client of a live service
 * with this contract; differences are noted at the list.
 *
 * Parking, outside space, accessibility and heating share one number space without clashes.
 */
import { numericCodes, textCodes } from './code-list.ts'

/** `status`. RTDF says 2 to 5 are for sales only and 6 for lettings only; the client offers 5 for lettings. */
export const statuses = numericCodes('status', [
  [1, 'Available'],
  [2, 'SSTC'],
  [3, 'SSTCM'],
  [4, 'Under Offer'],
  [5, 'Reserved'],
  [6, 'Let Agreed'],
])

/** `price_information.price_qualifier`. 8, 13 and 14 exist in no source. */
export const priceQualifiers = numericCodes('price qualifier', [
  [0, 'Default'],
  [1, 'POA'],
  [2, 'Guide Price'],
  [3, 'Fixed Price'],
  [4, 'Offers in excess of'],
  [5, 'OIRO'],
  [6, 'Sale by Tender'],
  [7, 'From'],
  [9, 'Shared Ownership'],
  [10, 'Offers over'],
  [11, 'Part Buy, Part Rent'],
  [12, 'Shared Equity'],
  [15, 'Offers Invited'],
  [16, 'Coming Soon'],
])

/** `price_information.tenure_type`. 6 came with RTDF's 2024 schema; the client knows 1 to 5. */
export const tenures = numericCodes('tenure', [
  [1, 'Freehold'],
  [2, 'Leasehold'],
  [3, 'Feudal'],
  [4, 'Commonhold'],
  [5, 'Share of Freehold'],
  [6, 'Non-Traditional'],
])

/** `details.furnished_type`. 3 does not exist. */
export const furnishedTypes = numericCodes('furnished type', [
  [0, 'Furnished'],
  [1, 'Part Furnished'],
  [2, 'Unfurnished'],
  [4, 'Furnished or Unfurnished'],
])

/** `price_information.rent_frequency`: payments a year. */
export const rentFrequencies = numericCodes('rent frequency', [
  [1, 'Yearly'],
  [4, 'Quarterly'],
  [12, 'Monthly'],
  [52, 'Weekly'],
  [365, 'Daily'],
])

/** `media[].media_type`. 5 and 7 are RTDF's; the client knows the others. */
export const mediaTypes = numericCodes('media type', [
  [1, 'Image'],
  [2, 'Floor Plan'],
  [3, 'Brochure'],
  [4, 'Virtual Tour'],
  [5, 'Audio Tour'],
  [6, 'EPC'],
  [7, 'EPC Graph'],
])

/** `let_type`. 3 does not exist. */
export const letTypes = numericCodes('let type', [
  [0, 'Not specified'],
  [1, 'Long term'],
  [2, 'Short term'],
  [4, 'Commercial'],
])

/** `details.accessibility[]`. */
export const accessibilityFeatures = numericCodes('accessibility', [
  [37, 'Level access'],
  [38, 'Lift access'],
  [39, 'Ramped access'],
  [40, 'Wet room'],
  [41, 'Wide doorways'],
  [42, 'Not suitable for wheelchair users'],
  [43, 'Step Free Access'],
  [44, 'Level Access Shower'],
  [45, 'Lateral Living'],
])

/** `details.heating[]`. */
export const heatingTypes = numericCodes('heating', [
  [1, 'Air Conditioning'],
  [2, 'Central'],
  [3, 'Double Glazing'],
  [4, 'Eco-Friendly'],
  [5, 'Electric'],
  [6, 'Gas'],
  [7, 'Gas Central'],
  [8, 'Night Storage'],
  [9, 'Oil'],
  [10, 'Solar'],
  [11, 'Solar Water'],
  [12, 'Under Floor'],
  [46, 'Wood Burner'],
  [47, 'Open Fire'],
  [48, 'Biomass Boiler'],
  [49, 'Ground Source Heat Pump'],
  [50, 'Air Source Heat Pump'],
  [51, 'Solar Photovoltaic Thermal'],
  [52, 'Underfloor Heating'],
  [53, 'Solar Thermal'],
])

/** `details.parking[]`. RTDF's prose prints 69 for "No Disabled Parking Available", its value list 59. */
export const parkingTypes = numericCodes('parking', [
  [13, 'Allocated'],
  [14, 'Communal'],
  [15, 'Covered'],
  [16, 'Garage'],
  [17, 'Driveway'],
  [18, 'Gated'],
  [19, 'Off Street'],
  [20, 'On Street'],
  [21, 'Rear'],
  [22, 'Permit'],
  [23, 'Private'],
  [24, 'Residents'],
  [54, 'No Permit'],
  [55, 'Not Allocated'],
  [56, 'No Parking Available'],
  [57, 'EV Charging'],
  [58, 'Disabled Parking Available'],
  [59, 'No Disabled Parking Available'],
  [60, 'Garage En Bloc'],
])

/** `details.outside_space[]`. */
export const outsideSpaces = numericCodes('outside space', [
  [29, 'Back Garden'],
  [30, 'Communal Garden'],
  [31, 'Enclosed Garden'],
  [32, 'Front Garden'],
  [33, 'Private Garden'],
  [34, 'Rear Garden'],
  [35, 'Terrace'],
  [36, 'Patio'],
])

/** `details.entrance_floor`. */
export const entranceFloors = numericCodes('entrance floor', [
  [1, 'Basement'],
  [2, 'Ground Floor'],
  [3, '1st Floor'],
  [4, '2nd Floor'],
  [5, 'Higher than 2nd floor (no lift)'],
  [6, 'Higher than 2nd floor (with lift)'],
])

/** `details.condition`. */
export const conditions = numericCodes('condition', [
  [1, 'Good'],
  [2, 'Some work needed'],
  [3, 'Work required throughout'],
  [4, 'Major renovation required'],
])

/** `details.internal_area_unit`, `details.land_area_unit`, `details.sizing.area_unit`. */
export const areaUnits = numericCodes('area unit', [
  [1, 'sq ft'],
  [2, 'sq m'],
  [3, 'acre'],
  [4, 'hectares'],
])

/** `details.rooms[].room_dimension_unit`. */
export const roomDimensionUnits = numericCodes('room dimension unit', [
  [5, 'Metres'],
  [6, 'Centimetres'],
  [7, 'Millimetres'],
  [8, 'Feet'],
  [9, 'Inches'],
])

/** `details.sewerage`. */
export const sewerageTypes = textCodes('sewerage', [
  ['mains_supply', 'Mains supply'],
  ['private_supply', 'Private supply'],
])

/** `details.water`. */
export const waterSupplies = textCodes('water', [
  ['mains_supply', 'Mains supply'],
  ['private_supply', 'Private supply'],
])

/** `details.electricity[]`. */
export const electricitySupplies = textCodes('electricity', [
  ['mains_supply', 'Mains supply'],
  ['wind_turbine', 'Wind turbine'],
  ['solar_pv_panels', 'Solar PV panels'],
  ['private_supply', 'Private supply'],
])

/** `details.broadband[]`. */
export const broadbandTypes = textCodes('broadband', [
  ['adsl', 'Copper wire'],
  ['cable', 'Cable'],
  ['fttc', 'Fibre to the cabinet'],
  ['fttp', 'Fibre to the premises'],
  ['none', 'None'],
])

/** `risks.sources_of_flooding[]` and `details.sources_of_flooding[]`. */
export const floodingSources = textCodes('source of flooding', [
  ['river', 'River'],
  ['sea', 'Sea'],
  ['groundwater', 'Groundwater'],
  ['lake', 'Lake'],
  ['reservoir', 'Reservoir'],
  ['other', 'Other'],
])

/** `details.council_tax_band`. TBC is meant for a new build that has no band yet. */
export const councilTaxBands = textCodes('council tax band', [
  ['A', 'Band A'],
  ['B', 'Band B'],
  ['C', 'Band C'],
  ['D', 'Band D'],
  ['E', 'Band E'],
  ['F', 'Band F'],
  ['G', 'Band G'],
  ['H', 'Band H'],
  ['I', 'Band I'],
  ['TBC', 'To be confirmed'],
  ['DELETED', 'Deleted'],
])

/** `details.comm_use_class[]`. */
export const commercialUseClasses = numericCodes('commercial use class', [
  [1, 'A1 Shops'],
  [4, 'A2 Financial and Professional Services'],
  [7, 'A3 Restaurants and Cafes'],
  [10, 'A4 Drinking Establishments'],
  [13, 'A5 Hot Food Take away'],
  [16, 'B1 Business'],
  [19, 'B2 General Industrial'],
  [22, 'B8 Storage and Distribution'],
  [25, 'C1 Hotels'],
  [28, 'C2 Residential Institutions'],
  [31, 'C2A Secure Residential Institution'],
  [34, 'C3 Dwelling Houses'],
  [37, 'D1 Non-Residential Institutions'],
  [40, 'D2 Assembly and Leisure'],
  [43, 'Sui Generis 1'],
  [46, 'Sui Generis 2'],
])

/** `removal_reason`, and the `reason` of a removal (D26). */
export const removalReasons = numericCodes('removal reason', [
  [7, 'Sold by Us'],
  [8, 'Sold by Another Agent'],
  [9, 'Withdrawn from Market'],
  [10, 'Lost Instruction'],
  [11, 'Removed'],
  [12, 'Let by Us'],
])

/** Energy performance ratings, best first: `details.epc_information.*_energy_rating`. */
export const energyRatings = textCodes(
  'energy rating',
  ['A', 'B', 'C', 'D', 'E', 'F', 'G'].map((letter) => [letter, `Band ${letter}`] as const),
)
