import type { Ticks } from '@property-events/protocol'
import { isOpenWindow } from '../../time-reservation.ts'
import { answersOpenWindows } from '../../feed.ts'
import { StorageFailure } from '../../../sql/storage-errors.ts'
import type { FeedView } from '../../branches/branch-view.ts'
import type { LocateQuery, Located } from '../../event-log.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { readinessOf } from '../branch-views.ts'
import { feedReader, headReader } from '../feed-row.ts'
import type { FeedRow } from '../feed-row.ts'

/** Every statement is one probe of a tree (P5). */
const locateStatements = {
  lastOrdinal: 'SELECT last_ordinal FROM view WHERE feed_no = CAST(? AS INTEGER) AND view = CAST(? AS TEXT)',
  positionFrom: `SELECT place & 0xffffffffff FROM event INDEXED BY event_created
    WHERE feed_no = CAST(? AS INTEGER) AND created >= CAST(? AS INTEGER) ORDER BY created LIMIT 1`,
  ordinalFrom: `SELECT ordinal FROM view_entry INDEXED BY view_entry_created
    WHERE feed_no = CAST(? AS INTEGER) AND view = CAST(? AS TEXT) AND created >= CAST(? AS INTEGER)
    ORDER BY created LIMIT 1`,
} as const

interface TimeProbes {
  /** The last ordinal of a view. */
  lastOf(feed: FeedRow, view: FeedView): number
  /** The first ordinal of a view at or after a time; `undefined`: there is none. */
  firstFrom(feed: FeedRow, view: FeedView, created: Ticks): number | undefined
}

export function timeProbes(db: Connection): TimeProbes {
  const lastOrdinal = db.prepare<[number, string], number>(locateStatements.lastOrdinal).pluck()
  const positionFrom = db.prepare<[number, Ticks], number>(locateStatements.positionFrom).pluck()
  const ordinalFrom = db.prepare<[number, string, Ticks], number>(locateStatements.ordinalFrom).pluck()

  return {
    lastOf: (feed, view) => (view === 'all' ? feed.lastPosition : (lastOrdinal.get(feed.feedNo, view) ?? 0)),
    firstFrom: (feed, view, created) =>
      view === 'all' ? positionFrom.get(feed.feedNo, created) : ordinalFrom.get(feed.feedNo, view, created),
  }
}

export function locator(db: Connection): (query: LocateQuery) => Located | undefined {
  const feedOf = feedReader(db)
  const headOf = headReader(db)
  const probes = timeProbes(db)
  const assertReady = readinessOf(db)

  // One transaction, so that count, window and head come from one state of the feed (P4).
  return db.transaction((query: LocateQuery): Located | undefined => {
    const feed = feedOf(query.key)
    if (feed === undefined) return undefined
    const { key, view, from, to } = query
    assertReady(feed.feedNo, view)
    const afterLast = probes.lastOf(feed, view) + 1
    const head = headOf(feed)
    // In the look whose answer counts: it comes after the time was read (P3).
    if (!answersOpenWindows(feed) && isOpenWindow(query, { head })) throw new StorageFailure('tenant_moving')
    const first = from === undefined ? 1 : (probes.firstFrom(feed, view, from) ?? afterLast)
    const end = to === undefined ? afterLast : (probes.firstFrom(feed, view, to) ?? afterLast)
    return { range: { key, view, first, count: Math.max(0, end - first) }, head }
  })
}
