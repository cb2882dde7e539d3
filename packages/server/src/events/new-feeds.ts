/** The empty feeds of new tenants, with their views. */
import { feedNames, viewsOf } from '@property-events/protocol/plain'
import { feedNumbers, rowsFrom, statement } from '../sql/database.ts'
import type { Transaction } from '../sql/database.ts'
import { newEpochId } from './epoch-id.ts'

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
