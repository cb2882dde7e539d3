/** A row of `restriction`, and a restriction in the port's form. */
import { bytesOfUuid, feedNames, restrictionReasons, uuidOfBytes } from '@property-events/protocol/plain'
import type { Restriction, RestrictionProgress, RestrictionState } from '../storage.ts'
import type { Connection } from './connection.ts'

export interface RestrictionRow {
  readonly restriction: string
  readonly feed_no: number
  readonly tenant: string
  readonly feed: string
  readonly subject: Uint8Array
  readonly reason: string
  readonly case_ref: string | null
  readonly actor: string
  readonly state: RestrictionState
  readonly next_position: number
  readonly last_position: number
  readonly closing_event: Uint8Array
  readonly closing_sequence: number
  readonly begun_ms: number
  readonly restricted_ms: number | null
  readonly ended_ms: number | null
  readonly ended_by: string | null
}

export const restrictionSelect =
  'SELECT restriction.*, feed.tenant, feed.feed FROM restriction JOIN feed USING (feed_no)'

export function restrictionReader(db: Connection): (restrictionId: string) => RestrictionRow | undefined {
  const select = db.prepare<[string], RestrictionRow>(`${restrictionSelect} WHERE restriction = ?`)
  return (restrictionId) => select.get(restrictionId)
}

export function restrictionOf(row: RestrictionRow): Restriction {
  const feed = feedNames.find((name) => name === row.feed)
  const reason = restrictionReasons.find((code) => code === row.reason)
  if (feed === undefined || reason === undefined)
    throw new Error(`the restriction ${row.restriction} cannot be read`)
  return {
    restrictionId: row.restriction,
    key: { tenantId: row.tenant, feed },
    subjectId: uuidOfBytes(row.subject),
    reason,
    caseRef: row.case_ref ?? undefined,
    actor: row.actor,
    state: row.state,
    closing: { eventId: uuidOfBytes(row.closing_event), sequenceNumber: row.closing_sequence },
    begunMs: row.begun_ms,
    restrictedMs: row.restricted_ms ?? undefined,
    endedMs: row.ended_ms ?? undefined,
    endedBy: row.ended_by ?? undefined,
  }
}

/** Inserts or updates a restriction. Within a transaction. */
export function restrictionPutter(
  db: Connection,
): (feedNo: number, restriction: Restriction, progress: RestrictionProgress) => void {
  const put = db.prepare(`INSERT OR REPLACE INTO restriction VALUES (${Array(15).fill('?').join(', ')})`)
  return (feedNo, restriction, { nextPosition, lastPosition }) => {
    const { restrictionId, subjectId, reason, caseRef, actor, state, closing } = restriction
    const { begunMs, restrictedMs, endedMs, endedBy } = restriction
    const frame = [restrictionId, feedNo, bytesOfUuid(subjectId), reason, caseRef ?? null, actor, state]
    const places = [nextPosition, lastPosition, bytesOfUuid(closing.eventId), closing.sequenceNumber]
    put.run(...frame, ...places, begunMs, restrictedMs ?? null, endedMs ?? null, endedBy ?? null)
  }
}
