/** A hold in an answer (PROTOCOL §5.7). */
import type { Hold as HoldAnswer } from '@property-events/protocol/wire'
import { timeOf } from '../../http/time-of.ts'
import { holdState } from './hold.ts'
import type { Hold } from './hold.ts'

export function holdAnswer(hold: Hold, nowMs: number): HoldAnswer {
  const { holdId, key, subjectId, ground, caseRef, actor, addedMs, untilMs, endedMs } = hold
  return {
    id: holdId,
    tenantId: key.tenantId,
    feed: key.feed,
    subjectId,
    ground,
    caseRef: caseRef ?? null,
    actor,
    state: holdState(hold, nowMs),
    until: lastDayOf(untilMs),
    addedAt: timeOf(addedMs),
    endedAt: timeOf(endedMs),
  }
}

/** The last day that a hold includes, in UTC. */
export function lastDayOf(untilMs: number): string {
  return new Date(untilMs - 1).toISOString().slice(0, 10)
}
