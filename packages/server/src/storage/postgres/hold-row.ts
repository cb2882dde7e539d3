/** A row of `hold`, and a hold in the port's form. */
import { feedNames, holdGrounds } from '@property-events/protocol'
import type { Hold } from '../storage.ts'
import type { Session, Statement, Value } from './connection.ts'
import { feedNumbers } from './feed-number.ts'

export interface HoldRow {
  readonly hold: string
  readonly tenant: string
  readonly feed: number
  readonly subject: string
  readonly ground: string
  readonly case_ref: string | null
  readonly actor: string
  readonly added_ms: string
  readonly until_ms: string
  readonly reported_ms: string | null
  readonly ended_ms: string | null
  readonly ended_by: string | null
}

export function holdOf(row: HoldRow): Hold {
  const feed = feedNames.find((name) => feedNumbers[name] === row.feed)
  const ground = holdGrounds.find((code) => code === row.ground)
  if (feed === undefined || ground === undefined) throw new Error(`the hold ${row.hold} cannot be read`)
  return {
    holdId: row.hold,
    key: { tenantId: row.tenant, feed },
    subjectId: row.subject,
    ground,
    caseRef: row.case_ref ?? undefined,
    actor: row.actor,
    addedMs: Number(row.added_ms),
    untilMs: Number(row.until_ms),
    reportedMs: row.reported_ms === null ? undefined : Number(row.reported_ms),
    endedMs: row.ended_ms === null ? undefined : Number(row.ended_ms),
    endedBy: row.ended_by ?? undefined,
  }
}

const put: Statement = {
  name: 'hold-put',
  text: `INSERT INTO hold (hold, tenant, feed, subject, ground, case_ref, actor, added_ms, until_ms, reported_ms, ended_ms,
      ended_by)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    ON CONFLICT (hold) DO UPDATE SET until_ms = excluded.until_ms, reported_ms = excluded.reported_ms,
      ended_ms = excluded.ended_ms, ended_by = excluded.ended_by`,
}

/** Inserts or updates a hold. */
export async function putHold(session: Session, hold: Hold): Promise<Hold> {
  const { holdId, key, subjectId, ground, caseRef, actor, addedMs, untilMs } = hold
  const { reportedMs, endedMs, endedBy } = hold
  const values: readonly Value[] = [
    holdId,
    key.tenantId,
    feedNumbers[key.feed],
    subjectId,
    ground,
    caseRef ?? null,
    actor,
    addedMs,
    untilMs,
    reportedMs ?? null,
    endedMs ?? null,
    endedBy ?? null,
  ]
  await session.query(put, values)
  return hold
}
