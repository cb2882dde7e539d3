/** When publishers and consumers were last seen, from the tables that record what they do. */
import { feedNumbers, feedOfNumber, statement } from '../../sql/database.ts'
import type { Sql } from '../../sql/database.ts'
import type { ConsumerRow } from '../consumer-rows.ts'
import type { LastAsked, SilenceStore } from './silence.ts'

/** In the order of the primary key, so that no more is read than is returned. Endpoints of webhooks ask for nothing: they are never silent. */
const asked = statement<AskedRow>(
  'presence-asked',
  `SELECT tenant, feed, key_id, name, max(asked_ms) AS asked_ms FROM consumer_view
    WHERE (tenant, feed, key_id, name) > ($1, $2, $3, $4) AND route <> 'webhook'
    GROUP BY tenant, feed, key_id, name ORDER BY tenant, feed, key_id, name LIMIT $5`,
)
const published = statement<{ readonly minute: number; readonly tenant: string; readonly feed: number }>(
  'presence-published',
  `SELECT DISTINCT minute, tenant, feed FROM published WHERE requests > refused AND minute = (
    SELECT minute FROM published WHERE minute > $1 AND minute <= $2 AND requests > refused ORDER BY minute LIMIT 1)`,
)
const replaced = statement<{ readonly key_id: string; readonly replaces: string }>(
  'presence-replaced',
  'SELECT key_id, replaces FROM key WHERE replaces IS NOT NULL',
)

/** Before all others. */
const firstAsked = ['00000000-0000-0000-0000-000000000000', 0, '', ''] as const

export function lastSeenReads(read: Sql): Pick<SilenceStore, 'asked' | 'publishedAfter' | 'replacedKeys'> {
  return {
    async asked(after, limit) {
      const from =
        after === undefined ? firstAsked : [after.tenantId, feedNumbers[after.feed], after.keyId, after.name]
      return (await read.rows(asked(...from, limit))).map(askedOf)
    },
    async publishedAfter(after, toMinute) {
      const rows = await read.rows(published(after, toMinute))
      const minute = rows[0]?.minute
      if (minute === undefined) return undefined
      const publishers = rows.map(({ tenant, feed }) => {
        return { tenantId: tenant, feed: feedOfNumber(feed, 'published') }
      })
      return { minute, publishers }
    },
    replacedKeys: async () =>
      (await read.rows(replaced())).map((row) => ({ keyId: row.replaces, by: row.key_id })),
  }
}

interface AskedRow extends ConsumerRow {
  readonly asked_ms: number
}

function askedOf(row: AskedRow): LastAsked {
  const { tenant: tenantId, key_id: keyId, name, asked_ms: askedMs } = row
  return { tenantId, feed: feedOfNumber(row.feed, 'consumer_view'), keyId, name, askedMs }
}
