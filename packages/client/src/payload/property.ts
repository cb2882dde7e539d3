/** The property payload (spec §2.3–§2.7, with the further fields public clients read), read tolerantly. */
import { isObject } from '../decode.ts'
import type { JsonObject } from '../decode.ts'
import {
  codesOf,
  date,
  decimal,
  flag,
  integer,
  listOf,
  readMembers,
  record,
  text,
  textOrNumber,
} from './read-fields.ts'
import type { Read, Values } from './read-fields.ts'
import type { PayloadReading, ReportQuirk } from './read-payload.ts'
import { address, priceInformation } from './address-and-price.ts'
import { readPayload } from './read-payload.ts'

const room = {
  room_name: text,
  room_description: text,
  room_length: decimal,
  room_width: decimal,
  room_dimension_unit: integer,
  room_dimension_text: text,
  room_photo_urls: listOf(text),
}

const epcInformation = {
  epc_certificate_id: text,
  current_energy_efficiency: decimal,
  potential_energy_efficiency: decimal,
  current_energy_rating: text,
  potential_energy_rating: text,
  fabric_performance: textOrNumber,
  heating_system: textOrNumber,
  smart_readiness: textOrNumber,
  energy_cost: textOrNumber,
}

export interface Obligations {
  readonly listed: boolean | null
  readonly restrictions: boolean | null
  readonly requiredAccess: boolean | null
  readonly rightOfWay: boolean | null
}

/** An object in the spec's spelling or RTDF's, or a list, which means "nothing said" (spec §2.6). */
const obligations: Read<Obligations | null> = (value, pointer, report) => {
  if (value === undefined || value === null) return null
  if (Array.isArray(value)) {
    report('obligations_as_list', pointer, 'a list where an object belongs; read as nothing said')
    return null
  }
  if (!isObject(value)) {
    report('wrong_type', pointer, 'not an object')
    return null
  }
  const either = (name: string, rtdfName: string) => {
    const chosen = value[name] === undefined ? rtdfName : name
    return flag(value[chosen], `${pointer}/${chosen}`, report)
  }
  return {
    listed: either('Listed', 'listed'),
    restrictions: either('Restrictions', 'restrictions'),
    requiredAccess: either('RequiredAccess', 'required_access'),
    rightOfWay: either('RightOfWay', 'rights_of_way'),
  }
}

/** `details` without its flood data, which goes to `risks` from wherever the payload has it. */
const details = {
  summary: text,
  description: text,
  features: listOf(text),
  bedrooms: integer,
  bathrooms: integer,
  reception_rooms: integer,
  entrance_floor: integer,
  accessibility: codesOf(integer),
  heating: codesOf(integer),
  parking: codesOf(integer),
  outside_space: codesOf(integer),
  sewerage: text,
  water: text,
  electricity: codesOf(text),
  broadband: codesOf(text),
  obligations,
  epc_information: record(epcInformation),
  deposit_replacement_scheme: flag,
  year_built: integer,
  floors: integer,
  internal_area: decimal,
  internal_area_unit: integer,
  land_area: decimal,
  land_area_unit: integer,
  sizing: record({ minimum: decimal, maximum: decimal, area_unit: integer }),
  condition: integer,
  furnished_type: integer,
  pets_allowed: flag,
  smokers_considered: flag,
  housing_benefit_considered: flag,
  sharers_considered: flag,
  burglar_alarm: flag,
  washing_machine: flag,
  dishwasher: flag,
  all_bills_inc: flag,
  water_bill_inc: flag,
  gas_bill_inc: flag,
  electricity_bill_inc: flag,
  oil_bill_inc: flag,
  council_tax_inc: flag,
  tv_licence_inc: flag,
  sat_cable_tv_bill_inc: flag,
  internet_bill_inc: flag,
  council_tax_exempt: flag,
  council_tax_band: text,
  domestic_rates: decimal,
  business_for_sale: flag,
  comm_use_class: codesOf(integer),
  rooms: listOf(record(room)),
}

const media = {
  media_type: integer,
  media_url: text,
  caption: text,
  sort_order: integer,
  media_update_date: date,
}

const property = {
  agent_ref: text,
  branch_id: text,
  published: flag,
  property_type: integer,
  status: integer,
  statusstring: text,
  create_date: date,
  update_date: date,
  contract_months: integer,
  address: record(address),
  price_information: record(priceInformation),
  details: record(details),
  media: listOf(record(media)),
  directions: text,
  service_reference: text,
  reference: text,
  prs_registration: textOrNumber,
  new_home: flag,
  student_property: flag,
  house_flat_share: flag,
  date_available: date,
  minimum_term: integer,
  let_type: integer,
  principal: record({ principal_email_address: text, auto_email_when_live: flag, auto_email_updates: flag }),
  removal_reason: text,
  erased: flag,
  thinned: flag,
}

export interface Risks {
  readonly flood_defences: boolean | null
  readonly sources_of_flooding: readonly string[]
  readonly flooded_in_last_five_years: boolean | null
}

export type PropertyDetails = Values<typeof details>
export type PropertyMedia = Values<typeof media>

/** A property at one moment. Absent and null are both null, absent lists are empty. */
export interface Property extends Values<typeof property> {
  /** Gathered from `risks`, `details` and RTDF's `details.risks`. */
  readonly risks: Risks
}

/** Reads the payload of a property event. Never throws. */
export function readPropertyPayload(payload: string): PayloadReading<Property> {
  return readPayload(payload, (object, report) => ({
    ...readMembers(property, object, '', report),
    risks: readRisks(object, report),
  }))
}

const riskFields = {
  flood_defences: flag,
  sources_of_flooding: codesOf(text),
  flooded_in_last_five_years: flag,
}

function readRisks(payload: JsonObject, report: ReportQuirk): Risks {
  const details = isObject(payload['details']) ? payload['details'] : {}
  // By priority: where the spec has them, where RTDF has them, and where some payloads have them.
  const sources = [
    { pointer: '/risks', value: payload['risks'] },
    { pointer: '/details/risks', value: details['risks'] },
    { pointer: '/details', value: details },
  ]
  const readings = sources.map(({ pointer, value }) => ({
    pointer,
    risks: isObject(value) ? readMembers(riskFields, value, pointer, report) : undefined,
  }))
  const choose = <T>(
    name: string,
    of: (risks: Values<typeof riskFields>) => T | undefined,
  ): T | undefined => {
    const found = readings.flatMap(({ pointer, risks }) => {
      const value = risks === undefined ? undefined : of(risks)
      return value === undefined ? [] : [{ pointer: `${pointer}/${name}`, value }]
    })
    const first = found[0]
    if (first === undefined) return undefined
    if (!first.pointer.startsWith('/risks')) {
      report('flood_data_in_details', first.pointer, 'is in details; moved to risks')
    }
    const other = found.find(({ value }) => JSON.stringify(value) !== JSON.stringify(first.value))
    if (other !== undefined) report('flood_data_differs', other.pointer, `differs from ${first.pointer}`)
    return first.value
  }
  return {
    flood_defences: choose('flood_defences', (risks) => risks.flood_defences ?? undefined) ?? null,
    sources_of_flooding:
      choose('sources_of_flooding', ({ sources_of_flooding: sources }) =>
        sources.length === 0 ? undefined : sources,
      ) ?? [],
    flooded_in_last_five_years:
      choose('flooded_in_last_five_years', (risks) => risks.flooded_in_last_five_years ?? undefined) ?? null,
  }
}
