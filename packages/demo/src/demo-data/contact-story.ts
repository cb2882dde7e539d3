import type { ContactPayload } from '@property-events/protocol'
import { inventAddress } from './address.ts'
import { marketData } from './load-data.ts'
import type { Place } from './load-data.ts'
import type { ContactBody } from './market-event.ts'
import { phrase, phrases } from './phrases.ts'
import type { Random } from './random.ts'
import type { StoryUpdate } from './story.ts'
import type { MarketTenant } from './tenants.ts'
import { dayMs, londonTime, openingHours } from './wall-time.ts'

export interface ContactPlan {
  readonly contactRef: string
  readonly tenant: MarketTenant
  /** The day on which the agency first meets the contact. */
  readonly metMs: number
  /** The property that brought the contact to the agency, if any. */
  readonly property: { readonly agentRef: string; readonly role: 'vendor' | 'landlord' } | undefined
}

/**
 * A person or company the agency gets to know: created, then up to four changes, such as a new number, marketing
 * refused, a note, or a further role. One in eight is a company.
 */
export function* contactStory(random: Random, plan: ContactPlan): Generator<StoryUpdate<ContactBody>> {
  const place = random.pick(marketData().surroundings[plan.tenant.area].places)
  const person = inventPerson(random)
  let atMs = openingHours(random, plan.metMs)
  let contact = newContact(random, plan, place, person, atMs)
  yield { atMs, body: { payload: contact } }
  for (let changes = random.integer(0, 4); changes > 0; changes -= 1) {
    atMs = openingHours(random, atMs + random.integer(2, 60) * dayMs)
    contact = {
      ...contact,
      ...random.pick(contactEdits)(random, contact, place, person, atMs),
      update_date: londonTime(atMs),
    }
    yield { atMs, body: { payload: contact } }
  }
}

function newContact(
  random: Random,
  plan: ContactPlan,
  place: Place,
  person: Person,
  atMs: number,
): ContactPayload {
  const company = random.chance(0.125)
  const name = `${person.title} ${person.lastName}`
  const { latitude: _, longitude: __, ...address } = inventAddress(random, place, random.chance(0.3)).address
  const date = londonTime(atMs)
  return {
    contact_ref: plan.contactRef,
    kind: company ? 'company' : 'person',
    title: person.title,
    first_name: person.firstName,
    last_name: person.lastName,
    salutation: random.chance(0.3) ? person.firstName : name,
    company_name: company ? inventCompany(random) : null,
    job_title: company ? random.pick(marketData().words['jobTitle'] ?? []) : null,
    roles: [
      plan.property?.role ?? random.pick(['applicant', 'applicant', 'applicant', 'solicitor', 'contractor']),
    ],
    communications: communications(random, person, date),
    address: { ...address, country: 'GB' },
    branch_id: place.branch,
    properties:
      plan.property === undefined ? [] : [{ agent_ref: plan.property.agentRef, role: plan.property.role }],
    notes: notes(random, place, random.integer(0, 3)),
    create_date: date,
    update_date: date,
    service_reference: `${plan.tenant.initials}-C${random.integer(100_000, 999_999)}`,
  }
}

function communications(
  random: Random,
  person: Person,
  date: string,
): NonNullable<ContactPayload['communications']> {
  const consent = () => ({
    marketing: random.chance(0.2) ? null : random.chance(0.5),
    given_date: date,
    source: random.pick(marketData().words['consentSource'] ?? []),
  })
  const preferred = random.pick(['email', 'mobile'])
  return [
    { channel: 'email', value: person.email, preferred: preferred === 'email', consent: consent() },
    { channel: 'mobile', value: person.mobile, preferred: preferred === 'mobile', consent: consent() },
    ...(random.chance(0.25) ? [{ channel: 'post', preferred: false, consent: consent() }] : []),
  ]
}

/** Possible changes of a contact. */
type ContactEdit = (
  random: Random,
  contact: ContactPayload,
  place: Place,
  person: Person,
  atMs: number,
) => Partial<ContactPayload>

const newNumber: ContactEdit = (random, contact, _place, person) => ({
  communications: [
    ...(contact.communications ?? []).filter((way) => way?.channel !== 'mobile'),
    { channel: 'mobile', value: inventMobile(random), label: 'new', preferred: false },
    { channel: 'email', value: inventEmail(random, person.firstName, person.lastName), label: 'work' },
  ].slice(-4),
})

const refuseMarketing: ContactEdit = (_random, contact, _place, _person, atMs) => {
  const consent = { marketing: false, given_date: londonTime(atMs), source: 'unsubscribe link' }
  return { communications: (contact.communications ?? []).map((way) => way && { ...way, consent }) }
}

const takeNotes: ContactEdit = (random, _contact, place) => ({
  notes: notes(random, place, random.integer(2, 5)),
})

const takeRole: ContactEdit = (random, contact) => ({
  roles: [...new Set([...(contact.roles ?? []), random.pick(['buyer', 'tenant', 'vendor', 'applicant'])])],
})

const contactEdits: readonly ContactEdit[] = [newNumber, refuseMarketing, takeNotes, takeRole]

/** Null when there is no note. */
function notes(random: Random, place: Place, count: number): string | null {
  if (count === 0) return null
  const facts = { locality: place.locality, town: place.town }
  const lines = phrases(random, 'contactNote', count, facts)
  return random.chance(0.2) ? `${lines.join(' ')} ${phrase(random, 'contactNote', facts)}` : lines.join(' ')
}

interface Person {
  readonly title: string
  readonly firstName: string
  readonly lastName: string
  readonly email: string
  readonly mobile: string
}

function inventPerson(random: Random): Person {
  const { words } = marketData()
  const firstName = random.pick(words['firstName'] ?? [])
  const lastName = random.pick(words['lastName'] ?? [])
  return {
    title: random.pick(words['title'] ?? []),
    firstName,
    lastName,
    email: inventEmail(random, firstName, lastName),
    mobile: inventMobile(random),
  }
}

/** At `example.com`, which nobody can own (RFC 2606). */
function inventEmail(random: Random, firstName: string, lastName: string): string {
  const separator = random.pick(['.', '.', '_', ''])
  return `${firstName}${separator}${lastName}${random.integer(2, 99)}@example.com`.toLowerCase()
}

/** From 07700 900000 to 07700 900999, the numbers Ofcom keeps for drama. */
function inventMobile(random: Random): string {
  return `07700 900${String(random.integer(0, 999)).padStart(3, '0')}`
}

function inventCompany(random: Random): string {
  const { words } = marketData()
  return `${random.pick(words['companyName'] ?? [])} ${random.pick(words['companySuffix'] ?? [])}`
}
