/** Counts events before a time, and live subjects. */
import { viewsOf } from '@property-events/protocol'
import type { FeedCount, LatestEvent, NewestQuery, Tally, TallyQuery } from '../../event-log.ts'
import { bigints, texts } from '../../../sql/postgres/array.ts'
import type { Reads } from '../../../sql/postgres/connection.ts'
import type { Statement } from '../../../sql/postgres/session.ts'
import { eventAt } from '../../log-statements.ts'
import { feedNumbers, feedOfNumber } from '../../../sql/database.ts'

const countColumns = 'f.tenant::text, f.feed, f.last_created, f.live_count AS live'

export const countStatements = {
  /** One row for each time, with the first event at or after it: a probe of the index of times. */
  tallyAll: {
    name: 'tally-all',
    text: `SELECT f.last_position AS total, (
        SELECT e.position FROM event e WHERE e.tenant = $1 AND e.feed = $2 AND e.sequence > 0 AND e.created >= given.time
        ORDER BY e.created LIMIT 1) AS first
      FROM feed f LEFT JOIN unnest($3::bigint[]) WITH ORDINALITY AS given (time, n) ON true
      WHERE f.tenant = $1 AND f.feed = $2 ORDER BY given.n`,
  },
  tallyView: {
    name: 'tally-view',
    text: `SELECT coalesce(v.last_ordinal, 0) AS total, (
        SELECT e.ordinal FROM view_entry e
        WHERE e.tenant = $1 AND e.feed = $2 AND e.view = $4 AND e.position > 0 AND e.created >= given.time
        ORDER BY e.created LIMIT 1) AS first
      FROM feed f LEFT JOIN view v ON v.tenant = $1 AND v.feed = $2 AND v.view = $4
      LEFT JOIN unnest($3::bigint[]) WITH ORDINALITY AS given (time, n) ON true
      WHERE f.tenant = $1 AND f.feed = $2 ORDER BY given.n`,
  },
  counts: { name: 'feed-counts', text: `SELECT ${countColumns} FROM feed f` },
  countsOfTenant: {
    name: 'feed-counts-of-tenant',
    text: `SELECT ${countColumns} FROM feed f WHERE f.tenant = $1`,
  },
  /** One backward run through the index of latest events, for each category; the order is written as the index has it. */
  newest: {
    name: 'read-newest',
    text: `SELECT latest.position, latest.published, e.sequence, e.json FROM (
        SELECT latest.position, latest.published FROM unnest($5::text[]) AS wanted (category)
        CROSS JOIN LATERAL (
          SELECT s.position, s.published FROM subject s
          WHERE s.tenant = $1 AND s.feed = $2 AND s.category = wanted.category AND s.position > 0 AND s.position < $3
          ORDER BY s.tenant DESC, s.feed DESC, s.category DESC, s.position DESC LIMIT $4
        ) AS latest
        UNION ALL
        (SELECT s.position, s.published FROM subject s
          WHERE $5::text[] = '{}' AND s.tenant = $1 AND s.feed = $2 AND s.category IS NULL AND s.position > 0 AND s.position < $3
          ORDER BY s.tenant DESC, s.feed DESC, s.category DESC, s.position DESC LIMIT $4)
        ORDER BY 1 DESC LIMIT $4
      ) AS latest
      ${eventAt('latest.position', 'sequence, json')}
      ORDER BY latest.position DESC`,
  },
} as const satisfies Record<string, Statement>

interface TallyRow {
  readonly total: string
  readonly first: string | null
}

export async function tally(database: Reads, { key, view, times }: TallyQuery): Promise<Tally | undefined> {
  const asked = [key.tenantId, feedNumbers[key.feed], bigints(times)]
  const rows =
    view === 'all'
      ? await database.read<TallyRow>(countStatements.tallyAll, asked)
      : await database.read<TallyRow>(countStatements.tallyView, [...asked, view])
  const [some] = rows
  if (some === undefined) return undefined
  const total = Number(some.total)
  // Without a time there is one row for the total.
  const before = rows.slice(0, times.length).map(({ first }) => Number(first ?? total + 1) - 1)
  return { total, before }
}

interface CountRow {
  readonly tenant: string
  readonly feed: number
  readonly last_created: string | null
  readonly live: string
}

export async function readCounts(
  database: Reads,
  tenantId: string | undefined,
): Promise<readonly FeedCount[]> {
  const rows =
    tenantId === undefined
      ? await database.read<CountRow>(countStatements.counts, [])
      : await database.read<CountRow>(countStatements.countsOfTenant, [tenantId])
  return rows.map(({ tenant, feed, last_created: created, live }) => ({
    key: { tenantId: tenant, feed: feedOfNumber(feed, 'feed') },
    created: created === null ? undefined : BigInt(created),
    live: Number(live),
  }))
}

interface NewestRow {
  readonly position: string
  readonly published: boolean
  readonly sequence: string
  readonly json: string
}

export async function readNewest(database: Reads, query: NewestQuery): Promise<readonly LatestEvent[]> {
  const { key, view, before = Number.MAX_SAFE_INTEGER, limit } = query
  const categories = view === 'all' ? viewsOf(key.feed) : [view]
  const asked = [key.tenantId, feedNumbers[key.feed], before, limit, texts(categories)]
  const rows = await database.read<NewestRow>(countStatements.newest, asked)
  return rows.map(({ position, published: live, sequence, json }) => ({
    position: Number(position),
    sequenceNumber: Number(sequence),
    json: Buffer.from(json),
    live,
  }))
}
