/** The port's part for contacts that have not changed for a long time, on a file. */
import { bytesOfUuid, millisecondsOfTicks, uuidOfBytes } from '@property-events/protocol/plain'
import { contactKept } from '../../audit/changes.ts'
import { readClock } from '../clock.ts'
import type { SharedClock } from '../clock.ts'
import type { ExpiryStep } from '../expiry-store.ts'
import type { Unguarded } from '../guarded-verbs.ts'
import type { Actor, ExpiryStore, FeedKey, KeepOutcome } from '../storage.ts'
import { recordsPerPiece } from '../store-records.ts'
import type { ExpiringRecord } from '../store-records.ts'
import type { NoteChanges } from '../../sql/sqlite.ts'
import type { Connection } from './connection.ts'
import { dueStatements } from './due-events.ts'
import { feedReader } from './feed-row.ts'
import type { WriterLink } from './writer-link.ts'

export interface ExpiryWrites {
  enlistContacts(step: ExpiryStep): number
  keepContact(tenantId: string, subjectId: string, actor: Actor): KeepOutcome
}

export const expiryStatements = {
  /** Uses the index of the latest events, so that no other event is looked at. */
  next: `SELECT subject.subject, subject.position, event.created / 10000 AS created_ms, event.state
    FROM subject INDEXED BY subject_latest
    CROSS JOIN event ON event.place = (subject.feed_no << 40) | subject.position
    WHERE subject.feed_no = ? AND subject.category IS NULL AND subject.position > ? AND subject.position <= ?
    ORDER BY subject.position LIMIT ?`,
  relist: `UPDATE expiring_contact SET listed_ms = ? WHERE (feed_no, subject) IN (
    SELECT feed_no, subject FROM expiring_contact INDEXED BY expiring_contact_kept
      WHERE feed_no = ? AND unchanged_since_ms < ? AND listed_ms IS NULL LIMIT ?)`,
} as const

interface NextRow {
  readonly subject: Uint8Array
  readonly position: number
  readonly created_ms: number
  readonly state: string
}

export function expiryWrites(
  db: Connection,
  clock: SharedClock | undefined,
  note: NoteChanges,
): ExpiryWrites {
  const enlist = enlister(db)
  const keep = keeper(db, () => millisecondsOfTicks(readClock(clock)), note)
  return {
    enlistContacts: (step) => enlist.immediate(step),
    keepContact: (tenantId, subjectId, actor) => keep.immediate(tenantId, subjectId, actor),
  }
}

function enlister(db: Connection) {
  const feedOf = feedReader(db)
  const selectEnd = db.prepare<[number, bigint], number>(dueStatements.end).pluck()
  const selectNext = db.prepare<[number, number, number, number], NextRow>(expiryStatements.next)
  const relist = db.prepare(expiryStatements.relist)
  const readProgress = db
    .prepare<[number], number>('SELECT listed FROM expiry_progress WHERE feed_no = ?')
    .pluck()
  const putProgress = db.prepare('INSERT OR REPLACE INTO expiry_progress VALUES (?, ?)')
  const remove = db.prepare('DELETE FROM expiring_contact WHERE feed_no = ? AND subject = ? AND position < ?')
  const put = db.prepare(
    `INSERT INTO expiring_contact VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET position = excluded.position,
      unchanged_since_ms = excluded.unchanged_since_ms, listed_ms = excluded.listed_ms
      WHERE expiring_contact.position <> excluded.position`,
  )
  return db.transaction(({ tenantId, before, todayMs, limit }: ExpiryStep): number => {
    const feedNo = feedOf({ tenantId, feed: 'contact' })?.feedNo
    if (feedNo === undefined) return 0
    const relisted = relist.run(todayMs, feedNo, millisecondsOfTicks(before), limit).changes
    if (relisted > 0) return relisted
    const rows = selectNext.all(
      feedNo,
      readProgress.get(feedNo) ?? 0,
      selectEnd.get(feedNo, before) ?? 0,
      limit,
    )
    for (const { subject, position, created_ms: createdMs, state } of rows) {
      if (state === 'erased' || state === 'restricted') remove.run(feedNo, subject, position)
      else put.run(feedNo, subject, position, createdMs, todayMs)
    }
    const last = rows.at(-1)
    if (last !== undefined) putProgress.run(feedNo, last.position)
    return rows.length
  })
}

