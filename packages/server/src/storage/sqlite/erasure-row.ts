/** A row of `erasure`, and an erasure in the port's form. */
import { bytesOfUuid, receiptReasons, feedNames, uuidOfBytes } from '@property-events/protocol/plain'
import type { Erasure, ErasureState, ErasureTarget } from '../storage.ts'
import type { Connection } from './connection.ts'

export interface ErasureRow {
  readonly erasure: string
  readonly feed_no: number
  readonly tenant: string
  readonly feed: string
  readonly subject: Uint8Array | null
  readonly event_id: Uint8Array | null
  readonly reason: string
  readonly case_ref: string | null
  readonly received_on: string | null
  readonly actor: string
  readonly state: ErasureState
  readonly next_position: number
  readonly last_position: number
  readonly events: number
  readonly reduced: number
  readonly revision: number
  readonly closing_event: Uint8Array | null
  readonly closing_sequence: number | null
  readonly begun_ms: number
  readonly reduced_ms: number | null
  readonly unreachable_ms: number | null
  readonly overwritten_ms: number | null
}

export const erasureSelect = `SELECT erasure.*, feed.tenant, feed.feed FROM erasure JOIN feed USING (feed_no)`

export function erasureReader(db: Connection): (erasureId: string) => ErasureRow | undefined {
  const select = db.prepare<[string], ErasureRow>(`${erasureSelect} WHERE erasure = ?`)
  return (erasureId) => select.get(erasureId)
}

export function erasureOf(row: ErasureRow): Erasure {
  const { erasure: erasureId, tenant: tenantId, actor, state, events, reduced, revision } = row
  const feed = feedNames.find((name) => name === row.feed)
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
    closing:
      row.closing_event === null
        ? undefined
        : { eventId: uuidOfBytes(row.closing_event), sequenceNumber: row.closing_sequence ?? 0 },
    events,
    reduced,
    revision,
    begunMs: row.begun_ms,
    reducedMs: row.reduced_ms ?? undefined,
    unreachableMs: row.unreachable_ms ?? undefined,
    overwrittenMs: row.overwritten_ms ?? undefined,
  }
}

export function targetOf({ erasure, subject, event_id }: ErasureRow): ErasureTarget {
  if (subject !== null) return { kind: 'subject', subjectId: uuidOfBytes(subject) }
  if (event_id !== null) return { kind: 'event', eventId: uuidOfBytes(event_id) }
  throw new Error(`the erasure ${erasure} is of nothing`)
}

/** In the order of the table's columns. */
export function erasureValues(
  feedNo: number,
  firstPosition: number,
  lastPosition: number,
  erasure: Erasure,
): readonly (string | number | Uint8Array | null)[] {
  const { erasureId, target, reason, caseRef, receivedOn, actor, state, events, reduced, revision } = erasure
  const { closing, begunMs, reducedMs, unreachableMs, overwrittenMs } = erasure
  return [
    erasureId,
    feedNo,
    target.kind === 'subject' ? bytesOfUuid(target.subjectId) : null,
    target.kind === 'event' ? bytesOfUuid(target.eventId) : null,
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
    closing === undefined ? null : bytesOfUuid(closing.eventId),
    closing?.sequenceNumber ?? null,
    begunMs,
    reducedMs ?? null,
    unreachableMs ?? null,
    overwrittenMs ?? null,
  ]
}
