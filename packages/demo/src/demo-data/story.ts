/** A life story: what happens to one home or contact, in order of time. */
import type { Category, PropertyPayload } from '@property-events/protocol'
import type { Home } from './home.ts'
import type { Edit, LettingTerms, Listing, SaleTerms } from './listing.ts'
import type { PropertyBody, RemovalReason } from './market-event.ts'
import { londonDay, londonTime } from './wall-time.ts'

/** One step of a story: the home comes to the market, its listing is edited, it leaves the market or its branch by an edit, or it is removed. */
export type StoryStep =
  | { readonly kind: 'list'; readonly atMs: number; readonly list: (atMs: number) => Listing }
  | { readonly kind: 'edit' | 'leave'; readonly atMs: number; readonly edit: Edit }
  | { readonly kind: 'remove'; readonly atMs: number; readonly reason: RemovalReason }

export interface PropertyStory {
  readonly home: Home
  readonly category: Category
  readonly bare: boolean
  /** The first is a `list`. Moments may tie or be in disorder by a day: `updatesOf` puts each after the one before. */
  readonly steps: readonly StoryStep[]
}

/** A story whose steps may depend on when they are asked for. */
export type LazyStory = Omit<PropertyStory, 'steps'> & { readonly steps: Iterable<StoryStep> }

/** What is published about one subject at one moment. */
export interface StoryUpdate<Body> {
  readonly atMs: number
  readonly body: Body
}

/**
 * What a story publishes, from its beginning. Texts and photographs are made on demand and in order, so a story can be read
 * once only. `clock` may move moments to other times, such as now, which must not run backwards.
 */
export function* updatesOf(
  story: LazyStory,
  clock: (atMs: number) => number = (atMs) => atMs,
): Generator<StoryUpdate<PropertyBody>> {
  let listing: Listing | undefined
  let lastMs = -Infinity
  for (const step of story.steps) {
    const atMs = clock(Math.max(step.atMs, lastMs + 60_000))
    lastMs = atMs
    if (step.kind === 'remove') {
      yield { atMs, body: { remove: { agentRef: story.home.agentRef, reason: step.reason } } }
      continue
    }
    if (step.kind === 'list') listing = step.list(atMs)
    else if (listing !== undefined) listing = step.edit(listing, atMs)
    if (listing === undefined) continue
    const write = story.bare ? barePropertyPayload : propertyPayload
    yield { atMs, body: { payload: write(story.home, listing) } }
  }
}

const qualifierTexts: Readonly<Record<number, string>> = {
  0: '',
  2: 'Guide Price',
  3: 'Fixed Price',
  4: 'Offers In Excess Of',
  5: 'OIRO',
  10: 'Offers Over',
}

/** Writes the payload of a listing (spec §2.3 to §2.7, with the further fields that public clients read). */
function propertyPayload(home: Home, listing: Listing): PropertyPayload {
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
function barePropertyPayload(home: Home, listing: Listing): PropertyPayload {
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
    // An assured tenancy of today has no fixed term.
    contract_months: 0,
    minimum_term: 0,
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
