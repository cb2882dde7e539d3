import type { Ticks } from '@property-events/protocol'
import { isOpenWindow, timeReservation } from '../../time-reservation.ts'
import type { Reserved } from '../../time-reservation.ts'
import { answersOpenWindows } from '../../feed.ts'
import { StorageFailure } from '../../../sql/storage-errors.ts'
import type { FeedView } from '../../branches/branch-view.ts'
import type { Located, LocateQuery } from '../../event-log.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { readinessOf } from '../branch-views.ts'
import { feedReader, headReader } from '../feed-row.ts'
import type { FeedRow } from '../feed-row.ts'
import type { TaskReport } from '../../../runtime/background-task.ts'
import { floorAfter, readClock } from '../../../runtime/clock.ts'
import type { SharedClock } from '../../../runtime/clock.ts'
import type { CommitLine } from '../commit-line.ts'
import type { OnWriter } from '../../../sql/sqlite.ts'

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

/** The writer's verbs about time (P3). */
export interface TimeWrites {
  /** Extends the reservation of time, if necessary, and answers when that is on disk. */
  reserveTime(): Reserved
  /** Answered after all commits that were under way when it was asked. */
  settled(): void
}

export interface OpenWindowLocator {
  /** Like `EventStore.locate`: an open window is read once nothing stamped waits for its commit (P3). */
  locate(query: LocateQuery): Promise<Located | undefined>
  /** `EventStore.settledLater`. */
  settledLater(): () => Ticks | undefined
  /** How far ahead time is reserved, as far as is known here. */
  reservedMs(): number | undefined
  /** No time is reserved any more. */
  stop(): void
}

export function openWindowLocator(
  db: Connection,
  clock: SharedClock | undefined,
  line: CommitLine,
  writer: OnWriter<TimeWrites>,
  report: TaskReport,
): OpenWindowLocator {
  const locateNow = locator(db)
  const reservation = timeReservation({ renew: () => writer.reserveTime(), report })

  /** Returns the time once the store will remember, after a crash, that windows were answered until then. */
  const reservedNow = async (): Promise<Ticks> => {
    for (;;) {
      const now = readClock(clock)
      if (reservation.covers(floorAfter(now))) return now
      try {
        await reservation.renewed()
      } catch (error) {
        // Reading continues if nothing can be written, for example on a full disk (docs/decisions/0013).
        if (!(error instanceof StorageFailure) || error.code === 'storage_closed') throw error
        return now
      }
    }
  }

  return {
    async locate(query) {
      // A window without an end is open, so there is no need to read the feed.
      if (query.from === undefined || query.to !== undefined) {
        const located = locateNow(query)
        if (located === undefined || !isOpenWindow(query, located)) return located
      }
      const now = await reservedNow()
      // Without a writer, nothing stamped waits for its commit, so an error is as good as an answer.
      if (!line.ask(now)) await writer.settled().catch(() => undefined)
      const located = locateNow(query)
      return located && { ...located, settled: floorAfter(now) }
    },
    settledLater() {
      // Another process may move the tenant to another store, which then stamps nothing before the end of the reservation that it has
      // found (docs/decisions/0019).
      const reserved = reservation.reserved()
      return () => {
        const now = readClock(clock)
        const settled = floorAfter(now)
        return settled <= reserved && reservation.covers(settled) && line.ask(now) ? settled : undefined
      }
    },
    reservedMs: () => reservation.aheadMs(),
    stop: () => reservation.stop(),
  }
}
