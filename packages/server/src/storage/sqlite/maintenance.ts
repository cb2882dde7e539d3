import { maintenanceSet } from '../../audit/changes.ts'
import type { Actor, Maintenance } from '../storage.ts'
import type { NoteChanges } from '../../sql/sqlite.ts'
import type { Connection } from './connection.ts'
import { metaOf } from './meta.ts'

/** One value of the meta table, `since retry`, which exists only while maintenance is on. */
export function readMaintenance(db: Connection): Maintenance | undefined {
  const [sinceMs, retryAfterSeconds] = (metaOf(db).find('maintenance') ?? '').split(' ')
  if (sinceMs === undefined || retryAfterSeconds === undefined) return undefined
  return { sinceMs: Number(sinceMs), retryAfterSeconds: Number(retryAfterSeconds) }
}

export function maintenanceWriter(
  db: Connection,
  note: NoteChanges,
): (maintenance: Maintenance | undefined, actor: Actor) => void {
  const write = db.transaction((maintenance: Maintenance | undefined, actor: Actor) => {
    const meta = metaOf(db)
    const value = maintenance && `${maintenance.sinceMs} ${maintenance.retryAfterSeconds}`
    if (meta.find('maintenance') === value) return
    if (value === undefined) meta.remove('maintenance')
    else meta.set('maintenance', value)
    note(maintenanceSet(maintenance), actor)
  })
  return (maintenance, actor) => write.immediate(maintenance, actor)
}
