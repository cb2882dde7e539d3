/** The records of one tenant, for another store. */
import { feedNames } from '@property-events/protocol'
import type { Ticks } from '@property-events/protocol'
import type { FeedKey } from '../../../events/feed-key.ts'
import type { MoveStore } from '../../../tenants/move/move.ts'
import { pieceOf, recordsPerPiece } from '../../store-records.ts'
import type { FeedRecord, StoreRecord } from '../../store-records.ts'
import { uuids } from '../../../sql/postgres/array.ts'
import type { Database } from '../../../sql/postgres/connection.ts'
import type { Statement } from '../../../sql/postgres/session.ts'
import { eventRecord, exportChanges, feedRecord, idRecord, subjectRecord } from './export-records.ts'
import type { EventRow, FeedRow, IdRow, SubjectRow } from './export-records.ts'
import { feedNumbers } from '../../../sql/database.ts'

/** No window of the feed was answered after `floor`, because each raises the floor first. $3: replaces the clock, for tests. */
const readCounter: Statement = {
  name: 'move-counter',
  text: `SELECT f.*, greatest(f.stamp_floor, stamp_floor(), coalesce($3, now_ticks() + 10)) AS floor,
      coalesce(f.epoch_start, (SELECT first_offset FROM store)) AS began
    FROM feed f WHERE f.tenant = $1 AND f.feed = $2`,
}
const readEvents: Statement = {
  name: 'move-events',
  text: `SELECT * FROM event WHERE tenant = $1 AND feed = $2 AND position > $3 AND position <= $4
    ORDER BY tenant, feed, position LIMIT ${recordsPerPiece}`,
}
const readIds: Statement = {
  name: 'move-ids',
  text: `SELECT i.* FROM unnest($3::uuid[]) AS given (id)
    CROSS JOIN LATERAL (SELECT * FROM event_id WHERE tenant = $1 AND feed = $2 AND id = given.id LIMIT 1) AS i`,
}
const readSubjects: Statement = {
  name: 'move-subjects',
  text: `SELECT s.* FROM unnest($3::uuid[]) AS given (subject)
    CROSS JOIN LATERAL (SELECT * FROM subject WHERE tenant = $1 AND feed = $2 AND subject = given.subject LIMIT 1) AS s`,
}
/** Pages by two columns: many ids may have been skipped in one commit. */
const readSkipped: Statement = {
  name: 'move-skipped',
  text: `SELECT * FROM event_id WHERE tenant = $1 AND feed = $2 AND skipped IS NOT NULL AND skipped >= $3
      AND (skipped, id) > ($3, $4::uuid)
    ORDER BY tenant, feed, skipped, id LIMIT ${recordsPerPiece}`,
}
const leastId = '00000000-0000-0000-0000-000000000000'

/** In short statements, each at its own moment: these records never change, and no old snapshot is held. */
export async function exportTenant(
  database: Database,
  given: Ticks | undefined,
  tenantId: string,
  held: Parameters<MoveStore['exportTenant']>[1],
  take: (records: readonly StoreRecord[]) => Promise<void>,
): Promise<void> {
  for (const feed of feedNames) {
    const key = { tenantId, feed }
    const counter = await counterOf(database, key, given)
    if (counter === undefined) continue
    let { position } = held(key)
    while (position < counter.lastPosition) {
      await take(await pieceAfter(database, key, position, counter.lastPosition))
      position = Math.min(position + recordsPerPiece, counter.lastPosition)
    }
    await exportSkipped(database, key, held(key).skippedUntil, take)
    await exportChanges((...asked) => database.read(...asked), key, take)
    await take([counter])
  }
}

async function counterOf(
  database: Database,
  key: FeedKey,
  given: Ticks | undefined,
): Promise<FeedRecord | undefined> {
  const values = [key.tenantId, feedNumbers[key.feed], given ?? null]
  const [row] = await database.read<FeedRow & { readonly floor: string; readonly began: string }>(
    readCounter,
    values,
  )
  return row && { ...feedRecord(key, row), stampFloor: BigInt(row.floor), epochStart: Number(row.began) }
}

async function pieceAfter(
  database: Database,
  key: FeedKey,
  after: number,
  last: number,
): Promise<readonly StoreRecord[]> {
  const feed = [key.tenantId, feedNumbers[key.feed]] as const
  const events = await database.read<EventRow>(readEvents, [...feed, after, last])
  const ids = await database.read<IdRow>(readIds, [...feed, uuids(events.map(({ id }) => id))])
  const named = [...new Set(events.map(({ subject }) => subject))]
  const subjects = await database.read<SubjectRow>(readSubjects, [...feed, uuids(named)])
  return pieceOf(
    events.map((row) => eventRecord(key, row)),
    ids.map((row) => idRecord(key, row)),
    subjects.map((row) => subjectRecord(key, row)),
  )
}

async function exportSkipped(
  database: Database,
  key: FeedKey,
  until: Ticks,
  take: (records: readonly StoreRecord[]) => Promise<void>,
): Promise<void> {
  const feed = [key.tenantId, feedNumbers[key.feed]] as const
  let [skipped, id] = [until - 1n, leastId]
  for (;;) {
    const rows = await database.read<IdRow>(readSkipped, [...feed, skipped, id])
    if (rows.length > 0) await take(rows.map((row) => idRecord(key, row)))
    const last = rows.at(-1)
    if (last === undefined || rows.length < recordsPerPiece) return
    ;[skipped, id] = [BigInt(last.skipped ?? 0), last.id]
  }
}
