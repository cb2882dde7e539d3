import { partsOfView } from '../../branches/branch-view.ts'
import { epochWeightSql } from '../../epochs.ts'
import { StorageFailure } from '../../../sql/storage-errors.ts'
import type { FeedKey } from '../../feed-key.ts'
import type { FeedVersion, FeedVersionsTotal, Head, Located, LocateQuery } from '../../event-log.ts'
import { feedLists } from '../../../sql/postgres/array.ts'
import type { Database, Reads } from '../../../sql/postgres/connection.ts'
import { readsOf } from '../../../sql/postgres/connection.ts'
import type { Statement } from '../../../sql/postgres/session.ts'
import { feedNumbers, feedOfNumber } from '../../../sql/database.ts'
import { headOf } from './head.ts'
import type { HeadRow } from './head.ts'
import { isOpenWindow } from '../../time-reservation.ts'
import type { ShownNumbers } from '../../shown-numbers.ts'
import type { Settler } from '../settle.ts'
import type { RecentEvents } from '../recent-events.ts'
import type { Witness } from '../witness.ts'

/** The columns of `headOf`, of a table named `f`. */
const headColumns =
  'f.epoch, f.number_offset, f.revision, f.thinned, f.last_position, f.last_sequence, f.last_created'

/**
 * Each part is one index probe (P5), and all come from one state of the feed (P4), because a statement has one snapshot. Conditions that
 * are always true name the index (see the first migration).
 */
export const locateStatements = {
  head: {
    name: 'head',
    text: `SELECT ${headColumns} FROM feed f WHERE f.tenant = $1 AND f.feed = $2`,
  },
  heads: {
    name: 'heads',
    text: `SELECT ${headColumns}, given.n FROM unnest($1::uuid[], $2::smallint[]) WITH ORDINALITY AS given (tenant, feed, n)
      JOIN feed f ON f.tenant = given.tenant AND f.feed = given.feed`,
  },
  versions: {
    name: 'versions',
    text: `SELECT tenant::text, feed, epoch, number_offset + last_position + revision AS count FROM feed`,
  },
  someVersions: {
    name: 'some-versions',
    text: `SELECT f.tenant::text, f.feed, f.epoch, f.number_offset + f.last_position + f.revision AS count
      FROM unnest($1::uuid[], $2::smallint[]) AS given (tenant, feed)
      JOIN feed f ON f.tenant = given.tenant AND f.feed = given.feed`,
  },
  versionsTotal: {
    name: 'versions-total',
    text: `SELECT count(*) AS feeds, coalesce(sum(number_offset + last_position + revision), 0)::text AS total,
        coalesce(sum(${epochWeightSql('ascii')}), 0)::text AS epochs FROM feed`,
  },
  all: {
    name: 'locate-all',
    text: `SELECT ${headColumns}, f.last_position AS last,
        CASE WHEN $3::bigint IS NULL THEN 1 ELSE
          (SELECT position FROM event e WHERE e.tenant = $1 AND e.feed = $2 AND e.sequence > 0 AND e.created >= $3
            ORDER BY e.created LIMIT 1) END AS first,
        CASE WHEN $4::bigint IS NULL THEN NULL ELSE
          (SELECT position FROM event e WHERE e.tenant = $1 AND e.feed = $2 AND e.sequence > 0 AND e.created >= $4
            ORDER BY e.created LIMIT 1) END AS after_window
      FROM feed f WHERE f.tenant = $1 AND f.feed = $2`,
  },
  view: {
    name: 'locate-view',
    text: `SELECT ${headColumns}, coalesce(v.last_ordinal, 0) AS last,
        CASE WHEN $4::bigint IS NULL THEN 1 ELSE
          (SELECT ordinal FROM view_entry e WHERE e.tenant = $1 AND e.feed = $2 AND e.view = $3 AND e.position > 0 AND e.created >= $4
            ORDER BY e.created LIMIT 1) END AS first,
        CASE WHEN $5::bigint IS NULL THEN NULL ELSE
          (SELECT ordinal FROM view_entry e WHERE e.tenant = $1 AND e.feed = $2 AND e.view = $3 AND e.position > 0 AND e.created >= $5
            ORDER BY e.created LIMIT 1) END AS after_window
      FROM feed f LEFT JOIN view v ON v.tenant = $1 AND v.feed = $2 AND v.view = $3
      WHERE f.tenant = $1 AND f.feed = $2`,
  },
  /** Like a view, for a set of branches: NULL as its last ordinal if the set is not ready. */
  branchView: {
    name: 'locate-branch-view',
    text: `SELECT ${headColumns}, (
          SELECT v.last_ordinal FROM view v WHERE v.tenant = $1 AND v.feed = $2 AND v.view = $3 AND EXISTS (
            SELECT FROM branch_set s WHERE s.tenant = $1 AND s.feed = $2 AND s.branch_set = $6 AND s.state = 'ready')
        ) AS last,
        CASE WHEN $4::bigint IS NULL THEN 1 ELSE
          (SELECT ordinal FROM view_entry e WHERE e.tenant = $1 AND e.feed = $2 AND e.view = $3 AND e.position > 0 AND e.created >= $4
            ORDER BY e.created LIMIT 1) END AS first,
        CASE WHEN $5::bigint IS NULL THEN NULL ELSE
          (SELECT ordinal FROM view_entry e WHERE e.tenant = $1 AND e.feed = $2 AND e.view = $3 AND e.position > 0 AND e.created >= $5
            ORDER BY e.created LIMIT 1) END AS after_window
      FROM feed f WHERE f.tenant = $1 AND f.feed = $2`,
  },
} as const satisfies Record<string, Statement>

