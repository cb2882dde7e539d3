/** Events of restricted contacts: puts their bytes aside, restores them, or drops them. Within a transaction. */
import { uuidOfBytes } from '@property-events/protocol/plain'
import type { FeedName } from '@property-events/protocol'
import { erasedEventJson } from '../append/reduced-event.ts'
import type { Connection } from '../../sql/sqlite/connection.ts'
import { assertUndamaged, eventChecksum } from './event-checksum.ts'

export interface KeptRow {
  readonly position: number
  readonly sequence: number
  readonly subject: Uint8Array
  readonly json: Buffer
  readonly checksum: number
}

export function keptEvents(db: Connection) {
  const put = db.prepare('INSERT OR REPLACE INTO kept_event VALUES (?, ?, ?, ?, ?, ?)')
  const remove = db.prepare('DELETE FROM kept_event WHERE feed_no = ? AND subject = ? AND position = ?')
  const update = db.prepare('UPDATE event SET json = ?, checksum = ?, state = ? WHERE place = (? << 40) | ?')
  const keep = (feedNo: number, { position, sequence, subject, json }: Omit<KeptRow, 'checksum'>): void =>
    void put.run(feedNo, subject, position, sequence, json, eventChecksum(position, json))
  const change = (feedNo: number, position: number, json: Buffer, state: string): void =>
    void update.run(json, eventChecksum(position, json), state, feedNo, position)
  return {
    keep,
    hide: (feedNo: number, feed: FeedName, row: KeptRow): void => {
      assertUndamaged(row, row.json)
      keep(feedNo, row)
      const json = erasedEventJson(feed, uuidOfBytes(row.subject), row.json.toString('utf8'))
      change(feedNo, row.position, Buffer.from(json), 'restricted')
    },
    show: (feedNo: number, row: KeptRow): void => {
      assertUndamaged(row, row.json)
      change(feedNo, row.position, row.json, 'full')
      remove.run(feedNo, row.subject, row.position)
    },
    /** The event is still shown as before. */
    drop: (feedNo: number, subject: Uint8Array, position: number): void =>
      void remove.run(feedNo, subject, position),
  }
}

/** The position of the latest event that is kept of a contact; `undefined`: none is. */
export function latestKeptReader(
  db: Connection,
): (feedNo: number, subject: Uint8Array) => KeptRow | undefined {
  const select = db.prepare<[number, Uint8Array], KeptRow>(
    `SELECT position, sequence, subject, json, checksum FROM kept_event
      WHERE feed_no = ? AND subject = ? ORDER BY position DESC LIMIT 1`,
  )
  return (feedNo, subject) => select.get(feedNo, subject)
}
