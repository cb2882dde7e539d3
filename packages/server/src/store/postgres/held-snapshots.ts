/**
 * A session that holds an old snapshot keeps every version of every row written since. A feed's counter gets a version with each
 * publication, and each probe goes through them: 2 buffers became 100 after 8,000 publications to one feed.
 */
import type { HeldSnapshot } from '../../sql/store-observer.ts'
import type { Database } from '../../sql/postgres/connection.ts'
import type { Statement } from '../../sql/postgres/session.ts'

/**
 * The oldest of each kind of holder. Sessions of other databases keep nothing here, and a VACUUM's own snapshot keeps nothing anywhere.
 * Only members of `pg_read_all_stats` see `seconds` of other roles' sessions.
 */
export const heldSnapshots: Statement = {
  name: 'held-snapshots',
  text: `SELECT DISTINCT ON (holder) holder, transactions, seconds, name FROM (
      SELECT CASE backend_type WHEN 'walsender' THEN 'standby' ELSE 'session' END AS holder,
        greatest(age(backend_xmin), age(backend_xid)) AS transactions,
        extract(epoch FROM clock_timestamp() - xact_start)::float8 AS seconds,
        concat_ws(', ', 'pid ' || pid, nullif(application_name, '')) AS name
      FROM pg_stat_activity
      WHERE (datid IS NULL OR datname = current_database()) AND pid <> pg_backend_pid()
        AND pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum)
      UNION ALL
      SELECT 'slot', age(xmin), NULL, slot_name FROM pg_replication_slots
      UNION ALL
      SELECT 'catalog_slot', age(catalog_xmin), NULL, slot_name FROM pg_replication_slots
      UNION ALL
      SELECT 'prepared', age(transaction), extract(epoch FROM clock_timestamp() - prepared)::float8, gid
      FROM pg_prepared_xacts WHERE database = current_database()
    ) AS held
    WHERE transactions IS NOT NULL
    ORDER BY holder, transactions DESC`,
}

export interface HeldSnapshotRow {
  readonly holder: HeldSnapshot['holder']
  readonly transactions: number
  readonly seconds: number | null
  readonly name: string
}

export function heldSnapshotOf({ seconds, ...row }: HeldSnapshotRow): HeldSnapshot {
  return { ...row, seconds: seconds ?? undefined }
}

export async function readHeldSnapshots(database: Pick<Database, 'read'>): Promise<readonly HeldSnapshot[]> {
  return (await database.read<HeldSnapshotRow>(heldSnapshots, [])).map(heldSnapshotOf)
}
