import { maintenanceSet } from '../../audit/changes.ts'
import type { Actor, Maintenance } from '../storage.ts'
import type { NoteChanges } from '../../sql/postgres.ts'
import type { Database, Session, Statement } from './connection.ts'

const select: Statement = {
  name: 'maintenance-read',
  text: `SELECT (extract(epoch FROM maintenance_since) * 1000)::float8 AS since_ms, maintenance_retry_after AS retry_after
    FROM store WHERE maintenance_since IS NOT NULL`,
}
/** `$1`: milliseconds since 1970; NULL ends it. */
const update: Statement = {
  name: 'maintenance-write',
  text: `UPDATE store SET maintenance_since = to_timestamp($1::float8 / 1000), maintenance_retry_after = $2
    WHERE maintenance_since IS DISTINCT FROM to_timestamp($1::float8 / 1000) OR maintenance_retry_after IS DISTINCT FROM $2
    RETURNING only_row`,
}

export async function readMaintenance(database: Database): Promise<Maintenance | undefined> {
  const [row] = await database.read<{ since_ms: number; retry_after: number }>(select, [])
  return row && { sinceMs: Math.round(row.since_ms), retryAfterSeconds: row.retry_after }
}

/** Within a transaction. */
export async function writeMaintenance(
  session: Session,
  note: NoteChanges,
  maintenance: Maintenance | undefined,
  actor: Actor,
): Promise<void> {
  const { sinceMs = null, retryAfterSeconds = null } = maintenance ?? {}
  const changed = await session.query(update, [sinceMs, retryAfterSeconds])
  if (changed.length > 0) await note(session, maintenanceSet(maintenance), actor)
}
