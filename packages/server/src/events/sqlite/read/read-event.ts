import { bytesOfUuid } from '@property-events/protocol/plain'
import type { FeedKey } from '../../feed-key.ts'
import type { ReadSubjectQuery, StoredEvent } from '../../event-log.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { eventColumns, storedEventOf } from '../event-checksum.ts'
import type { EventRow } from '../event-checksum.ts'
import { feedNumbers, feedReader } from '../feed-row.ts'

/** Ids that were taken without storing anything refer to another event (`event_id`); they are not that event's id. */
const sql = `SELECT ${eventColumns}
  FROM event_id CROSS JOIN event ON event.place = (event_id.feed_no << 40) | event_id.position
  WHERE event_id.feed_no = CAST(? AS INTEGER) AND event_id.id = CAST(? AS BLOB) AND event.id = event_id.id`

/** The event's branch is in a JSON list. An event without a branch is in none. */
const ofBranches = 'event.branch IN (SELECT value FROM json_each(CAST(@branches AS TEXT)))'

export function eventReader(
  db: Connection,
): (key: FeedKey, id: string, branches?: readonly string[]) => StoredEvent | undefined {
  const feedNoOf = feedNumbers(db)
  const select = db.prepare<[number, Uint8Array], EventRow>(sql)
  const selectWithin = db.prepare<[number, Uint8Array, { readonly branches: string }], EventRow>(
    `${sql} AND ${ofBranches}`,
  )
  return (key, id, branches) => {
    const feedNo = feedNoOf(key)
    if (feedNo === undefined) return undefined
    const found = [feedNo, bytesOfUuid(id)] as const
    const row =
      branches === undefined
        ? select.get(...found)
        : selectWithin.get(...found, { branches: JSON.stringify(branches) })
    return row && storedEventOf(row)
  }
}

/** One probe that reads no event: 3 µs, where reading an event of 3.6 kB takes 7. */
export function positionReader(db: Connection): (key: FeedKey, id: string) => number | undefined {
  const feedNoOf = feedNumbers(db)
  const select = db
    .prepare<[number, Uint8Array], number>(
      'SELECT position FROM event_id WHERE feed_no = CAST(? AS INTEGER) AND id = CAST(? AS BLOB)',
    )
    .pluck()
  return (key, id) => {
    const feedNo = feedNoOf(key)
    return feedNo === undefined ? undefined : select.get(feedNo, bytesOfUuid(id))
  }
}

interface Within {
  readonly feed: number
  readonly subject: Uint8Array
  /** A JSON list. */
  readonly branches: string
}

interface LatestWithin extends Omit<Within, 'branches'> {
  readonly upTo: number
  /** Null: any event. */
  readonly branches: string | null
}

interface History {
  readonly feed: number
  readonly subject: Uint8Array
  readonly after: number
  readonly limit: number
}

const ofSubject = `SELECT ${eventColumns} FROM event INDEXED BY event_subject
    WHERE feed_no = CAST(@feed AS INTEGER) AND subject = CAST(@subject AS BLOB)`

const readSubjectStatements = {
  latest: `SELECT ${eventColumns}
    FROM subject CROSS JOIN event ON event.place = (subject.feed_no << 40) | subject.position
    WHERE subject.feed_no = CAST(? AS INTEGER) AND subject.subject = CAST(? AS BLOB)`,
  history: `${ofSubject} AND sequence > CAST(@after AS INTEGER) ORDER BY place LIMIT CAST(@limit AS INTEGER)`,
  /** Of some branches, or of all; up to a number. Costs as much as the later part of the history is long. */
  latestWithin: `${ofSubject} AND sequence <= CAST(@upTo AS INTEGER) AND (@branches IS NULL OR ${ofBranches})
    ORDER BY place DESC LIMIT 1`,
  historyWithin: `${ofSubject} AND sequence > CAST(@after AS INTEGER) AND ${ofBranches} ORDER BY place LIMIT CAST(@limit AS INTEGER)`,
} as const

export function latestReader(
  db: Connection,
): (key: FeedKey, subjectId: string, branches?: readonly string[], upTo?: number) => StoredEvent | undefined {
  const feedOf = feedReader(db)
  const select = db.prepare<[number, Uint8Array], EventRow>(readSubjectStatements.latest)
  const selectWithin = db.prepare<LatestWithin, EventRow>(readSubjectStatements.latestWithin)
  return (key, subjectId, branches, upTo = Number.MAX_SAFE_INTEGER) => {
    const feedNo = feedOf(key)?.feedNo
    if (feedNo === undefined) return undefined
    const subject = bytesOfUuid(subjectId)
    const within = { feed: feedNo, subject, upTo, branches: branches ? JSON.stringify(branches) : null }
    const row =
      branches === undefined && upTo === Number.MAX_SAFE_INTEGER
        ? select.get(feedNo, subject)
        : selectWithin.get(within)
    return row && storedEventOf(row)
  }
}

export function subjectReader(db: Connection): (query: ReadSubjectQuery) => readonly StoredEvent[] {
  const feedOf = feedReader(db)
  const select = db.prepare<History, EventRow>(readSubjectStatements.history)
  const selectWithin = db.prepare<History & Within, EventRow>(readSubjectStatements.historyWithin)
  return ({ key, subjectId, after, limit, branches }) => {
    const feed = feedOf(key)
    if (feed === undefined) return []
    const asked = { feed: feed.feedNo, subject: bytesOfUuid(subjectId), after, limit }
    const rows =
      branches === undefined
        ? select.all(asked)
        : selectWithin.all({ ...asked, branches: JSON.stringify(branches) })
    return rows.map(storedEventOf)
  }
}
