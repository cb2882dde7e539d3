/** Writes the payload of a listing (spec §2.3 to §2.7, with the further fields that public clients read). */
import type { PropertyPayload } from '@property-events/protocol'
import type { Home } from './home.ts'
import type { LettingTerms, Listing, SaleTerms } from './listing.ts'
import { londonDay, londonTime } from './wall-time.ts'

const qualifierTexts: Readonly<Record<number, string>> = {
  0: '',
  2: 'Guide Price',
  3: 'Fixed Price',
  4: 'Offers In Excess Of',
  5: 'OIRO',
  10: 'Offers Over',
}

export function propertyPayload(home: Home, listing: Listing): PropertyPayload {
  const { texts, terms } = listing
  return {
    branch_id: listing.branchId,
    agent_ref: home.agentRef,
    published: listing.published,
    property_type: home.propertyType,
    status: listing.status,
    statusstring: listing.statusText,
    new_home: home.newHome,
    create_date: listing.createdMs === null ? null : londonTime(listing.createdMs),
    update_date: londonTime(listing.updatedMs),
    ...(terms.category === 'lettings' ? lettingMembers(terms.letting) : {}),
    address: home.address,
    price_information:
      terms.category === 'lettings'
        ? lettingPrice(listing.price, terms.letting)
        : salePrice(home, listing.price, terms.sale),
    details: {
      summary: texts.summary,
      description: texts.description,
      features: texts.features,
      bedrooms: home.bedrooms,
      bathrooms: home.bathrooms,
      reception_rooms: home.receptionRooms,
      ...home.traits,
      ...(terms.category === 'lettings'
        ? {
            deposit_replacement_scheme: terms.letting.depositReplacementScheme,
            furnished_type: terms.letting.furnishedType,
            pets_allowed: home.bedrooms > 2,
            smokers_considered: false,
          }
        : {}),
    },
    media: listing.media,
    risks: home.risks,
    ...(texts.directions === undefined ? {} : { directions: texts.directions }),
    service_reference: home.serviceReference,
    reference: home.reference,
  }
}

/** The least that a consumer can show: about 480 bytes and the description. */
export function barePropertyPayload(home: Home, listing: Listing): PropertyPayload {
  const { address } = home
  const { terms } = listing
  return {
    branch_id: listing.branchId,
    agent_ref: home.agentRef,
    published: listing.published,
    property_type: home.propertyType,
    status: listing.status,
    statusstring: listing.statusText,
    update_date: londonTime(listing.updatedMs),
    address: { town: address.town, postcode_1: address.postcode_1, postcode_2: address.postcode_2 },
    price_information:
      terms.category === 'lettings'
        ? { price: listing.price, rent_frequency: terms.letting.rentFrequency }
        : { price: listing.price },
    details: {
      summary: listing.texts.summary,
      description: listing.texts.description,
      bedrooms: home.bedrooms,
    },
  }
}

function lettingMembers(letting: LettingTerms) {
  return {
    student_property: letting.student,
    house_flat_share: false,
    date_available: londonDay(letting.availableMs),
    contract_months: letting.contractMonths,
    minimum_term: Math.min(6, letting.contractMonths),
    let_type: 1,
  }
}

function lettingPrice(price: number, letting: LettingTerms) {
  return {
    price,
    price_qualifier: 0,
    deposit: letting.deposit,
    rent_frequency: letting.rentFrequency,
    administration_fee: null,
  }
}

function salePrice(home: Home, price: number, sale: SaleTerms) {
  return {
    price,
    price_qualifier: sale.qualifier,
    price_qualifier_string: qualifierTexts[sale.qualifier] ?? '',
    tenure_type: home.leasehold ? 2 : 1,
    auction: false,
    tenure_unexpired_years: sale.leaseYears,
    annual_ground_rent: sale.groundRent,
    annual_service_charge: sale.serviceCharge,
  }
}
