/** What `inspectDatabase` reads from tables that a store of an earlier schema does not have yet. */
import type { Client } from 'pg'
import { nodeSilenceMs } from '../node-store.ts'
import type { WaitingErasures } from '../storage.ts'

/** An older schema has no such table, and a role may not be allowed to see it. */
export async function readExpiredHolds(client: Client): Promise<number> {
  const present = await client.query(`SELECT WHERE has_table_privilege(to_regclass('hold'), 'SELECT')`)
  if (present.rowCount === 0) return 0
  const { rows } = await client.query<{ expired: number }>(`
    SELECT count(*)::integer AS expired FROM hold
    WHERE ended_ms IS NULL AND until_ms <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint`)
  return rows[0]?.expired ?? 0
}

/** An older schema has no such column. */
export async function readProxyIgnoredBy(client: Client): Promise<readonly string[]> {
  const present = await client.query(
    `SELECT FROM pg_attribute WHERE attrelid = to_regclass('node') AND attname = 'ignores_proxy' AND NOT attisdropped`,
  )
  if (present.rowCount === 0) return []
  const { rows } = await client.query<{ place: string }>(`
    SELECT place FROM node WHERE ignores_proxy AND seen > clock_timestamp() - interval '${nodeSilenceMs} milliseconds'
    ORDER BY place`)
  return rows.map(({ place }) => place)
}

/** An older schema has no such table, and a role may not be allowed to see it. */
export async function readWaitingErasures(client: Client): Promise<WaitingErasures> {
  const present = await client.query(`SELECT WHERE has_table_privilege(to_regclass('erasure'), 'SELECT')`)
  if (present.rowCount === 0) return { count: 0, oldestMs: undefined }
  const { rows } = await client.query<{ count: number; oldestMs: number | null }>(
    `SELECT count(*)::integer AS count, min(unreachable_ms)::float8 AS "oldestMs" FROM erasure WHERE state = 'unreachable'`,
  )
  return { count: rows[0]?.count ?? 0, oldestMs: rows[0]?.oldestMs ?? undefined }
}
