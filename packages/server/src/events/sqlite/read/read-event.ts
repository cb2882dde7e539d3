import { bytesOfUuid } from '@property-events/protocol/plain'
import type { FeedKey } from '../../feed-key.ts'
import type { StoredEvent } from '../../event-log.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { eventColumns, storedEventOf } from '../event-checksum.ts'
import type { EventRow } from '../event-checksum.ts'
import { feedNumbers } from '../feed-row.ts'

/** Ids that were taken without storing anything refer to another event (`event_id`); they are not that event's id. */
const sql = `SELECT ${eventColumns}
  FROM event_id CROSS JOIN event ON event.place = (event_id.feed_no << 40) | event_id.position
  WHERE event_id.feed_no = CAST(? AS INTEGER) AND event_id.id = CAST(? AS BLOB) AND event.id = event_id.id`

/** The event's branch is in a JSON list. An event without a branch is in none. */
export const ofBranches = 'event.branch IN (SELECT value FROM json_each(CAST(@branches AS TEXT)))'

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
