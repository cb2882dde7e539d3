/** Turns changes of a feed into rows of the tables. Pure. */
import { readPropertyPayload } from '@property-events/client'
import type { FeedEvent, Property, Removal } from '@property-events/client'
import { listing } from '@property-events/client/listing'
import type { Listing, ListingMedium, Named } from '@property-events/client/listing'
import { cleanJson, cleanText } from './clean-value.ts'
import type { JsonValue } from './clean-value.ts'
import type { listingColumns, mediaColumns, removedColumns } from './columns.ts'

/** Raised when a change to this file or to the listing model gives other rows for the same payload: every copy is then read again. */
export const rowsVersion = 1

type Row<Column extends string = string> = Readonly<Record<Column, JsonValue>>
type KeyColumn = 'tenant' | 'reference'
type Key = Readonly<Record<KeyColumn, string>>
export type ListingRow = Key & Row<Exclude<keyof typeof listingColumns, KeyColumn>>
export type MediaRow = Key & Row<Exclude<keyof typeof mediaColumns, KeyColumn>>
export type RemovedRow = Key & Row<Exclude<keyof typeof removedColumns, KeyColumn>>

interface ShownListing {
  readonly tenant: string
  readonly reference: string
  readonly property: Property
  readonly event: FeedEvent
  /** If the copy has only one category. */
  readonly category: 'sales' | 'lettings' | undefined
}

/** A reference that can be a key of every database: B-trees take no long ones. Ours are UUIDs; another server's may be any text. */
export function isUsableReference(reference: string): boolean {
  return reference.length <= 200 && cleanText(reference) === reference
}

export function rowsOf(shown: ShownListing): {
  readonly listing: ListingRow
  readonly media: readonly MediaRow[]
} {
  const { tenant, reference, property, category } = shown
  const home = listing(property, category === undefined ? {} : { category })
  const key = { tenant, reference }
  return { listing: { ...key, ...listingCells(home), ...eventCells(shown) }, media: mediaRows(key, home) }
}

type EventColumn = 'published_at' | 'sequence_number' | 'event_id' | 'payload'

function listingCells(home: Listing): Row<Exclude<keyof ListingRow, KeyColumn | EventColumn>> {
  return {
    category: home.category,
    status_code: code(home.status),
    status: nameText(home.status),
    is_available: home.status === null || home.status.code === availableCode,
    type_code: code(home.type),
    type: nameText(home.type),
    is_new_home: home.isNewHome,
    agent_reference: text(home.agentReference),
    branch_id: text(home.branchId),
    ...priceCells(home),
    ...addressCells(home),
    ...factCells(home),
    main_photograph: text(home.photographs[0]?.url),
    main_photograph_caption: text(home.photographs[0]?.caption),
    photograph_count: home.photographs.length,
    available_on: home.availableOn,
    added_on: home.addedOn,
    changed_on: home.changedOn,
    missing: [...home.missing],
    summary_text: cleanText(home.summary.text),
    summary_html: cleanText(home.summary.html),
    description_text: cleanText(home.description.text),
    description_html: cleanText(home.description.html),
    directions_text: cleanText(home.directions.text),
  }
}

/** Status 1. A listing without a status is shown, so it counts as available too. */
const availableCode = 1

function priceCells({ price }: Listing) {
  return {
    price: decimal(price.amount),
    price_text: text(price.text),
    price_qualifier_code: code(price.qualifier),
    price_qualifier: nameText(price.qualifier),
    rent_frequency_code: code(price.rentFrequency),
    rent_frequency: nameText(price.rentFrequency),
    rent_per_month: decimal(price.rentPerMonth),
    deposit: decimal(price.deposit),
  }
}

function addressCells({ address }: Listing) {
  return {
    display_address: text(address.display),
    address_lines: address.lines.map(cleanText),
    town: text(address.town),
    postcode: text(address.postcode),
    latitude: address.position === null ? null : decimalOfAnySign(address.position.latitude),
    longitude: address.position === null ? null : decimalOfAnySign(address.position.longitude),
  }
}

