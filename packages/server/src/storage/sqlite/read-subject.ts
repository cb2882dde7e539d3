import { bytesOfUuid } from '@property-events/protocol/plain'
import type { FeedKey, ReadSubjectQuery, StoredEvent } from '../storage.ts'
import type { Connection } from './connection.ts'
import { eventColumns, storedEventOf } from './event-row.ts'
import type { EventRow } from './event-row.ts'
import { feedReader } from './feed-row.ts'

interface History {
  readonly feed: number
  readonly subject: Uint8Array
  readonly after: number
  readonly limit: number
}

export const readSubjectStatements = {
  latest: `SELECT ${eventColumns}
    FROM subject CROSS JOIN event ON event.place = (subject.feed_no << 40) | subject.position
    WHERE subject.feed_no = CAST(? AS INTEGER) AND subject.subject = CAST(? AS BLOB)`,
  history: `SELECT ${eventColumns} FROM event INDEXED BY event_subject
    WHERE feed_no = CAST(@feed AS INTEGER) AND subject = CAST(@subject AS BLOB) AND sequence > CAST(@after AS INTEGER) ORDER BY place LIMIT CAST(@limit AS INTEGER)`,
} as const

export function latestReader(db: Connection): (key: FeedKey, subjectId: string) => StoredEvent | undefined {
  const feedOf = feedReader(db)
  const select = db.prepare<[number, Uint8Array], EventRow>(readSubjectStatements.latest)
  return (key, subjectId) => {
    const feed = feedOf(key)
    const row = feed && select.get(feed.feedNo, bytesOfUuid(subjectId))
    return row && storedEventOf(row)
  }
}

export function subjectReader(db: Connection): (query: ReadSubjectQuery) => readonly StoredEvent[] {
  const feedOf = feedReader(db)
  const select = db.prepare<History, EventRow>(readSubjectStatements.history)
  return ({ key, subjectId, after, limit }) => {
    const feed = feedOf(key)
    if (feed === undefined) return []
    const subject = bytesOfUuid(subjectId)
    return select.all({ feed: feed.feedNo, subject, after, limit }).map(storedEventOf)
  }
}
