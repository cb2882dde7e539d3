/** Holds in a database. */
import { holdGrounds } from '@property-events/protocol/plain'
import { subjectExists } from '../../events/log-statements.ts'
import { holdAdded, holdEnded, holdsExpired } from '../../audit/changes.ts'
import { defineWrite, feedNumbers, feedOfNumber, statement, uuidOf } from '../../sql/database.ts'
import type { Query, Sql, StoreAccess, StoredLogId } from '../../sql/database.ts'
import { tenantRows } from '../../sql/tenant-rows.ts'
import type { Actor } from '../../audit/actor.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import { addedHold } from './hold.ts'
import type { AddHoldOutcome, EndHoldOutcome, Hold, HoldRequest, HoldStore, OnHold } from './hold.ts'

const { withId, ofFeed, readsOf } = tenantRows('hold', holdOf)
/** The holds of a feed, for another store. For `holdOf`. */
export const holdsOfFeed = ofFeed
const active = statement<ActiveRow>(
  'hold-active',
  `SELECT hold, until_ms FROM hold WHERE tenant = $1 AND feed = $2 AND subject = $3 AND ended_ms IS NULL
    AND until_ms > $4 ORDER BY until_ms DESC, hold LIMIT 1`,
)
const unreported = 'ended_ms IS NULL AND reported_ms IS NULL AND until_ms <= $1'
const anyExpired = statement('hold-any-expired', `SELECT hold FROM hold WHERE ${unreported} LIMIT 1`)
/** Another node that reports the same waits, and then finds nothing. */
const report = statement<HoldRow>(
  'hold-report',
  `UPDATE hold SET reported_ms = $1 WHERE ${unreported} RETURNING *`,
)
const put = statement(
  'hold-put',
  `INSERT INTO hold (hold, tenant, feed, subject, ground, case_ref, actor, added_ms, until_ms, reported_ms, ended_ms,
      ended_by)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    ON CONFLICT (hold) DO UPDATE SET until_ms = excluded.until_ms, reported_ms = excluded.reported_ms,
      ended_ms = excluded.ended_ms, ended_by = excluded.ended_by`,
)

/** Under the feed's counter: an erasure begins under it too, so it either comes before the hold or sees it. */
const addHold = defineWrite('hold-add', async (tx, request: HoldRequest): Promise<AddHoldOutcome> => {
  const feed = await tx.lockFeed(request.key)
  const known = await findHold(tx, request.holdId)
  if (known !== undefined) return { kind: 'added', hold: known }
  if (feed.kind === 'unknownFeed') return feed
  if ((await tx.rows(subjectExists(request.key, request.subjectId))).length === 0) {
    return { kind: 'unknownTarget' }
  }
  if (feed.kind !== 'open') return feed
  const hold = addedHold(request, await tx.nowMs())
  await tx.rows(putHold(hold))
  await tx.note(holdAdded(request), request.actor)
  return { kind: 'added', hold }
})

/** Under the counter, like adding a hold: a move that closes the tenant waits, and then includes the end. */
const endHold = defineWrite(
  'hold-end',
  async (tx, tenantId: string, holdId: string, actor: Actor): Promise<EndHoldOutcome> => {
    const found = await findHold(tx, holdId)
    if (found?.key.tenantId !== tenantId) return { kind: 'unknownHold' }
    const feed = await tx.lockFeed(found.key)
    // Another end, or a report of expiry, may have come first.
    const hold = (await findHold(tx, holdId)) ?? found
    if (hold.endedMs !== undefined) return { kind: 'ended', hold }
    if (feed.kind !== 'open') return feed
    const ended: Hold = { ...hold, endedMs: await tx.nowMs(), endedBy: actor }
    await tx.rows(putHold(ended))
    await tx.note(holdEnded(ended), actor)
    return { kind: 'ended', hold: ended }
  },
)

const reportExpired = defineWrite('hold-report-expired', async (tx): Promise<readonly Hold[]> => {
  const rows = await tx.rows(report(await tx.nowMs()))
  const expired = rows.map(holdOf).toSorted((a, b) => (a.holdId < b.holdId ? -1 : 1))
  await tx.note(holdsExpired(expired), 'service')
  return expired
})

export function holdStore({ read, write }: StoreAccess): HoldStore {
  return {
    add: (request) => write(addHold, request),
    end: (tenantId, holdId, actor) => write(endHold, tenantId, holdId, actor),
    ...readsOf(read),
    active: async (key, subjectId) =>
      onHoldOf(await read.rows(activeHold(key, subjectId, await read.nowMs()))),
    async reportExpired() {
      // Usually there is none, and a read does not take the writer's lock.
      if ((await read.rows(anyExpired(await read.nowMs()))).length === 0) return []
      return write(reportExpired)
    },
  }
}

async function findHold(sql: Sql, holdId: string): Promise<Hold | undefined> {
  const [row] = await sql.rows(withId(holdId))
  return row && holdOf(row)
}

/** The hold that protects a subject at a time: the longest-lasting one. One probe of a small index. For `onHoldOf`. */
export function activeHold({ tenantId, feed }: FeedKey, subjectId: string, nowMs: number): Query<ActiveRow> {
  return active(tenantId, feedNumbers[feed], { uuid: subjectId }, nowMs)
}

export function onHoldOf([row]: readonly ActiveRow[]): OnHold | undefined {
  return row && { kind: 'onHold', holdId: row.hold, untilMs: row.until_ms }
}

/** Inserts or updates a hold. */
export function putHold(hold: Hold): Query {
  const { holdId, key, subjectId, ground, caseRef = null, actor, addedMs, untilMs } = hold
  const { reportedMs = null, endedMs = null, endedBy = null } = hold
  const subject = [key.tenantId, feedNumbers[key.feed], { uuid: subjectId }] as const
  return put(holdId, ...subject, ground, caseRef, actor, addedMs, untilMs, reportedMs, endedMs, endedBy)
}

type ActiveRow = Pick<HoldRow, 'hold' | 'until_ms'>

interface HoldRow {
  readonly hold: string
  readonly tenant: string
  readonly feed: number
  readonly subject: StoredLogId
  readonly ground: string
  readonly case_ref: string | null
  readonly actor: string
  readonly added_ms: number
  readonly until_ms: number
  readonly reported_ms: number | null
  readonly ended_ms: number | null
  readonly ended_by: string | null
}

export function holdOf(row: HoldRow): Hold {
  const ground = holdGrounds.find((code) => code === row.ground)
  if (ground === undefined) throw new Error(`the hold ${row.hold} cannot be read`)
  return {
    holdId: row.hold,
    key: { tenantId: row.tenant, feed: feedOfNumber(row.feed, 'hold') },
    subjectId: uuidOf(row.subject),
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
