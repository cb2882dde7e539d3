import { viewsOf } from '@property-events/protocol/plain'
import type { Category } from '@property-events/protocol'
import { partsOfView } from '../../branches/branch-view.ts'
import type { FeedView } from '../../branches/branch-view.ts'
import type { ReadAfterQuery, StoredEvent } from '../../event-log.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { eventColumns, storedEventOf } from '../event-checksum.ts'
import type { EventRow } from '../event-checksum.ts'
import { feedReader, sequenceReader } from '../feed-row.ts'
import type { FeedRow } from '../feed-row.ts'

interface After {
  readonly feed: number
  readonly position: number
  readonly limit: number
}

/** Ordered runs through trees, each ended by its limit. Positions are greater than the given one. */
export const readAfterStatements = {
  all: `SELECT ${eventColumns} FROM event
    WHERE place > (@feed << 40) | @position AND place < (@feed + 1) << 40 ORDER BY place LIMIT CAST(@limit AS INTEGER)`,
  /** Time rises with position, so a view's time index also finds the place of a position in it. */
  view: `SELECT ${eventColumns}
    FROM view_entry INDEXED BY view_entry_created
    CROSS JOIN event ON event.place = (view_entry.feed_no << 40) | view_entry.position
    WHERE view_entry.feed_no = CAST(@feed AS INTEGER) AND view = CAST(@view AS TEXT)
      AND view_entry.created > coalesce((SELECT created FROM event WHERE place = (@feed << 40) | @position), -1 << 62)
    ORDER BY view_entry.created LIMIT CAST(@limit AS INTEGER)`,
  latest: `SELECT ${eventColumns}
    FROM subject INDEXED BY subject_latest
    CROSS JOIN event ON event.place = (subject.feed_no << 40) | subject.position
    WHERE subject.feed_no = CAST(@feed AS INTEGER) AND subject.category IS CAST(@category AS TEXT) AND subject.position > @position
    ORDER BY subject.position LIMIT CAST(@limit AS INTEGER)`,
  branchLatest: `SELECT ${eventColumns}
    FROM branch_latest INDEXED BY branch_latest_order
    CROSS JOIN event ON event.place = (branch_latest.feed_no << 40) | branch_latest.position
    WHERE branch_latest.feed_no = CAST(@feed AS INTEGER) AND branch_latest.branch_set = CAST(@set AS TEXT)
      AND branch_latest.category IS CAST(@category AS TEXT) AND branch_latest.position > @position
    ORDER BY branch_latest.position LIMIT CAST(@limit AS INTEGER)`,
} as const

export function afterReader(db: Connection): (query: ReadAfterQuery) => readonly StoredEvent[] {
  const feedOf = feedReader(db)
  const positionOf = positionFinder(db)
  const readAll = db.prepare<After, EventRow>(readAfterStatements.all)
  const readView = db.prepare<After & { view: string }, EventRow>(readAfterStatements.view)
  const latest = db.prepare<After & { category: string | null }, EventRow>(readAfterStatements.latest)
  const branchLatest = db.prepare<After & { category: string | null; set: string }, EventRow>(
    readAfterStatements.branchLatest,
  )
  const readLatest = (from: After, view: FeedView, category: Category | null): readonly EventRow[] => {
    const { set } = partsOfView(view)
    return set === undefined
      ? latest.all({ ...from, category })
      : branchLatest.all({ ...from, category, set })
  }

  return db.transaction((query: ReadAfterQuery): readonly StoredEvent[] => {
    const { key, view, after, limit, latestOnly } = query
    const feed = feedOf(key)
    if (feed === undefined) return []
    const from = { feed: feed.feedNo, position: positionOf(feed, after), limit }
    const rows = latestOnly
      ? categoriesOf(key.feed, view)
          .flatMap((category) => readLatest(from, view, category))
          .sort((a, b) => a.sequence - b.sequence)
          .slice(0, limit)
      : view === 'all'
        ? readAll.all(from)
        : readView.all({ ...from, view })
    return rows.map(storedEventOf)
  })
}

/** The categories that a view's subjects can have; contacts have none. */
export function categoriesOf(
  feed: ReadAfterQuery['key']['feed'],
  view: FeedView,
): readonly (Category | null)[] {
  const { category } = partsOfView(view)
  if (category !== undefined) return [category]
  return feed === 'contact' ? [null] : viewsOf(feed)
}

/** The last position whose sequence number is not greater. In the present epoch this is a subtraction, otherwise a binary search. */
export function positionFinder(db: Connection): (feed: FeedRow, sequenceNumber: number) => number {
  const sequenceAt = sequenceReader(db)
  return ({ feedNo, offset, lastPosition }, sequenceNumber) => {
    const guess = sequenceNumber - offset
    if (guess >= lastPosition) return lastPosition
    if (guess > 0 && sequenceAt(feedNo, guess) === sequenceNumber) return guess
    let low = 0
    let high = lastPosition
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((sequenceAt(feedNo, middle) ?? 0) <= sequenceNumber) low = middle
      else high = middle - 1
    }
    return low
  }
}
