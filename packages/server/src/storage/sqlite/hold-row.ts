/** A row of `hold`, and a hold in the port's form. */
import { bytesOfUuid, feedNames, holdGrounds, uuidOfBytes } from '@property-events/protocol/plain'
import type { Hold } from '../storage.ts'

export interface HoldRow {
  readonly hold: string
  readonly tenant: string
  readonly feed: string
  readonly subject: Uint8Array
  readonly ground: string
  readonly case_ref: string | null
  readonly actor: string
  readonly added_ms: number
  readonly until_ms: number
  readonly reported_ms: number | null
  readonly ended_ms: number | null
  readonly ended_by: string | null
}

export const holdSelect = 'SELECT hold.*, feed.tenant, feed.feed FROM hold JOIN feed USING (feed_no)'

export function holdOf(row: HoldRow): Hold {
  const feed = feedNames.find((name) => name === row.feed)
  const ground = holdGrounds.find((code) => code === row.ground)
  if (feed === undefined || ground === undefined) throw new Error(`the hold ${row.hold} cannot be read`)
  return {
    holdId: row.hold,
    key: { tenantId: row.tenant, feed },
    subjectId: uuidOfBytes(row.subject),
    ground,
    caseRef: row.case_ref ?? undefined,
    actor: row.actor,
    addedMs: row.added_ms,
    untilMs: row.until_ms,
    reportedMs: row.reported_ms ?? undefined,
    endedMs: row.ended_ms ?? undefined,
    endedBy: row.ended_by ?? undefined,
  }
}

/** In the order of the table's columns. */
export function holdValues(feedNo: number, hold: Hold): readonly (string | number | Uint8Array | null)[] {
  const { holdId, subjectId, ground, caseRef, actor, addedMs, untilMs } = hold
  const { reportedMs, endedMs, endedBy } = hold
  const frame = [holdId, feedNo, bytesOfUuid(subjectId), ground, caseRef ?? null, actor, addedMs, untilMs]
  return [...frame, reportedMs ?? null, endedMs ?? null, endedBy ?? null]
}
