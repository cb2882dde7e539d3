/** Where a property is and what it costs: the parts of its payload that lists show, too. */
import { decimal, flag, integer, text, textOrNumber } from './read-fields.ts'
import type { Values } from './read-fields.ts'

export const address = {
  house_name_number: text,
  address_2: text,
  address_3: text,
  address_4: text,
  town: text,
  postcode_1: text,
  postcode_2: text,
  uprn: textOrNumber,
  display_address: text,
  latitude: decimal,
  longitude: decimal,
  pov_latitude: decimal,
  pov_longitude: decimal,
  pov_pitch: decimal,
  pov_heading: decimal,
  pov_zoom: integer,
}

export const priceInformation = {
  price: decimal,
  deposit: decimal,
  price_qualifier: integer,
  price_qualifier_string: text,
  administration_fee: text,
  rent_frequency: integer,
  tenure_type: integer,
  auction: flag,
  tenure_unexpired_years: integer,
  price_per_unit_area: decimal,
  price_per_unit_per_annum: decimal,
  shared_ownership: flag,
  shared_ownership_percentage: decimal,
  shared_ownership_rent: decimal,
  shared_ownership_rent_frequency: integer,
  annual_ground_rent: decimal,
  ground_rent_review_period_years: decimal,
  ground_rent_percentage_increase: decimal,
  annual_service_charge: decimal,
}

export type PropertyAddress = Values<typeof address>
export type PriceInformation = Values<typeof priceInformation>
