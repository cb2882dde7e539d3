/** An event without its payload (D17): what stays are the ids, the number, the time and the type. The same on every engine. */
import { feeds } from '@property-events/protocol/plain'
import type { FeedName } from '@property-events/protocol'
import { eventJsonEnd } from './event-json.ts'
import { parseEventJson } from './event-json.ts'
import { payloadMember } from './subject-identity.ts'

/** The payload that is left: only whose it was, and that it is gone. */
export function erasedPayload(feed: FeedName, reference: string): string {
  return `{"${feeds[feed].subjectField}":"${reference}","published":false,"erased":true}`
}

/** The bytes of a stored event with its payload reduced. The subject's UUID stays as this payload spelled it. */
export function erasedEventJson(feed: FeedName, subjectId: string, json: string): string {
  const { tenantId, sequenceNumber, eventType, eventTypeShortCode, ...rest } = parseEventJson(json)
  const { payload, transactionId, id, createdDate } = rest
  const spelled = payloadMember(payload, feeds[feed].subjectField)
  const reference = spelled?.toLowerCase() === subjectId ? spelled : subjectId
  return (
    `{"tenantId":"${tenantId}","sequenceNumber":${sequenceNumber},"eventType":${eventType}` +
    `,"eventTypeShortCode":${JSON.stringify(eventTypeShortCode)}` +
    `,"payload":${JSON.stringify(erasedPayload(feed, reference))}` +
    `,"transactionId":"${transactionId}","id":"${id}","createdDate":"${createdDate}${eventJsonEnd}`
  )
}

/** Whether a payload says that its content is gone. */
export function isErasedPayload(payload: string): boolean {
  return payload.length < 200 && payload.endsWith(',"published":false,"erased":true}')
}
