/** The records of one tenant, for another store. */
import { feedNames, uuidOfBytes } from '@property-events/protocol/plain'
import type { Ticks } from '@property-events/protocol'
import { floorAfter, readClock } from '../../../runtime/clock.ts'
import type { SharedClock } from '../../../runtime/clock.ts'
import type { FeedKey } from '../../../events/feed-key.ts'
import type { MoveStore } from '../../../tenants/move/move.ts'
import { pieceOf, recordsPerPiece } from '../../store-records.ts'
import type { IdRecord, StoreRecord, SubjectRecord } from '../../store-records.ts'
import { sqlOver } from '../../../sql/sqlite.ts'
import { decisionsOf, reductionsOf } from '../../exported-records.ts'
import { connectForReading } from '../../../sql/sqlite/connection.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import {
  eventColumns,
  eventRecordOf,
  feedColumns,
  feedRecordOf,
  idRecordOf,
  takeInPieces,
} from './export-records.ts'
import type { EventRow, FeedRow, IdRow } from './export-records.ts'
import { keptRecords } from '../reduce/restrict.ts'
import { readReservation } from '../meta.ts'
import { subjectStateOf } from '../../../events/sqlite/subject-row.ts'
import type { SubjectRow } from '../../../events/sqlite/subject-row.ts'

/** On a separate connection, and in short reads: nothing prevents the WAL from being moved into the file. */
export async function exportTenant(
  file: string,
  clock: SharedClock | undefined,
  tenantId: string,
  held: Parameters<MoveStore['exportTenant']>[1],
  take: (records: readonly StoreRecord[]) => Promise<void>,
): Promise<void> {
  const db = connectForReading(file)
  try {
    const counterOf = counterReader(db, clock)
    const partOf = partReader(db)
    const sql = sqlOver(db, undefined)
    for (const feed of feedNames) {
      const key = { tenantId, feed }
      const counter = counterOf(key)
      if (counter === undefined) continue
      let { position } = held(key)
      while (position < counter.record.lastPosition) {
        const piece = partOf.piece(key, counter.feedNo, position, counter.record.lastPosition)
        await take(piece)
        position = Math.min(position + recordsPerPiece, counter.record.lastPosition)
      }
      await take(partOf.skipped(key, counter.feedNo, held(key).skippedUntil))
      for await (const records of reductionsOf(sql, key)) await take(records)
      await takeInPieces(keptRecords(db, key, counter.feedNo), take)
      for await (const records of decisionsOf(sql, key)) await take(records)
      await take([counter.record])
    }
  } finally {
    db.close()
  }
}

function counterReader(db: Connection, clock: SharedClock | undefined) {
  const select = db.prepare<[string, string], FeedRow>(
    `SELECT ${feedColumns} FROM feed WHERE tenant = ? AND feed = ?`,
  )
  return (key: FeedKey) => {
    // Other processes answer windows within the reserved time.
    const floors: readonly Ticks[] = [readReservation(db), floorAfter(readClock(clock))]
    const row = select.get(key.tenantId, key.feed)
    if (row === undefined) return undefined
    const record = feedRecordOf(key, row)
    const stampFloor = floors.reduce((one, other) => (one > other ? one : other), record.stampFloor)
    return { feedNo: row.feed_no, record: { ...record, stampFloor } }
  }
}

function partReader(db: Connection) {
  const events = db
    .prepare<[number, number, number, number], EventRow>(
      `SELECT ${eventColumns} FROM event
        WHERE place > (? << 40) | ? AND place <= (? << 40) | ? ORDER BY place LIMIT ${recordsPerPiece}`,
    )
    .safeIntegers()
  const id = db
    .prepare<[number, Buffer], IdRow>(
      'SELECT id, position, content_hash, skipped FROM event_id WHERE feed_no = ? AND id = ?',
    )
    .safeIntegers()
  const skipped = db
    .prepare<[Ticks, number], IdRow>(
      `SELECT id, position, content_hash, skipped FROM event_id INDEXED BY event_id_skipped
        WHERE skipped IS NOT NULL AND skipped >= ? AND feed_no = ?`,
    )
    .safeIntegers()
  const subject = db.prepare<[number, Buffer], SubjectRow>(
    `SELECT position, published, category, branch, code, payload_hash, spelling, update_date_hash, kept_code
      FROM subject WHERE feed_no = ? AND subject = ?`,
  )
  const subjectRecord = (key: FeedKey, feedNo: number, bytes: Buffer): readonly SubjectRecord[] => {
    const row = subject.get(feedNo, bytes)
    if (row === undefined) return []
    const { position } = row
    return [{ kind: 'subject', key, subjectId: uuidOfBytes(bytes), position, state: subjectStateOf(row) }]
  }
  const idRecord = (key: FeedKey, feedNo: number, bytes: Buffer): readonly IdRecord[] => {
    const row = id.get(feedNo, bytes)
    return row === undefined ? [] : [idRecordOf(key, row)]
  }
  return {
    piece: db.transaction((key: FeedKey, feedNo: number, after: number, last: number) => {
      const rows = events.all(feedNo, after, feedNo, last)
      return pieceOf(
        rows.map((row) => eventRecordOf(key, row)),
        rows.flatMap((row) => idRecord(key, feedNo, row.id)),
        rows.flatMap((row) => subjectRecord(key, feedNo, row.subject)),
      )
    }),
    skipped: (key: FeedKey, feedNo: number, until: Ticks): readonly IdRecord[] =>
      skipped.all(until, feedNo).map((row) => idRecordOf(key, row)),
  }
}
