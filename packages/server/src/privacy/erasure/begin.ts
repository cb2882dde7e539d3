/** How an erasure begins on every engine (P12): the event that closes the subject, and the row of the erasure. */
import { ownDraft } from '../../events/append/append-batch.ts'
import type { AppendBatch, AppendOutcome } from '../../events/append/append-batch.ts'
import type { BeginErasureOutcome, Erasure, ErasureRequest } from './erasure.ts'

/** The publication that closes a subject. */
export function closingBatch({ key, closingEventId }: ErasureRequest, subjectId: string): AppendBatch {
  return { key, drafts: [ownDraft(subjectId, closingEventId, { kind: 'erased' })], unchanged: 'store' }
}

/** Why nothing was begun, if the closing event was not stored. */
export function refusalOfClosing(
  outcome: Exclude<AppendOutcome, { kind: 'stored' }>,
): Exclude<BeginErasureOutcome, { kind: 'begun' }> {
  if (outcome.kind === 'unknownSubject') return { kind: 'unknownTarget' }
  if (outcome.kind === 'branchNotGranted') throw new Error('a closing event is limited to no branch')
  if (outcome.kind === 'idConflict') throw new Error(`the id ${outcome.id} for the closing event is taken`)
  return outcome
}

interface BegunErasure {
  readonly request: ErasureRequest
  readonly events: number
  readonly closing: Erasure['closing']
  readonly revision: number
  readonly nowMs: number
}

/** The row of a new erasure. If it has nothing to reduce, it is already `reduced`. */
export function begunErasure({ request, events, closing, revision, nowMs }: BegunErasure): Erasure {
  const isReduced = events === 0
  const { erasureId, key, target, reason, caseRef, receivedOn, actor } = request
  return {
    erasureId,
    key,
    target,
    reason,
    caseRef,
    receivedOn,
    actor,
    state: isReduced ? 'reduced' : 'reducing',
    closing,
    events,
    reduced: 0,
    revision,
    begunMs: nowMs,
    reducedMs: isReduced ? nowMs : undefined,
    unreachableMs: undefined,
    overwrittenMs: undefined,
  }
}