function factCells(home: Listing) {
  return {
    bedrooms: whole(home.bedrooms),
    bathrooms: whole(home.bathrooms),
    reception_rooms: whole(home.receptionRooms),
    tenure_code: code(home.tenure),
    tenure: nameText(home.tenure),
    lease_years: whole(home.leaseYears),
    furnished_code: code(home.furnished),
    furnished: nameText(home.furnished),
    let_type_code: code(home.letType),
    let_type: nameText(home.letType),
    council_tax_band: text(home.councilTaxBand?.code),
    energy_rating: text(home.energyRating?.code),
    potential_energy_rating: text(home.potentialEnergyRating?.code),
    internal_area: decimal(home.internalArea?.size),
    internal_area_unit: nameText(home.internalArea?.unit),
    land_area: decimal(home.landArea?.size),
    land_area_unit: nameText(home.landArea?.unit),
    features: home.features.map(cleanText),
    rooms: home.rooms.map(({ name, description, size }) => ({
      name: cleanText(name),
      description: cleanText(description),
      size: text(size),
    })),
    parking: names(home.parking),
    outside_space: names(home.outsideSpace),
    heating: names(home.heating),
    accessibility: names(home.accessibility),
  }
}

function eventCells({ event }: ShownListing): Row<EventColumn> {
  return {
    published_at: instantOf(event.createdDate),
    sequence_number: event.sequenceNumber,
    event_id: cleanText(event.id),
    payload: payloadOf(event.payload),
  }
}

/** Without `principal`, which names a person and must not be on a page, whatever its form. */
function payloadOf(payload: string): JsonValue {
  const given: JsonValue = JSON.parse(payload)
  const value = cleanJson(given) ?? null
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'principal')) return value
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'principal'))
}

function mediaRows(key: Key, home: Listing): readonly MediaRow[] {
  const rowsOfKind = (kind: string, media: readonly ListingMedium[]): readonly MediaRow[] =>
    media.map(({ url, caption, type, updatedOn }, index) => ({
      ...key,
      kind,
      position: index + 1,
      url: cleanText(url),
      caption: cleanText(caption),
      type_code: code(type),
      type: nameText(type),
      updated_at: updatedOn,
    }))
  return [
    ...rowsOfKind('photograph', home.photographs),
    ...rowsOfKind('floor_plan', home.floorPlans),
    ...rowsOfKind('energy_certificate', home.energyCertificates),
    ...rowsOfKind('tour', home.tours),
    ...rowsOfKind('document', home.documents),
    ...rowsOfKind('other', home.otherMedia),
  ]
}

/** `nowMs`: the time of a removal that a new read of the feed has found, and that no event dates. */
export function removedRow(tenant: string, { subjectId, event }: Removal, nowMs: number): RemovedRow {
  const { value } = readPropertyPayload(event?.payload ?? '{}')
  const isErased = value?.erased === true
  // An erased listing leaves its reference and the day it went, so that its page can answer 410.
  const reason = isErased ? null : (value?.removal_reason ?? null)
  return {
    tenant,
    reference: subjectId,
    removed_at: instantOf(event?.createdDate ?? '') ?? new Date(nowMs).toISOString(),
    reason_code: text(reason),
    reason: text(value === undefined || isErased ? null : listing(value).removalReason),
    is_erased: isErased,
  }
}

/** UTC to the millisecond; `null` for a text that is not a date of our era. */
function instantOf(createdDate: string): string | null {
  const zoned = /(?:Z|[+-]\d\d:\d\d)$/.test(createdDate) ? createdDate : `${createdDate}Z`
  const instant = Date.parse(zoned.replace(/(\.\d{3})\d+/, '$1'))
  const isUsual = instant >= Date.UTC(1000, 0) && instant < Date.UTC(10_000, 0)
  return isUsual ? new Date(instant).toISOString() : null
}

/** The largest number of an `integer` column in PostgreSQL. */
const largest = 2_147_483_647

/** A count; an impossible one is left out, and remains in the payload. */
function whole(value: number | null): number | null {
  return value !== null && value >= 0 && value <= largest ? value : null
}

function code(named: Named | null): number | null {
  return named !== null && Math.abs(named.code) <= largest ? named.code + 0 : null
}

function decimal(value: number | null | undefined): number | null {
  return value === null || value === undefined || value < 0 ? null : value + 0
}

/** Adding 0 makes 0 of -0, which engines write differently. */
function decimalOfAnySign(value: number): number {
  return value + 0
}

function text(value: string | null | undefined): string | null {
  return value === null || value === undefined ? null : cleanText(value)
}

function nameText(named: Named | null | undefined): string | null {
  return text(named?.name)
}

function names(codes: readonly Named[]): readonly string[] {
  return codes.map(({ name, code: value }) => name ?? String(value))
}
