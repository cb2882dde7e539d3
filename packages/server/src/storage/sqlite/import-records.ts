import { bytesOfUuid } from '@property-events/protocol/plain'
import { moveText } from '../move-store.ts'
import { positionFault } from '../store-records.ts'
import type { EventRecord, FeedRecord, StoreRecord } from '../store-records.ts'
import type { Connection } from './connection.ts'
import { eventChecksum } from './event-checksum.ts'
import { eventStatements } from './event-statements.ts'
import { feedReader } from './feed-row.ts'
import type { FeedRow } from './feed-row.ts'
import { metaOf } from './meta.ts'
import { subjectValues } from './subject-row.ts'
import { raiseReservation } from './stored-reservation.ts'

/** Puts records of another store in place, in one commit. Throws, and leaves all as it was, when they do not follow on. */
export function recordImporter(db: Connection): (records: readonly StoreRecord[]) => void {
  const feedOf = feedReader(db)
  const insertEvent = db.prepare(
    `INSERT INTO event (place, feed_no, created, sequence, id, subject, category, branch, code, state, json, checksum)
      VALUES ((? << 40) | ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const { putSubject, takeOrdinals, insertEntry, advance } = eventStatements(db)
  const putId = db.prepare(
    `INSERT INTO event_id (feed_no, id, position, content_hash, skipped) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET position = excluded.position, content_hash = excluded.content_hash,
        skipped = excluded.skipped`,
  )
  const putFeed = db.prepare(
    `UPDATE feed SET epoch = ?, offset = ?, revision = ?, needs_epoch = ?, move = ?,
      stamp_floor = max(coalesce(stamp_floor, 0), ?) WHERE feed_no = ?`,
  )

  const putEvent = ({ feedNo, lastPosition }: FeedRow, record: EventRecord): void => {
    const { key, position, created, sequenceNumber, category, branch, code, payloadState } = record
    if (position !== lastPosition + 1) throw positionFault(key, lastPosition + 1, position)
    const [id, subject] = [bytesOfUuid(record.id), bytesOfUuid(record.subjectId)]
    const frame = [feedNo, position, feedNo, created, sequenceNumber, id, subject]
    const json = Buffer.from(record.json)
    insertEvent.run(...frame, category, branch, code, payloadState, json, eventChecksum(position, json))
    advance.run(position, created, feedNo)
    if (category === null) return
    const ordinal = takeOrdinals.get(1, feedNo, category)
    if (ordinal !== undefined) insertEntry.run(feedNo, category, ordinal, position, created)
  }
  const checkFeed = ({ lastPosition }: FeedRow, record: FeedRecord): void => {
    if (lastPosition !== record.lastPosition) {
      throw positionFault(record.key, lastPosition, record.lastPosition)
    }
  }
  const put = (record: StoreRecord): void => {
    if (record.kind === 'whole') {
      metaOf(db).set('first_offset', String(record.firstOffset))
      metaOf(db).set('needs_epoch', record.needsEpoch ? '1' : '0')
      raiseReservation(db, record.reservedUntil ?? 0n)
      return
    }
    const feed = feedOf(record.key)
    if (feed === undefined) throw new Error(`no tenant ${record.key.tenantId}`)
    const { feedNo } = feed
    switch (record.kind) {
      case 'event':
        putEvent(feed, record)
        break
      case 'id':
        putId.run(feedNo, bytesOfUuid(record.id), record.position, record.contentHash, record.skipped)
        break
      case 'subject':
        putSubject.run(...subjectValues(feedNo, record.subjectId, record.position, record.state))
        break
      case 'feed':
        checkFeed(feed, record)
        putFeed.run(
          record.epoch,
          record.offset,
          record.revision,
          record.needsEpoch === true ? 1 : 0,
          moveText(record.move ?? feed.move),
          record.stampFloor ?? 0n,
          feedNo,
        )
    }
  }
  const all = db.transaction((records: readonly StoreRecord[]) => {
    for (const record of records) put(record)
  })
  return (records) => all.immediate(records)
}
