/** The contact payload of our service (PROTOCOL §10.2, D18), read tolerantly. It is personal data. */
import { date, flag, codesOf, listOf, readMembers, record, text } from './read-fields.ts'
import type { Values } from './read-fields.ts'
import { readPayload } from './read-payload.ts'
import type { PayloadReading } from './read-payload.ts'

const contact = {
  contact_ref: text,
  kind: text,
  title: text,
  first_name: text,
  middle_name: text,
  last_name: text,
  suffix: text,
  salutation: text,
  company_name: text,
  company_number: text,
  job_title: text,
  roles: codesOf(text),
  communications: listOf(
    record({
      channel: text,
      value: text,
      label: text,
      preferred: flag,
      consent: record({ marketing: flag, given_date: date, source: text }),
    }),
  ),
  address: record({
    house_name_number: text,
    address_2: text,
    address_3: text,
    address_4: text,
    town: text,
    postcode_1: text,
    postcode_2: text,
    display_address: text,
    country: text,
  }),
  branch_id: text,
  properties: listOf(record({ agent_ref: text, role: text })),
  notes: text,
  create_date: date,
  update_date: date,
  service_reference: text,
  erased: flag,
  thinned: flag,
}

/** A contact at one moment. Absent and null are both null, absent lists are empty. */
export type Contact = Values<typeof contact>

/** Reads the payload of a contact event. Never throws. */
export function readContactPayload(payload: string): PayloadReading<Contact> {
  return readPayload(payload, (object, report) => readMembers(contact, object, '', report))
}
