import Type from 'typebox'
import { propertyAddressMembers } from './address.ts'
import {
  letTypes,
  mediaTypes,
  priceQualifiers,
  removalReasons,
  rentFrequencies,
  statuses,
  tenures,
} from './codes.ts'
import { listCodes } from './code-list.ts'
import { detailsMembers, riskMembers } from './details.ts'
import {
  decimal,
  flag,
  integer,
  record,
  recordList,
  subjectUuid,
  text,
  textOrNumber,
  webUrl,
} from './fields.ts'

/** The members of `price_information`: spec §2.5, then RTDF's further ones. */
const priceInformationMembers = {
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

const mediaMembers = {
  media_type: integer(`Code: ${listCodes(mediaTypes)}.`),
  media_url: webUrl(
    'Absolute http or https address without user name and password, at most 2,048 characters.',
  ),
  caption: text('RTDF: at most 50 characters.'),
  sort_order: integer('Place among the media, from 0.'),
  media_update_date: text('Last change, `DD-MM-YYYY HH:mm:ss`, Europe/London (D24).'),
}

/**
 * The property payload (spec §2.3 to §2.7, with the further fields of RTDF that publishers send).
 *
 * This is the contract, so it says which JSON types are allowed and nothing about codes and lengths (`adviseProperty`
 * does). Only `agent_ref` must be there. Every other field may be absent or null, arrays may contain nulls, and unknown
 * fields pass unchanged. Whether `published` must be there depends on the event around the payload, so
 * `checkPropertyPayload` has an option for it.
 */
export const PropertyPayload = Type.Object(
  {
    agent_ref: subjectUuid('The property: UUID, compared without regard to case (D16).'),
    branch_id: text("The branch that markets the property, in the publisher's own words."),
    published: flag('Visible to the public. Required unless the event names its type (D12).'),
    property_type: integer('RTDF property type code, such as 8 Flat or 4 Detached house.'),
    status: integer(`Code: ${listCodes(statuses)}. Any may follow any (D27). 6 marks a letting.`),
    statusstring: text('Text form of `status`.'),
    create_date: text('Creation of the listing, `DD-MM-YYYY HH:mm:ss`, Europe/London (D24).'),
    update_date: text('Last change of the listing, `DD-MM-YYYY HH:mm:ss`, Europe/London (D24).'),
    contract_months: integer(
      'Lettings: length of the contract in months. Above 0, it marks the property as a letting.',
    ),
    address: record('Where the property is.', propertyAddressMembers),
    price_information: record('What it costs.', priceInformationMembers),
    details: record('What it is like.', detailsMembers),
    media: recordList('Photographs, floor plans, brochures, tours; RTDF: at most 999.', mediaMembers),
    risks: record('What threatens it.', riskMembers),
    directions: text('How to get there.'),
    service_reference: text('Reference assigned by the service, or the original one of an adapter (D16).'),
    reference: textOrNumber("The agent's own reference."),
    prs_registration: textOrNumber('Lettings: registration in the private rented sector database.'),
    new_home: flag('Newly built.'),
    student_property: flag('Lettings: for students.'),
    house_flat_share: flag('Lettings: a share of a house or flat.'),
    date_available: text('Lettings: first day, `DD-MM-YYYY`.'),
    minimum_term: integer('Lettings: shortest term in months. Above 0, it marks the property as a letting.'),
    let_type: integer(`Lettings, code: ${listCodes(letTypes)}. Above 0, it marks the property as a letting.`),
    principal: record('Who is notified when the property goes live (RTDF).', {
      principal_email_address: text('RTDF: 6 to 200 characters.'),
      auto_email_when_live: flag('Send mail when the property goes live.'),
      auto_email_updates: flag('Send mail when the property changes.'),
    }),
    removal_reason: textOrNumber(
      `Why the property was removed (D26), in words or as a code: ${listCodes(removalReasons)}.`,
    ),
    erased: flag('Set by the service when it has reduced the payload to its reference (D17).'),
    thinned: flag('Set by the service in place of a superseded payload that was not kept any longer (D17).'),
  },
  {
    title: 'PropertyPayload',
    description:
      'The state of one property at one moment. Every field but agent_ref may be absent or null; unknown fields pass.',
  },
)

/** A property payload that fulfils the contract. Unknown members may be there; they have no place in the type. */
export type PropertyPayload = Readonly<Type.Static<typeof PropertyPayload>>
