import type { FeedEvent } from '@property-events/protocol'
import type { PlannedEvent } from './plan-append.ts'
import type { FeedKey } from './storage.ts'

/**
 * The bytes of an event on the wire (spec §2.1), made once, when it is stored, and never parsed again on a read
 * (ARCHITECTURE). Only the payload and the short code are texts from outside; ids and times are already plain ASCII.
 */
export function eventJson(
  key: FeedKey,
  event: PlannedEvent,
  sequenceNumber: number,
  createdDate: string,
): string {
  return (
    `${eventJsonStart(key)}${sequenceNumber},"eventType":${event.eventType}` +
    `,"eventTypeShortCode":${JSON.stringify(event.state.code)},"payload":${JSON.stringify(event.payload)}` +
    `,"transactionId":"${event.transactionId}","id":"${event.id}","createdDate":"${createdDate}${eventJsonEnd}`
  )
}

/** What stands before the number and behind the time, for an engine that puts both in after the rest has been made. */
export function eventJsonStart(key: FeedKey): string {
  return `{"tenantId":"${key.tenantId}","sequenceNumber":`
}
export const eventJsonEnd = '"}'

/** Reads stored bytes back. For the publishing side (repeats, removals) only. */
export function parseEventJson(json: string): FeedEvent {
  const event: FeedEvent = JSON.parse(json)
  return event
}
