import { priceQualifiers, rentFrequencies, tenures } from './codes.ts'
import { listCodes } from './code-list.ts'
import { decimal, flag, integer, text, textOrNumber } from './fields.ts'

/** The members of `price_information`: spec §2.5, then RTDF's further ones. */
export const priceInformationMembers = {
  price: decimal('Asking price, or rent per `rent_frequency`, in pounds; RTDF: at least 1.'),
  deposit: decimal('Lettings: deposit in pounds. Above 0, it marks the property as a letting.'),
  price_qualifier: integer(`Code: ${listCodes(priceQualifiers)}.`),
  price_qualifier_string: text('Text form of the price qualifier.'),
  administration_fee: textOrNumber('Lettings: fees in words or pounds; RTDF: at most 4,000 characters.'),
  rent_frequency: integer(
    `Lettings, code: ${listCodes(rentFrequencies)}. Above 0, it marks the property as a letting.`,
  ),
  tenure_type: integer(`Sales, code: ${listCodes(tenures)}.`),
  auction: flag('Sales: sold by auction.'),
  tenure_unexpired_years: integer('Sales: years left on the lease.'),
  price_per_unit_area: decimal('Commercial: price for one unit of area, in pounds.'),
  price_per_unit_per_annum: decimal('Commercial: price for one unit of area and year, in pounds.'),
  shared_ownership: flag('Sales: offered as shared ownership.'),
  shared_ownership_percentage: decimal('Sales: share offered, in per cent, 1 to 99.'),
  shared_ownership_rent: decimal('Sales: rent for the share not owned, in pounds.'),
  shared_ownership_rent_frequency: integer(`Sales, code: ${listCodes(rentFrequencies)}.`),
  annual_ground_rent: decimal('Sales: ground rent in pounds a year.'),
  ground_rent_review_period_years: decimal('Sales: years between reviews of the ground rent.'),
  ground_rent_percentage_increase: decimal('Sales: rise of the ground rent at a review, in per cent.'),
  annual_service_charge: decimal('Sales: service charge in pounds a year.'),
}
