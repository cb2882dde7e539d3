import { newEpochId } from '../epoch-id.ts'
import type { Connection } from './connection.ts'
import { metaOf } from './meta.ts'

/** A new epoch in every feed, in one commit (D13): the next numbers lie behind all that were or may have been shown. */
export function startEpoch(db: Connection, continueAfter: number): void {
  const begin = db.transaction(() => {
    const meta = metaOf(db)
    const held = db
      .prepare<[], number>(
        `SELECT coalesce(max(event.sequence), 0)
          FROM feed CROSS JOIN event ON event.place = (feed.feed_no << 40) | feed.last_position`,
      )
      .pluck()
      .get()
    const offset = Math.max(continueAfter, Number(meta.get('first_offset')), held ?? 0)
    const feeds = db.prepare<[], number>('SELECT feed_no FROM feed').pluck().all()
    const update = db.prepare('UPDATE feed SET epoch = ?, offset = ? - last_position WHERE feed_no = ?')
    for (const feedNo of feeds) update.run(newEpochId(), offset, feedNo)
    meta.set('first_offset', String(offset))
    meta.set('needs_epoch', '0')
  })
  begin.immediate()
}
