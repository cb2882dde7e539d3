import type { FeedEvent } from '@property-events/protocol'
import type { PlannedEvent } from './append/append-plan.ts'
import type { FeedKey } from './feed-key.ts'

/**
 * The bytes of an event on the wire (spec §2.1), made once, when the event is stored, and never parsed again on a read (ARCHITECTURE).
 */
export function eventJson(
  key: FeedKey,
  event: PlannedEvent,
  sequenceNumber: number,
  createdDate: string,
): string {
  return `${eventJsonStart(key)}${sequenceNumber}${eventJsonMiddle(event)}${createdDate}${eventJsonEnd}`
}

/** The text before the number, between the number and the time, and after the time: for an engine that inserts both later. */
export function eventJsonStart(key: FeedKey): string {
  return `{"tenantId":"${key.tenantId}","sequenceNumber":`
}

/** Only the payload and the short code are texts from outside; ids and times are already plain ASCII. */
export function eventJsonMiddle({ eventType, state, payload, transactionId, id }: PlannedEvent): string {
  return (
    `,"eventType":${eventType},"eventTypeShortCode":${JSON.stringify(state.code)}` +
    `,"payload":${JSON.stringify(payload)},"transactionId":"${transactionId}","id":"${id}","createdDate":"`
  )
}

export const eventJsonEnd = '"}'

/** The bytes of an event that was read back, with some members changed. */
export function eventJsonOf(event: FeedEvent): string {
  const { tenantId, sequenceNumber, eventType, eventTypeShortCode, payload, transactionId, id } = event
  return (
    `{"tenantId":"${tenantId}","sequenceNumber":${sequenceNumber},"eventType":${eventType}` +
    `,"eventTypeShortCode":${JSON.stringify(eventTypeShortCode)}` +
    `,"payload":${JSON.stringify(payload)}` +
    `,"transactionId":"${transactionId}","id":"${id}","createdDate":"${event.createdDate}${eventJsonEnd}`
  )
}

/** Reads stored bytes back. Only for the publishing side (repeats, removals). */
export function parseEventJson(json: string): FeedEvent {
  const event: FeedEvent = JSON.parse(json)
  return event
}

/** When an event was stored, to the millisecond. */
export function createdMsOf({ createdDate }: Pick<FeedEvent, 'createdDate'>): number {
  return Date.parse(`${createdDate.slice(0, 23)}Z`)
}
