/** How a restriction changes an event that is being planned (D17, docs/decisions/0033). */
import { standardCode } from '@property-events/protocol/plain'
import type { FeedName } from '@property-events/protocol'
import type { PlannedEvent } from './append-plan.ts'
import { erasedPayload } from './reduced-event.ts'
import { spelled } from './subject-identity.ts'
import { standing } from './subject-state.ts'
import type { SubjectState } from './subject-state.ts'
import type { EventDraft } from './append-batch.ts'

/** An event of a restricted contact is planned as if the contact were not restricted, and then put aside (D17). */
export function stateToPlanFrom(
  feed: FeedName,
  { restriction }: EventDraft,
  state: SubjectState,
): SubjectState {
  return restriction === 'ends' ? { ...state, keptCode: null } : standing(feed, state)
}

/** Puts the event aside, with the removal (with this number of event type) in its place; unless the event itself ends the restriction. */
export function restrictedEvent(
  feed: FeedName,
  draft: EventDraft,
  event: PlannedEvent,
  removalType: () => number,
): PlannedEvent {
  if (draft.restriction === 'ends' || draft.content.kind === 'erased') return event
  const gone = standardCode(feed, 'gone')
  const spelling = spelled(event.subjectId, event.state.spelling)
  return {
    ...event,
    eventType: removalType(),
    state: { ...event.state, code: gone, published: false, keptCode: event.state.code },
    payload: erasedPayload(feed, spelling),
    payloadState: 'restricted',
    kept: event.payload,
    remarks: [...event.remarks, 'restricted'],
  }
}

/**
 * The event that removes a contact from consumers' copies. The hash of what is kept stays, so that sending the same again is no change.
 */
export function withRestriction(
  event: PlannedEvent,
  { keptCode, code, payloadHash }: SubjectState,
): PlannedEvent {
  return { ...event, state: { ...event.state, keptCode: keptCode ?? code, payloadHash } }
}
