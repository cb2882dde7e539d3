/** Statements of the log that features run in transactions of their own. */
import { feedNames, viewsOf } from '@property-events/protocol/plain'
import { feedNumbers, rowsFrom, statement, feedOfNumber } from '../sql/database.ts'
import type { Transaction, Sql, Query } from '../sql/database.ts'
import { newEpochId } from './epochs.ts'
import type { DeletedFeed } from '../tenants/deletion/deletion.ts'
import type { FeedKey } from './feed-key.ts'
import type { BranchSet } from './branches/branch-view-store.ts'

const feedRows = rowsFrom('$1', { tenant: 'uuid', feed: 'integer', epoch: 'text' })
/**
 * SQLite: a tenant that is made again has the numbers of feeds that it had, which connections remember; every other gets new ones.
 * PostgreSQL: FOR SHARE, so that a new epoch that begins meanwhile either includes these feeds or has set their offset already. A tenant
 * that was lost with part of the store and is created again continues after what nodes have shown of it.
 */
const insertFeeds = statement('feeds-insert', (dialect) =>
  dialect === 'sqlite'
    ? `INSERT INTO feed (feed_no, tenant, feed, epoch, offset, revision, last_position)
        SELECT (
            SELECT iif(rows_given.feed = 1, property_no, contact_no) FROM tenant_deletion d
            WHERE d.tenant = rows_given.tenant AND property_no IS NOT NULL ORDER BY deletion DESC LIMIT 1
          ), tenant, iif(feed = 1, 'property', 'contact'), epoch,
          (SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'first_offset'), 0, 0
        FROM ${feedRows(dialect)}`
    : `INSERT INTO feed (tenant, feed, epoch, number_offset, revision, last_position)
        SELECT rows_given.tenant, rows_given.feed, rows_given.epoch, greatest(store.first_offset,
          (SELECT l.number FROM lost_number l WHERE l.tenant = rows_given.tenant AND l.feed = rows_given.feed)), 0, 0
        FROM store, ${feedRows(dialect)} FOR SHARE OF store`,
)
const viewRows = rowsFrom('$1', { tenant: 'uuid', feed: 'integer', view: 'text' })
/** SQLite names a feed in the tables of the log by one number. */
const insertViews = statement('views-insert', (dialect) =>
  dialect === 'sqlite'
    ? `INSERT INTO view (feed_no, view, filter, last_ordinal)
        SELECT feed_no, view, 'category = ''' || view || '''', 0 FROM ${viewRows(dialect)} JOIN feed_key USING (tenant, feed)`
    : `INSERT INTO view (tenant, feed, view, filter, last_ordinal)
        SELECT tenant, feed, view, format('category = %L', view), 0 FROM ${viewRows(dialect)}`,
)

/** The empty feeds of new tenants, with their views. */
export async function insertNewFeeds(tx: Transaction, tenantIds: readonly string[]): Promise<void> {
  const feeds = tenantIds.flatMap((tenant) =>
    feedNames.map((name) => ({ name, tenant, feed: feedNumbers[name] })),
  )
  await tx.rows(
    insertFeeds(JSON.stringify(feeds.map(({ tenant, feed }) => ({ tenant, feed, epoch: newEpochId() })))),
  )
  const views = feeds.flatMap(({ name, tenant, feed }) =>
    viewsOf(name).map((view) => ({ tenant, feed, view })),
  )
  await tx.rows(insertViews(JSON.stringify(views)))
}

interface RestrictedRow {
  readonly feed: number
  readonly epoch: string
  readonly sequence: number
  readonly revision: number
  readonly events: number
  readonly last_created: string | null
}

/** PostgreSQL has the last number in the counter. Ticks are beyond 2^53, so they are read as texts. */
const feedsOf = statement<RestrictedRow>('tenant-feeds', (dialect) =>
  dialect === 'sqlite'
    ? `SELECT k.feed, epoch, revision, last_position AS events, CAST(last_created AS TEXT) AS last_created,
          coalesce((SELECT sequence FROM event WHERE place = (f.feed_no << 40) | f.last_position), "offset") AS sequence
        FROM feed f JOIN feed_key k USING (feed_no) WHERE f.tenant = $1 ORDER BY k.feed`
    : `SELECT feed, epoch, revision, last_position AS events, last_created::text AS last_created,
          coalesce(last_sequence, number_offset) AS sequence
        FROM feed WHERE tenant = $1 ORDER BY tenant, feed`,
)

/** The present feeds; none if there is no such tenant. */
export async function feedsOfTenant(sql: Sql, tenantId: string): Promise<readonly DeletedFeed[]> {
  const rows = await sql.rows(feedsOf(tenantId))
  return rows.map((row) => ({
    feed: feedOfNumber(row.feed, 'feed'),
    epoch: row.epoch,
    sequenceNumber: row.sequence,
    revision: row.revision,
    events: row.events,
    lastCreated: row.last_created === null ? null : BigInt(row.last_created),
  }))
}

/** SQLite names a feed in the tables of the log by one number, which stands for tenant and feed. */
const findSubject = statement('subject-exists', (dialect) =>
  dialect === 'sqlite'
    ? `SELECT 1 AS found FROM subject WHERE feed_no = (SELECT feed_no FROM feed_key WHERE tenant = $1 AND feed = $2) AND subject = $3`
    : 'SELECT 1 AS found FROM subject WHERE tenant = $1 AND feed = $2 AND subject = $3',
)

/** One row if the log has an event of the property or contact. */
export function subjectExists({ tenantId, feed }: FeedKey, subjectId: string): Query {
  return findSubject(tenantId, feedNumbers[feed], { uuid: subjectId })
}

/**
 * The event at a position of the feed ($1, $2), for each row before it, by its key alone. A plain join leaves PostgreSQL a choice, and
 * without statistics on the table, as after a first fill, it takes a feed for one row: then it goes through all events of the feed for
 * each row (a page of 100 among 20,000 read 50,000 pages of the table).
 */
export function eventAt(position: string, columns: string): string {
  return `CROSS JOIN LATERAL (SELECT ${columns} FROM event
        WHERE tenant = $1 AND feed = $2 AND position = ${position} LIMIT 1) AS e`
}

type SetName = Pick<BranchSet, 'tenantId' | 'set'>

/** SQLite names a feed in the tables of the log by one number. */
const ready = statement<{ readonly tenant: string; readonly branch_set: string }>(
  'branch-sets-ready',
  (dialect) =>
    dialect === 'sqlite'
      ? `SELECT tenant, branch_set FROM json_each($1) AS given
          CROSS JOIN feed ON feed.tenant = given.value ->> 'tenant' AND feed.feed = 'property'
          CROSS JOIN branch_set s ON s.feed_no = feed.feed_no AND s.branch_set = given.value ->> 'branch_set'
          WHERE s.state = 'ready'`
      : `SELECT s.tenant, s.branch_set FROM json_to_recordset($1::json) AS given (tenant uuid, branch_set text)
          JOIN branch_set s ON s.tenant = given.tenant AND s.feed = ${feedNumbers.property} AND s.branch_set = given.branch_set
          WHERE s.state = 'ready'`,
)

/** Those of these sets that are ready. */
export async function branchSetsReady(sql: Sql, wanted: readonly SetName[]): Promise<readonly SetName[]> {
  const given = wanted.map(({ tenantId, set }) => ({ tenant: tenantId, branch_set: set }))
  const rows = await sql.rows(ready(JSON.stringify(given)))
  return rows.map(({ tenant, branch_set: set }) => ({ tenantId: tenant, set }))
}
