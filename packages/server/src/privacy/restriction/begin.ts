/** How restricting a contact begins and ends on every engine (P12): the events, and the rows. */
import { meaningOf } from '@property-events/protocol/plain'
import { ownDraft } from '../../events/append/append-batch.ts'
import type { AppendBatch, AppendOutcome, EventDraft } from '../../events/append/append-batch.ts'
import { parseEventJson } from '../../events/event-json.ts'
import type { LiftRequest, Restriction, RestrictionRequest } from './restriction.ts'
import type { SubjectState } from '../../events/append/subject-state.ts'
import type { FeedKey } from '../../events/feed-key.ts'

/** The publication that removes a contact from consumers' copies. */
export function closingOfRestriction({ key, subjectId, closingEventId }: RestrictionRequest): AppendBatch {
  const draft = ownDraft(subjectId, closingEventId, { kind: 'erased' })
  return { key, drafts: [{ ...draft, restriction: 'begins' }], unchanged: 'store' }
}

/**
 * The publication that shows a contact again, in its last published form. `keptJson`: the latest event that is kept; if it is
 * `undefined`, or the subject has no hash of its payload, nothing is left to show, and the contact stays removed.
 */
export function reopening(
  key: FeedKey,
  subjectId: string,
  { reopeningEventId }: LiftRequest,
  { keptCode, payloadHash }: Pick<SubjectState, 'keptCode' | 'payloadHash'>,
  keptJson: string | undefined,
): AppendBatch {
  const draft: EventDraft =
    keptJson === undefined || payloadHash === null
      ? ownDraft(subjectId, reopeningEventId, { kind: 'erased' })
      : {
          ...ownDraft(subjectId, reopeningEventId, {
            kind: 'payload',
            text: parseEventJson(keptJson).payload,
            hash: payloadHash,
            published: undefined,
            branch: undefined,
            impliedCategory: undefined,
            priceLooksLike: undefined,
            updateDateHash: null,
          }),
          eventTypeShortCode:
            keptCode !== null && meaningOf(key.feed, keptCode) === 'gone' ? keptCode : undefined,
        }
  return { key, drafts: [{ ...draft, restriction: 'ends' }], unchanged: 'store' }
}

type Refused = Exclude<AppendOutcome, { readonly kind: 'stored' }>

/** Why nothing was begun or lifted, if the event was not stored. The subject and the feed were found before. */
export function refusalOfRestriction(
  outcome: Refused,
): Exclude<Refused, { readonly kind: 'idConflict' | 'unknownSubject' | 'unknownFeed' | 'branchNotGranted' }> {
  if (outcome.kind === 'idConflict') throw new Error(`the id ${outcome.id} for the event is taken`)
  if (outcome.kind === 'branchNotGranted') throw new Error('a restriction is limited to no branch')
  if (outcome.kind === 'unknownSubject' || outcome.kind === 'unknownFeed') {
    throw new Error(`a contact was found and is not there: ${outcome.kind}`)
  }
  return outcome
}

/** The row of a new restriction. */
export function begunRestriction(
  request: RestrictionRequest,
  sequenceNumber: number,
  begunMs: number,
): Restriction {
  const { restrictionId, key, subjectId, reason, caseRef, actor, closingEventId } = request
  return {
    restrictionId,
    key,
    subjectId,
    reason,
    caseRef,
    actor,
    state: 'hiding',
    closing: { eventId: closingEventId, sequenceNumber },
    begunMs,
    restrictedMs: undefined,
    endedMs: undefined,
    endedBy: undefined,
  }
}
