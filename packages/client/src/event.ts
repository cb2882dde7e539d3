/** What an event says besides its payload: what its short code means, when it was created, and what it is about. */
import { isObject, parseJson } from './decode.ts'
import { eventCodes } from './wire.ts'
import type { FeedEvent, FeedName } from './wire.ts'

interface EventCode {
  readonly feed: FeedName
  /** The subject is not there any more, whatever the payload says. Otherwise it is. */
  readonly isGone: boolean
}

const codes: ReadonlyMap<string, EventCode> = new Map(Object.entries(eventCodes))

/** `undefined`: a code of this service alone, whose events say by `published` whether their subject is there. */
export function readEventCode(shortCode: string): EventCode | undefined {
  return codes.get(shortCode)
}

/** Milliseconds of a `createdDate`, rounded down; a text that is not a date is older than everything. */
export function createdMsOf(createdDate: string): number {
  const zoned = /(?:Z|[+-]\d\d:\d\d)$/.test(createdDate) ? createdDate : `${createdDate}Z`
  // Date.parse of seven fraction digits works on all known platforms, but ECMA-262 promises only three.
  const ms = Date.parse(zoned.replace(/(\.\d{3})\d+/, '$1'))
  return Number.isNaN(ms) ? -Infinity : ms
}

interface SubjectMember {
  readonly field: string
  /** Finds the subject in a payload that cannot be read: it must not be taken for one that the feed does not have. */
  readonly inText: RegExp
}

const subjectMembers: { readonly [F in FeedName]: SubjectMember } = {
  property: { field: 'agent_ref', inText: /"agent_ref\\?"\s*:\s*\\?"([^"\\]{1,200})\\?"/ },
  contact: { field: 'contact_ref', inText: /"contact_ref\\?"\s*:\s*\\?"([^"\\]{1,200})\\?"/ },
}

/**
 * The subject of an event in lower case: `agent_ref` or `contact_ref` of its payload. If the payload has none (some services empty it
 * when a property is removed), the `transactionId`, which by default is the subject (D15).
 */
export function subjectOf(feed: FeedName, event: FeedEvent): string {
  return namedSubject(feed, event) ?? event.transactionId.toLowerCase()
}

/** The subject that the payload of an event names, in lower case. */
export function namedSubject(feed: FeedName, event: FeedEvent): string | undefined {
  return subjectIn(feed, parseJson(event.payload), event)
}

/** `payload`: read from that of the event. */
export function subjectIn(feed: FeedName, payload: unknown, event: FeedEvent): string | undefined {
  const { field, inText } = subjectMembers[feed]
  const subject = isObject(payload) ? payload[field] : inText.exec(event.payload)?.[1]
  return typeof subject === 'string' && subject !== '' ? subject.toLowerCase() : undefined
}
