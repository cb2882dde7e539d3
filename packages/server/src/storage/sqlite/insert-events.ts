/** Writes what was decided for one batch: events, ids, subjects, views, and the feed's counter. */
import { bytesOfUuid } from '@property-events/protocol'
import type { EventRow, ReservedId } from '../decide-append.ts'
import type { Connection } from './connection.ts'
import { eventStatements } from './event-statements.ts'

export type InsertEvents = (
  feedNo: number,
  rows: readonly EventRow[],
  reserved: readonly ReservedId[],
) => void

/** Call inside a transaction only. */
export function insertStatements(db: Connection): InsertEvents {
  const insertEvent = db.prepare(
    `INSERT INTO event (place, feed_no, created, sequence, id, subject, category, branch, code, state, json)
      VALUES ((? << 40) | ?, ?, ?, ?, ?, ?, ?, ?, ?, 'full', ?)`,
  )
  const insertId = db.prepare(
    'INSERT INTO event_id (feed_no, id, position, content_hash) VALUES (?, ?, ?, ?)',
  )
  const { putSubject, nextOrdinal, insertEntry, advance } = eventStatements(db)

  const insertRow = (feedNo: number, row: EventRow): void => {
    const { position, sequenceNumber, created, event } = row
    const { code, published, category, branch, payloadHash } = event.state
    const id = bytesOfUuid(event.id)
    const subject = bytesOfUuid(event.subjectId)
    const json = Buffer.from(row.json)
    insertEvent.run(
      feedNo,
      position,
      feedNo,
      created,
      sequenceNumber,
      id,
      subject,
      category,
      branch,
      code,
      json,
    )
    insertId.run(feedNo, id, position, event.contentHash)
    putSubject.run(feedNo, subject, position, published ? 1 : 0, category, branch, code, payloadHash)
    if (category === null) return
    const ordinal = nextOrdinal.get(feedNo, category)
    if (ordinal !== undefined) insertEntry.run(feedNo, category, ordinal, position, created)
  }

  return (feedNo, rows, reserved) => {
    for (const row of rows) insertRow(feedNo, row)
    for (const { id, position, contentHash } of reserved) {
      insertId.run(feedNo, bytesOfUuid(id), position, contentHash)
    }
    const last = rows.at(-1)
    if (last !== undefined) advance.run(last.position, last.created, feedNo)
  }
}
