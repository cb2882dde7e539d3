/** Where a tenant's feeds stand, for the certificate of its deletion. */
import { feedOfNumber, statement } from '../sql/database.ts'
import type { Sql } from '../sql/database.ts'
import type { DeletedFeed } from '../tenants/deletion/deletion.ts'

interface FeedRow {
  readonly feed: number
  readonly epoch: string
  readonly sequence: number
  readonly revision: number
  readonly events: number
  readonly last_created: string | null
}

/** PostgreSQL has the last number in the counter. Ticks are beyond 2^53, so they are read as texts. */
const feedsOf = statement<FeedRow>('tenant-feeds', (dialect) =>
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
