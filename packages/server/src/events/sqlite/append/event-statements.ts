/** The statements that every new event needs, whether it is published here or taken over from another store. */
import type { Connection } from '../../../sql/sqlite/connection.ts'

export function eventStatements(db: Connection) {
  return {
    putSubject: db.prepare(
      `INSERT INTO subject (feed_no, subject, position, published, category, branch, code, payload_hash, spelling,
          update_date_hash, kept_code)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET position = excluded.position, published = excluded.published,
          category = excluded.category, branch = excluded.branch, code = excluded.code,
          payload_hash = excluded.payload_hash, spelling = excluded.spelling,
          update_date_hash = excluded.update_date_hash, kept_code = excluded.kept_code`,
    ),
    /** Takes this many ordinals of a view and returns the last of them; nothing if the feed has no such view. */
    takeOrdinals: db
      .prepare<[number, number, string], number>(
        'UPDATE view SET last_ordinal = last_ordinal + ? WHERE feed_no = ? AND view = ? RETURNING last_ordinal',
      )
      .pluck(),
    insertEntry: db.prepare(
      'INSERT INTO view_entry (feed_no, view, ordinal, position, created) VALUES (?, ?, ?, ?, ?)',
    ),
    /** Advances the feed's counter. */
    advance: db.prepare('UPDATE feed SET last_position = ?, last_created = ? WHERE feed_no = ?'),
  }
}
