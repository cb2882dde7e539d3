/** The maintenance of a store, in its database. */
import { maintenanceSet } from '../audit/changes.ts'
import { defineWrite, statement } from '../sql/database.ts'
import type { Query, StoreAccess } from '../sql/database.ts'
import type { Actor } from '../audit/actor.ts'
import type { Maintenance, MaintenanceStore } from './maintenance.ts'

const read = statement<MaintenanceRow>('maintenance-read', 'SELECT since_ms, retry_after FROM maintenance')
/** Returns a row if anything is different. */
const begin = statement(
  'maintenance-begin',
  `INSERT INTO maintenance AS kept (only_row, since_ms, retry_after) VALUES ($1, $2, $3)
    ON CONFLICT (only_row) DO UPDATE SET since_ms = excluded.since_ms, retry_after = excluded.retry_after
      WHERE kept.since_ms <> excluded.since_ms OR kept.retry_after <> excluded.retry_after
    RETURNING only_row`,
)
/** Returns a row if it was on. */
const end = statement('maintenance-end', 'DELETE FROM maintenance RETURNING only_row')

const setMaintenance = defineWrite(
  'maintenance-set',
  async (tx, maintenance: Maintenance | undefined, actor: Actor): Promise<void> => {
    const changing =
      maintenance === undefined ? end() : begin(true, maintenance.sinceMs, maintenance.retryAfterSeconds)
    const changed = await tx.rows(changing)
    if (changed.length > 0) await tx.note(maintenanceSet(maintenance), actor)
  },
)

export function maintenanceStore(access: StoreAccess): MaintenanceStore {
  return {
    maintenance: async () => maintenanceOf(await access.read.rows(readMaintenance())),
    setMaintenance: (maintenance, actor) => access.write(setMaintenance, maintenance, actor),
  }
}

/** For `maintenanceOf`. */
export function readMaintenance(): Query<MaintenanceRow> {
  return read()
}

export function maintenanceOf([row]: readonly MaintenanceRow[]): Maintenance | undefined {
  return row && { sinceMs: row.since_ms, retryAfterSeconds: row.retry_after }
}

/** Ends it, where a copy of a store begins a life of its own. Returns a row if it was on. */
export function endMaintenance(): Query {
  return end()
}

interface MaintenanceRow {
  readonly since_ms: number
  readonly retry_after: number
}
