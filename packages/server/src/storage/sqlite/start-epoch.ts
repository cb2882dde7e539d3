import { newEpochId } from '../epoch-id.ts'
import type { FeedKey } from '../storage.ts'
import type { Connection } from './connection.ts'
import { feedReader, headReader } from './feed-row.ts'
import type { FeedRow } from './feed-row.ts'
import { metaOf } from './meta.ts'

/**
 * A new epoch in every feed, or in the given ones, in one commit (D13): the next numbers come after all that were or may have
 * been shown.
 */
export function startEpoch(db: Connection, continueAfter: number, keys?: readonly FeedKey[]): void {
  const begin = db.transaction(() => {
    if (keys === undefined) startEverywhere(db, continueAfter)
    else startIn(db, continueAfter, keys)
  })
  begin.immediate()
}

const beginSql = 'UPDATE feed SET epoch = ?, offset = ? - last_position, needs_epoch = 0 WHERE feed_no = ?'

function startEverywhere(db: Connection, continueAfter: number): void {
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
  const update = db.prepare(beginSql)
  for (const feedNo of feeds) update.run(newEpochId(), offset, feedNo)
  meta.set('first_offset', String(offset))
  meta.set('needs_epoch', '0')
}

function startIn(db: Connection, continueAfter: number, keys: readonly FeedKey[]): void {
  const meta = metaOf(db)
  if (meta.get('needs_epoch') === '1') db.prepare('UPDATE feed SET needs_epoch = 1').run()
  meta.set('needs_epoch', '0')
  const [feedOf, headOf] = [feedReader(db), headReader(db)]
  const update = db.prepare(beginSql)
  const feeds = keys.map(feedOf).filter((feed): feed is FeedRow => feed !== undefined)
  for (const feed of new Map(feeds.map((one) => [one.feedNo, one])).values()) {
    const offset = Math.max(continueAfter, headOf(feed).sequenceNumber)
    update.run(newEpochId(), offset, feed.feedNo)
  }
}

/** Publishing goes on in the epochs there are: an operator knows that nothing is missing. */
export function acceptHistory(db: Connection): 'accepted' {
  const accept = db.transaction(() => {
    db.prepare('UPDATE feed SET needs_epoch = 0 WHERE needs_epoch = 1').run()
    metaOf(db).set('needs_epoch', '0')
  })
  accept.immediate()
  return 'accepted'
}
