/** A restriction in an answer (PROTOCOL §5.7). */
import type { Restriction as RestrictionAnswer } from '@property-events/protocol/wire'
import { timeOf } from '../../http/time-of.ts'
import type { Restriction } from './restriction.ts'

export function restrictionAnswer(restriction: Restriction): RestrictionAnswer {
  const { restrictionId, key, subjectId, reason, caseRef, actor, state, closing } = restriction
  const { begunMs, restrictedMs, endedMs } = restriction
  return {
    id: restrictionId,
    tenantId: key.tenantId,
    feed: 'contact',
    subjectId,
    reason,
    caseRef: caseRef ?? null,
    actor,
    state,
    closing: { id: closing.eventId, sequenceNumber: closing.sequenceNumber },
    begunAt: timeOf(begunMs),
    restrictedAt: timeOf(restrictedMs),
    endedAt: timeOf(endedMs),
  }
}
