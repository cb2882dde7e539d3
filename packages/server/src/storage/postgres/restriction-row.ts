/** A row of `restriction`, and a restriction in the port's form. */
import { feedNames, restrictionReasons } from '@property-events/protocol'
import type { Restriction, RestrictionProgress, RestrictionState } from '../storage.ts'
import type { Session, Statement, Value } from './connection.ts'
import { feedNumbers } from '../../sql/database.ts'

export interface RestrictionRow {
  readonly restriction: string
  readonly tenant: string
  readonly feed: number
  readonly subject: string
  readonly reason: string
  readonly case_ref: string | null
  readonly actor: string
  readonly state: RestrictionState
  readonly next_position: string
  readonly last_position: string
  readonly closing_event: string
  readonly closing_sequence: string
  readonly begun_ms: string
  readonly restricted_ms: string | null
  readonly ended_ms: string | null
  readonly ended_by: string | null
}

export const readRestriction: Statement = {
  name: 'restriction-read',
  text: 'SELECT * FROM restriction WHERE restriction = $1',
}

export function restrictionOf(row: RestrictionRow): Restriction {
  const feed = feedNames.find((name) => feedNumbers[name] === row.feed)
  const reason = restrictionReasons.find((code) => code === row.reason)
  if (feed === undefined || reason === undefined)
    throw new Error(`the restriction ${row.restriction} cannot be read`)
  return {
    restrictionId: row.restriction,
    key: { tenantId: row.tenant, feed },
    subjectId: row.subject,
    reason,
    caseRef: row.case_ref ?? undefined,
    actor: row.actor,
    state: row.state,
    closing: { eventId: row.closing_event, sequenceNumber: Number(row.closing_sequence) },
    begunMs: Number(row.begun_ms),
    restrictedMs: row.restricted_ms === null ? undefined : Number(row.restricted_ms),
    endedMs: row.ended_ms === null ? undefined : Number(row.ended_ms),
    endedBy: row.ended_by ?? undefined,
  }
}

const put: Statement = {
  name: 'restriction-put',
  text: `INSERT INTO restriction (restriction, tenant, feed, subject, reason, case_ref, actor, state, next_position,
      last_position, closing_event, closing_sequence, begun_ms, restricted_ms, ended_ms, ended_by)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
    ON CONFLICT (restriction) DO UPDATE SET state = excluded.state, next_position = excluded.next_position,
      last_position = excluded.last_position, restricted_ms = excluded.restricted_ms, ended_ms = excluded.ended_ms,
      ended_by = excluded.ended_by`,
}

/** Inserts or updates a restriction. */
export async function putRestriction(
  session: Session,
  restriction: Restriction,
  { nextPosition, lastPosition }: RestrictionProgress,
): Promise<void> {
  const { restrictionId, key, subjectId, reason, caseRef, actor, state, closing } = restriction
  const { begunMs, restrictedMs, endedMs, endedBy } = restriction
  const values: readonly Value[] = [
    restrictionId,
    key.tenantId,
    feedNumbers[key.feed],
    subjectId,
    reason,
    caseRef ?? null,
    actor,
    state,
    nextPosition,
    lastPosition,
    closing.eventId,
    closing.sequenceNumber,
    begunMs,
    restrictedMs ?? null,
    endedMs ?? null,
    endedBy ?? null,
  ]
  await session.query(put, values)
}
