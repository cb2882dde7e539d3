/** A row of `erasure`, and an erasure in the port's form. */
import { receiptReasons, feedNames } from '@property-events/protocol'
import type { Erasure, ErasureState, ErasureTarget } from '../storage.ts'
import type { Statement, Value } from './connection.ts'
import { feedNumbers } from '../../sql/database.ts'

export interface ErasureRow {
  readonly erasure: string
  readonly tenant: string
  readonly feed: number
  readonly subject: string | null
  readonly event_id: string | null
  readonly reason: string
  readonly case_ref: string | null
  readonly received_on: string | null
  readonly actor: string
  readonly state: ErasureState
  readonly next_position: string
  readonly last_position: string
  readonly events: string
  readonly reduced: string
  readonly revision: string
  readonly closing_event: string | null
  readonly closing_sequence: string | null
  readonly begun_ms: string
  readonly reduced_ms: string | null
  readonly unreachable_ms: string | null
  readonly overwritten_ms: string | null
}

export const readErasure: Statement = {
  name: 'erasure-read',
  text: 'SELECT * FROM erasure WHERE erasure = $1',
}

export function erasureOf(row: ErasureRow): Erasure {
  const { erasure: erasureId, tenant: tenantId, actor, state, closing_event: eventId } = row
  const feed = feedNames.find((name) => feedNumbers[name] === row.feed)
  const reason = receiptReasons.find((code) => code === row.reason)
  if (feed === undefined || reason === undefined) throw new Error(`the erasure ${erasureId} cannot be read`)
  return {
    erasureId,
    key: { tenantId, feed },
    target: targetOf(row),
    reason,
    caseRef: row.case_ref ?? undefined,
    receivedOn: row.received_on ?? undefined,
    actor,
    state,
    closing: eventId === null ? undefined : { eventId, sequenceNumber: Number(row.closing_sequence) },
    events: Number(row.events),
    reduced: Number(row.reduced),
    revision: Number(row.revision),
    begunMs: Number(row.begun_ms),
    reducedMs: millisecondsOf(row.reduced_ms),
    unreachableMs: millisecondsOf(row.unreachable_ms),
    overwrittenMs: millisecondsOf(row.overwritten_ms),
  }
}

function millisecondsOf(text: string | null): number | undefined {
  return text === null ? undefined : Number(text)
}

function targetOf({ erasure, subject, event_id: eventId }: ErasureRow): ErasureTarget {
  if (subject !== null) return { kind: 'subject', subjectId: subject }
  if (eventId !== null) return { kind: 'event', eventId }
  throw new Error(`the erasure ${erasure} is of nothing`)
}

export const insertErasure: Statement = {
  name: 'erasure-insert',
  text: `INSERT INTO erasure (erasure, tenant, feed, subject, event_id, reason, case_ref, received_on, actor, state,
      next_position, last_position, events, reduced, revision, closing_event, closing_sequence, begun_ms, reduced_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`,
}

/** Of one that has just begun. */
export function erasureValues(
  firstPosition: number,
  lastPosition: number,
  erasure: Erasure,
): readonly Value[] {
  const { erasureId, key, target, reason, caseRef, receivedOn, actor, state, events, reduced } = erasure
  const { revision, closing, begunMs, reducedMs } = erasure
  return [
    erasureId,
    key.tenantId,
    feedNumbers[key.feed],
    target.kind === 'subject' ? target.subjectId : null,
    target.kind === 'event' ? target.eventId : null,
    reason,
    caseRef ?? null,
    receivedOn ?? null,
    actor,
    state,
    firstPosition,
    lastPosition,
    events,
    reduced,
    revision,
    closing?.eventId ?? null,
    closing?.sequenceNumber ?? null,
    begunMs,
    reducedMs ?? null,
  ]
}