function keeper(db: Connection, nowMs: () => number, note: NoteChanges) {
  const feedOf = feedReader(db)
  const find = db.prepare<[number, Uint8Array], { position: number; state: string }>(
    `SELECT subject.position, event.state FROM subject
      CROSS JOIN event ON event.place = (subject.feed_no << 40) | subject.position
      WHERE subject.feed_no = ? AND subject.subject = ?`,
  )
  const put = db.prepare('INSERT OR REPLACE INTO expiring_contact VALUES (?, ?, ?, ?, NULL)')
  return db.transaction((tenantId: string, subjectId: string, actor: Actor): KeepOutcome => {
    const feed = feedOf({ tenantId, feed: 'contact' })
    const subject = bytesOfUuid(subjectId)
    const latest = feed && find.get(feed.feedNo, subject)
    if (latest === undefined || latest.state === 'erased' || latest.state === 'restricted')
      return 'unknownContact'
    if (feed?.move !== 'open') return 'tenantMoving'
    put.run(feed.feedNo, subject, latest.position, nowMs())
    note(contactKept(tenantId, subjectId), actor)
    return 'kept'
  })
}

export function fileExpiry(db: Connection, link: WriterLink): Unguarded<ExpiryStore> {
  const feedOf = feedReader(db)
  const select = db.prepare<
    [number, Uint8Array, number],
    { subject: Uint8Array; position: number; unchanged_since_ms: number; listed_ms: number }
  >(
    `SELECT one.subject, one.position, unchanged_since_ms, listed_ms FROM expiring_contact AS one
      CROSS JOIN subject USING (feed_no, subject, position)
      WHERE feed_no = ? AND one.subject > ? AND listed_ms IS NOT NULL ORDER BY one.subject LIMIT ?`,
  )
  return {
    enlist: (step) => link.call('enlistContacts', step),
    keep: (tenantId, subjectId, actor) => link.call('keepContact', tenantId, subjectId, actor),
    listed(tenantId, after, limit) {
      const feedNo = feedOf({ tenantId, feed: 'contact' })?.feedNo
      if (feedNo === undefined) return []
      const from = after === undefined ? new Uint8Array() : bytesOfUuid(after)
      return select.all(feedNo, from, limit).map(({ subject, position, ...row }) => ({
        subjectId: uuidOfBytes(subject),
        position,
        unchangedSinceMs: row.unchanged_since_ms,
        listedMs: row.listed_ms,
      }))
    },
  }
}

/** Contacts on the list, and those kept off it: for another store. */
export function* expiringRecords(db: Connection, key: FeedKey, feedNo: number): Generator<ExpiringRecord> {
  const select = db.prepare<
    [number, Uint8Array],
    { subject: Buffer; position: number; unchanged_since_ms: number; listed_ms: number | null }
  >(
    `SELECT subject, position, unchanged_since_ms, listed_ms FROM expiring_contact
      WHERE feed_no = ? AND subject > ? ORDER BY subject LIMIT ${recordsPerPiece}`,
  )
  for (let after: Uint8Array = new Uint8Array(); ;) {
    const rows = select.all(feedNo, after)
    for (const { subject, position, unchanged_since_ms: unchangedSinceMs, listed_ms: listedMs } of rows) {
      const contact = { subjectId: uuidOfBytes(subject), position, unchangedSinceMs }
      yield { kind: 'expiring', key, ...contact, listedMs: listedMs ?? undefined }
    }
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.subject
  }
}

/** Stores a contact from another store. Within a transaction. */
export function expiringPutter(db: Connection): (feedNo: number, record: ExpiringRecord) => void {
  const put = db.prepare(
    `INSERT INTO expiring_contact VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET position = excluded.position,
      unchanged_since_ms = excluded.unchanged_since_ms, listed_ms = excluded.listed_ms
      WHERE expiring_contact.position <= excluded.position`,
  )
  return (feedNo, { subjectId, position, unchangedSinceMs, listedMs }) =>
    void put.run(feedNo, bytesOfUuid(subjectId), position, unchangedSinceMs, listedMs ?? null)
}
