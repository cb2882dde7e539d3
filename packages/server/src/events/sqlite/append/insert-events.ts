/** Writes what a commit has decided to add: events, ids, subjects, views, and the feeds' counters. */
import type { Category, Ticks } from '@property-events/protocol'
import type { EventRow, ReservedId } from '../../append/decide-append.ts'
import { eventJson } from '../../event-json.ts'
import type { FeedKey } from '../../feed-key.ts'
import { boundUuid, subjectValues } from '../subject-row.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { branchViewEnterer } from './enter-branch-views.ts'
import { eventChecksum } from '../event-checksum.ts'
import { eventStatements } from './event-statements.ts'
import type { FeedRow } from '../feed-row.ts'
import { keptEvents } from '../kept-events.ts'

/** Call these inside a transaction only. */
interface InsertEvents {
  /** What was decided for one batch. `now`: when the reserved ids were skipped. */
  events(
    key: FeedKey,
    feedNo: number,
    rows: readonly EventRow[],
    reserved: readonly ReservedId[],
    now: Ticks,
  ): void
  /** The counters of a feed and its views, and the entries of the views, for all rows that the commit has added to the feed. */
  counts(feed: Pick<FeedRow, 'feedNo' | 'hasBranchViews'>, rows: readonly EventRow[]): void
}

export function insertStatements(db: Connection): InsertEvents {
  const insertEvent = db.prepare(
    `INSERT INTO event (place, feed_no, created, sequence, id, subject, category, branch, code, state, json, checksum)
      VALUES ((? << 40) | ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const insertId = db.prepare(
    'INSERT INTO event_id (feed_no, id, position, content_hash, skipped) VALUES (?, ?, ?, ?, ?)',
  )
  const { putSubject, advance } = eventStatements(db)
  const insertEntries = entryInserter(db)
  const { keep } = keptEvents(db)
  const enterBranchViews = branchViewEnterer(db)

  const insertRow = (feedNo: number, row: EventRow, json: Uint8Array): void => {
    const { position, sequenceNumber, created, event } = row
    const { code, category, branch } = event.state
    const id = boundUuid(event.id)
    const subject = boundUuid(event.subjectId)
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
      event.payloadState,
      json,
      eventChecksum(position, json),
    )
    insertId.run(feedNo, id, position, event.contentHash, null)
    putSubject.run(...subjectValues(feedNo, event.subjectId, position, event.state))
  }

  return {
    events(key, feedNo, rows, reserved, now) {
      for (const row of rows) {
        const { event, position, sequenceNumber, createdDate } = row
        insertRow(feedNo, row, utf8(eventJson(key, event, sequenceNumber, createdDate)))
        if (event.kept === undefined) continue
        const whole = eventJson(key, { ...event, payload: event.kept }, sequenceNumber, createdDate)
        const subject = boundUuid(event.subjectId)
        keep(feedNo, { position, sequence: sequenceNumber, subject, json: Buffer.from(whole) })
      }
      for (const { id, position, contentHash } of reserved) {
        insertId.run(feedNo, boundUuid(id), position, contentHash, now)
      }
    },
    // Once for all batches of a feed: each UPDATE costs as much as inserting an event's id.
    counts({ feedNo, hasBranchViews }, rows) {
      insertEntries(feedNo, rows)
      const [first, last] = [rows[0], rows.at(-1)]
      if (first === undefined || last === undefined) return
      if (hasBranchViews) enterBranchViews(feedNo, first.position - 1, last.position)
      advance.run(last.position, last.created, feedNo)
    },
  }
}

/** Memory for the bytes of one event, reused for the next: SQLite copies them when they are bound. */
const room = Buffer.allocUnsafeSlow(64 * 1_024)

function utf8(text: string): Uint8Array {
  // A UTF-16 unit takes at most three bytes.
  return text.length * 3 > room.length ? Buffer.from(text) : room.subarray(0, room.write(text))
}

/** Counted first and taken at once: an UPDATE for every row would cost as much as inserting its entry. */
function entryInserter(db: Connection): (feedNo: number, rows: readonly EventRow[]) => void {
  const { takeOrdinals, insertEntry } = eventStatements(db)
  return (feedNo, rows) => {
    const counts = new Map<Category, number>()
    for (const { event } of rows) {
      const { category } = event.state
      if (category !== null) counts.set(category, (counts.get(category) ?? 0) + 1)
    }
    for (const [category, count] of counts) {
      const last = takeOrdinals.get(count, feedNo, category)
      if (last === undefined) continue
      let ordinal = last - count
      for (const { position, created, event } of rows) {
        if (event.state.category !== category) continue
        ordinal += 1
        insertEntry.run(feedNo, category, ordinal, position, created)
      }
    }
  }
}
