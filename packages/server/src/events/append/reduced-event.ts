/** An event without its payload (D17): the ids, the number, the time and the type stay. The same on every engine. */
import { feeds } from '@property-events/protocol/plain'
import type { FeedName } from '@property-events/protocol'
import { eventJsonOf, parseEventJson } from '../event-json.ts'
import { payloadMember } from './subject-identity.ts'
import type { Head } from '../event-log.ts'

/** Why a payload is gone: it was erased, or a later event had superseded it for long enough. */
export type ReducedState = 'erased' | 'thinned'

/** The remaining payload of an erased event: only its subject, and that the rest is gone. */
export function erasedPayload(feed: FeedName, reference: string): string {
  return reducedPayload('erased', feed, reference)
}

function reducedPayload(state: ReducedState, feed: FeedName, reference: string): string {
  return `{"${feeds[feed].subjectField}":"${reference}","published":false,"${state}":true}`
}

/** The bytes of a stored event with its payload reduced. The subject's UUID keeps this payload's spelling. */
export function reducedEventJson(
  state: ReducedState,
  feed: FeedName,
  subjectId: string,
  json: string,
): string {
  const event = parseEventJson(json)
  const spelled = payloadMember(event.payload, feeds[feed].subjectField)
  const reference = spelled?.toLowerCase() === subjectId ? spelled : subjectId
  return eventJsonOf({ ...event, payload: reducedPayload(state, feed, reference) })
}

/** The same for an erased event. */
export function erasedEventJson(feed: FeedName, subjectId: string, json: string): string {
  return reducedEventJson('erased', feed, subjectId, json)
}

/** Whether a payload says that its content was erased. */
export function isErasedPayload(payload: string): boolean {
  return payload.length < 200 && payload.endsWith(',"published":false,"erased":true}')
}

/** Whether a payload says that its content is gone, for any reason. */
export function isReducedPayload(payload: string): boolean {
  return (
    isErasedPayload(payload) ||
    (payload.length < 200 && payload.endsWith(',"published":false,"thinned":true}'))
  )
}

/**
 * Identifies which payloads of a feed's events are gone: the text changes whenever one more is lost (D17). While nothing has been thinned
 * it is the revision alone.
 */
export function payloadState({ revision, thinned }: Pick<Head, 'revision' | 'thinned'>): string {
  return thinned === 0 ? String(revision) : `${revision}.${thinned}`
}
