/**
 * Contact events for a key that is limited to some roles and fields (D11, docs/decisions/0041). Every event stays in its place, with its
 * number, time and id. Its bytes do not contain anything that the key may not read.
 */
import { eventTypeNumber, standardCode, usualContactFields } from '@property-events/protocol'
import type { ContactLimits, EventTypeCatalogue, FeedEvent } from '@property-events/protocol'
import { eventJsonOf, parseEventJson } from '../../events/event-json.ts'
import { erasedPayload } from '../../events/append/reduced-event.ts'
import { boundary } from './numbering.ts'

/** Changes one event. */
export type RedactContact = (event: FeedEvent) => FeedEvent

/** What every key gets: the event's subject, and that something is gone. */
const alwaysGiven = ['contact_ref', 'published', 'erased', 'thinned']

/** `catalogue`: the store's, which gives a hidden contact the number of a removal. */
export function contactRedaction(
  { roles, fields }: ContactLimits,
  catalogue: EventTypeCatalogue,
): RedactContact {
  const given = new Set<string>([...alwaysGiven, ...(fields ?? usualContactFields)])
  const eventTypeShortCode = standardCode('contact', 'gone')
  const eventType = eventTypeNumber(catalogue, 'contact', eventTypeShortCode)
  if (eventType === undefined) throw new Error('the catalogue has no number for the removal of a contact')
  const wanted = roles && new Set<unknown>(roles)

  return (event) => {
    const payload = objectOf(readPayload(event.payload))
    if (wanted !== undefined && !hasRole(payload, wanted)) {
      const { contact_ref: spelled } = payload
      const reference = typeof spelled === 'string' ? spelled : event.transactionId
      return { ...event, eventType, eventTypeShortCode, payload: erasedPayload('contact', reference) }
    }
    const members = Object.entries(payload).filter(([name]) => given.has(name))
    const shown = members.map(([name, value]) => [name, wanted ? ofRoles(name, value, wanted) : value])
    return { ...event, payload: JSON.stringify(Object.fromEntries(shown)) }
  }
}

function readPayload(text: string): unknown {
  return JSON.parse(text)
}

/** The members of an object; none of anything else. */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

/** For the agency, or for one of its properties. */
function hasRole({ roles, properties }: Readonly<Record<string, unknown>>, wanted: ReadonlySet<unknown>) {
  const of = (list: unknown): readonly unknown[] => (Array.isArray(list) ? list : [])
  return of(roles).some((role) => wanted.has(role)) || of(properties).some((one) => isOf(one, wanted))
}

function isOf(property: unknown, wanted: ReadonlySet<unknown>): boolean {
  return wanted.has(objectOf(property)['role'])
}

/** A key for vendors does not learn that somebody is an applicant as well. */
function ofRoles(name: string, value: unknown, wanted: ReadonlySet<unknown>): unknown {
  if (!Array.isArray(value)) return value
  if (name === 'roles') return value.filter((role) => wanted.has(role))
  return name === 'properties' ? value.filter((one) => isOf(one, wanted)) : value
}

/** One event, or several joined by commas. */
export function redactJoined(bytes: Uint8Array, narrow: RedactContact): Buffer {
  return Buffer.from(redactedEvents(bytes, narrow).map(eventJsonOf).join(','))
}

/** The same, before they are bytes again. */
export function redactedEvents(bytes: Uint8Array, narrow: RedactContact): readonly FeedEvent[] {
  return eventsIn(bytes).map((json) => narrow(parseEventJson(json)))
}

function eventsIn(bytes: Uint8Array): readonly string[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const events: string[] = []
  for (let start = 0; start < text.length;) {
    const next = text.indexOf(boundary, start)
    const end = next === -1 ? text.length : next + afterEvent
    events.push(text.toString('utf8', start, end))
    start = end + 1
  }
  return events
}

/** The part of the boundary that belongs to the event before it. */
const afterEvent = 2