interface LocateRow extends HeadRow {
  /** `null`: the view belongs to a set of branches, and is being made. */
  readonly last: string | null
  readonly first: string | null
  readonly after_window: string | null
}

async function locate(database: Reads, query: LocateQuery): Promise<Located | undefined> {
  const { key, view, from, to } = query
  const feed = [key.tenantId, feedNumbers[key.feed]]
  const window = [from ?? null, to ?? null]
  const { set } = partsOfView(view)
  const [row] =
    view === 'all'
      ? await database.read<LocateRow>(locateStatements.all, [...feed, ...window])
      : set === undefined
        ? await database.read<LocateRow>(locateStatements.view, [...feed, view, ...window])
        : await database.read<LocateRow>(locateStatements.branchView, [...feed, view, ...window, set])
  if (row === undefined) return undefined
  if (row.last === null) throw new StorageFailure('view_being_made')
  const afterLast = Number(row.last) + 1
  const first = Number(row.first ?? afterLast)
  const afterWindow = Number(row.after_window ?? afterLast)
  return { range: { key, view, first, count: Math.max(0, afterWindow - first) }, head: headOf(row) }
}

export async function readHead(database: Reads, key: FeedKey): Promise<Head | undefined> {
  const [row] = await database.read<HeadRow>(locateStatements.head, [key.tenantId, feedNumbers[key.feed]])
  return row && headOf(row)
}

export async function readHeads(
  database: Reads,
  keys: readonly FeedKey[],
): Promise<readonly (Head | undefined)[]> {
  const rows = await database.read<HeadRow & { n: string }>(locateStatements.heads, feedLists(keys))
  const heads = new Map(rows.map((row) => [Number(row.n), headOf(row)]))
  return keys.map((_key, index) => heads.get(index + 1))
}

interface VersionRow {
  readonly tenant: string
  readonly feed: number
  readonly epoch: string
  readonly count: string
}

export async function readVersions(
  database: Reads,
  keys: readonly FeedKey[] | undefined,
): Promise<readonly FeedVersion[]> {
  const rows =
    keys === undefined
      ? await database.read<VersionRow>(locateStatements.versions, [])
      : await database.read<VersionRow>(locateStatements.someVersions, feedLists(keys))
  return rows.map(({ tenant, feed, epoch, count }) => ({
    key: { tenantId: tenant, feed: feedOfNumber(feed, 'feed') },
    epoch,
    count: Number(count),
  }))
}

export async function readVersionsTotal(database: Reads): Promise<FeedVersionsTotal> {
  const [row] = await database.read<{
    readonly feeds: string
    readonly total: string
    readonly epochs: string
  }>(locateStatements.versionsTotal, [])
  return {
    feeds: Number(row?.feeds ?? 0),
    total: BigInt(row?.total ?? 0),
    epochs: Number(row?.epochs ?? 0),
  }
}

/** Locates in windows that are still open (P3): they are read once nothing stamped waits for its commit. */
interface OpenWindowParts {
  readonly shown: ShownNumbers
  readonly history: Pick<Witness, 'check'>
  readonly settle: Settler
  readonly recent: Pick<RecentEvents, 'firstFrom'>
}

/**
 * Like `EventStore.locate`: an open window is read once nothing stamped waits for its commit (P3). A head below what this node had
 * already shown reveals a loss, of now or of an earlier epoch (D13).
 */
export function openWindowLocator(
  database: Database,
  { shown, history, settle, recent }: OpenWindowParts,
): (query: LocateQuery) => Promise<Located | undefined> {
  const checked = async (key: FeedKey, before: number, head: Head): Promise<void> => {
    if (head.sequenceNumber >= before) return
    const isWhole = await database.write((session) => history.check(session))
    // It belonged to an epoch that is over, and was lost with it.
    if (isWhole) shown.forget(key, before)
  }
  const locateNow = async (query: LocateQuery): Promise<Located | undefined> => {
    const before = shown.highest(query.key)
    const located = await locate(readsOf(database, query.key), query)
    if (located !== undefined) await checked(query.key, before, located.head)
    return located
  }

  return async (query) => {
    const { key, view, from, to } = query
    // A window without an end is open, so there is no need to read the feed.
    if (from === undefined || to !== undefined) {
      const located = await locateNow(query)
      if (located === undefined || !isOpenWindow(query, located)) return located
    }
    const before = shown.highest(key)
    const settled = await settle.settled(key)
    if (settled === undefined) return undefined
    const { moment, head } = settled
    // The poll that finds nothing, or what this node has committed itself: its window is still open.
    const first =
      view === 'all' && from !== undefined && isOpenWindow(query, settled)
        ? recent.firstFrom(key, head, from)
        : undefined
    if (first !== undefined) {
      await checked(key, before, head)
      return { range: { key, view, first, count: head.position - first + 1 }, head, settled: moment }
    }
    const located = await locateNow(query)
    return located && { ...located, settled: moment }
  }
}
