/** A restriction in an answer (PROTOCOL §5.7). */
import type { Restriction } from './restriction.ts'
import type { Listed } from '../../http/listed.ts'

export const restrictions: Listed = { one: 'a restriction', parameter: 'restrictionId' }

export function restrictionAnswer(restriction: Restriction): object {
  const { restrictionId, key, subjectId, reason, caseRef, actor, state, closing } = restriction
  const { begunMs, restrictedMs, endedMs } = restriction
  return {
    id: restrictionId,
    tenantId: key.tenantId,
    feed: key.feed,
    subjectId,
    reason,
    caseRef: caseRef ?? null,
    actor,
    state,
    closing: { id: closing.eventId, sequenceNumber: closing.sequenceNumber },
    begunAt: new Date(begunMs).toISOString(),
    restrictedAt: timeOf(restrictedMs),
    endedAt: timeOf(endedMs),
  }
}

function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}
