/** Counts events before a time, and live subjects. */
import type { FeedName, Ticks, ViewName } from '@property-events/protocol'
import type { FeedCount, LatestEvent, NewestQuery, Tally, TallyQuery } from '../../event-log.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { eventColumns, storedEventOf } from '../event-checksum.ts'
import type { EventRow } from '../event-checksum.ts'
import { feedReader } from '../feed-row.ts'
import { timeProbes } from './locate.ts'
import { categoriesOf } from './read-after.ts'

/** All times in one transaction, so that they come from one state of the feed. */
export function tallier(db: Connection): (query: TallyQuery) => Tally | undefined {
  const feedOf = feedReader(db)
  const probes = timeProbes(db)
  return db.transaction(({ key, view, times }: TallyQuery): Tally | undefined => {
    const feed = feedOf(key)
    if (feed === undefined) return undefined
    const total = probes.lastOf(feed, view)
    const before = times.map((time) => (probes.firstFrom(feed, view, time) ?? total + 1) - 1)
    return { total, before }
  })
}

interface CountRow {
  readonly tenant: string
  readonly feed: FeedName
  readonly last_created: Ticks | null
  readonly live_count: bigint
}

const countColumns = 'tenant, feed, last_created, live_count'

const countStatements = {
  all: `SELECT ${countColumns} FROM feed`,
  ofTenant: `SELECT ${countColumns} FROM feed WHERE tenant = CAST(? AS TEXT)`,
} as const

export function countsReader(db: Connection): (tenantId?: string) => readonly FeedCount[] {
  const all = db.prepare<[], CountRow>(countStatements.all).safeIntegers()
  const ofTenant = db.prepare<[string], CountRow>(countStatements.ofTenant).safeIntegers()
  return (tenantId) => (tenantId === undefined ? all.all() : ofTenant.all(tenantId)).map(countOf)
}

function countOf({ tenant, feed, last_created: created, live_count: live }: CountRow): FeedCount {
  return { key: { tenantId: tenant, feed }, created: created ?? undefined, live: Number(live) }
}

const newestStatements = {
  /** One backward run through the index of latest events, for each category. */
  newest: `SELECT ${eventColumns}, subject.published AS live
    FROM subject INDEXED BY subject_latest
    CROSS JOIN event ON event.place = (subject.feed_no << 40) | subject.position
    WHERE subject.feed_no = CAST(@feed AS INTEGER) AND subject.category IS CAST(@category AS TEXT)
      AND subject.position < CAST(@before AS INTEGER)
    ORDER BY subject.position DESC LIMIT CAST(@limit AS INTEGER)`,
} as const

interface Newest {
  readonly feed: number
  readonly category: Exclude<ViewName, 'all'> | null
  readonly before: number
  readonly limit: number
}

export function newestReader(db: Connection): (query: NewestQuery) => readonly LatestEvent[] {
  const feedOf = feedReader(db)
  const select = db.prepare<Newest, EventRow & { readonly live: number }>(newestStatements.newest)
  // One state of the feed for all categories.
  return db.transaction((query: NewestQuery): readonly LatestEvent[] => {
    const { key, view, before = Number.MAX_SAFE_INTEGER, limit } = query
    const feed = feedOf(key)
    if (feed === undefined) return []
    return categoriesOf(key.feed, view)
      .flatMap((category) => select.all({ feed: feed.feedNo, category, before, limit }))
      .sort((a, b) => b.position - a.position)
      .slice(0, limit)
      .map((row) => ({ ...storedEventOf(row), position: row.position, live: row.live === 1 }))
  })
}
