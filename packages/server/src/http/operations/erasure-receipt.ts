/** An erasure as it is answered: what was asked for, how far it is, and what it does not reach (PROTOCOL §5.7). */
import type { Erasure } from '../../storage/storage.ts'
import type { Headers } from '../exchange.ts'

export const receiptHeaders: Headers = { 'content-type': 'application/json', 'cache-control': 'no-store' }

/** What no erasure reaches, each with what is left to do. */
const notCovered = [
  {
    code: 'consumers',
    detail:
      'Copies that consumers have made. Each removes the subject when it reads the closing event; one that keeps the history reads what was reduced.',
  },
  { code: 'backups', detail: 'Backups that were made before. Delete them, or erase again after a restore.' },
  {
    code: 'write_ahead_log',
    detail: 'On PostgreSQL, archives of its write-ahead log, and standbys for as long as they lag.',
  },
  {
    code: 'stopped_nodes',
    detail: 'Files of ready-made pages of nodes that do not run. A node drops what is old when it starts.',
  },
  {
    code: 'answers_under_way',
    detail: 'Answers that were being sent to slow clients when the last step was made.',
  },
] as const

const freeSpace = {
  code: 'free_space',
  detail: "Free space of the store's files, until it is rewritten.",
} as const

export function erasureReceipt(erasure: Erasure): object {
  const { erasureId, key, target, reason, caseRef, receivedOn, actor, state, events, reduced } = erasure
  const { closing, revision, begunMs, reducedMs, unreachableMs, overwrittenMs } = erasure
  return {
    id: erasureId,
    tenantId: key.tenantId,
    feed: key.feed,
    ...(target.kind === 'subject' ? { subjectId: target.subjectId } : { eventId: target.eventId }),
    reason,
    caseRef: caseRef ?? null,
    receivedOn: receivedOn ?? null,
    actor,
    state,
    events,
    reduced,
    closing: closing === undefined ? null : { id: closing.eventId, sequenceNumber: closing.sequenceNumber },
    revision,
    begunAt: timeOf(begunMs),
    reducedAt: timeOf(reducedMs),
    unreachableAt: timeOf(unreachableMs),
    overwrittenAt: timeOf(overwrittenMs),
    notCovered: state === 'overwritten' ? notCovered : [freeSpace, ...notCovered],
  }
}

function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}
