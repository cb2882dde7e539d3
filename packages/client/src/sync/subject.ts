/** The property or contact that an event is about. */
import { isObject, parseJson } from '../decode.ts'
import type { FeedEvent, FeedName } from '../wire.ts'

interface SubjectPlace {
  readonly field: string
  /** Finds the subject in a payload that cannot be read: it must not be taken for one that the feed does not have. */
  readonly inText: RegExp
}

const places: { readonly [F in FeedName]: SubjectPlace } = {
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
  const { field, inText } = places[feed]
  const subject = isObject(payload) ? payload[field] : inText.exec(event.payload)?.[1]
  return typeof subject === 'string' && subject !== '' ? subject.toLowerCase() : undefined
}
