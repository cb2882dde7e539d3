import type { Maintenance } from '../storage.ts'
import type { Connection } from './connection.ts'
import { metaOf } from './meta.ts'

/** One value of the meta table, `since retry`, which is there only while maintenance is on. */
export function readMaintenance(db: Connection): Maintenance | undefined {
  const [sinceMs, retryAfterSeconds] = (metaOf(db).find('maintenance') ?? '').split(' ')
  if (sinceMs === undefined || retryAfterSeconds === undefined) return undefined
  return { sinceMs: Number(sinceMs), retryAfterSeconds: Number(retryAfterSeconds) }
}

export function writeMaintenance(db: Connection, maintenance: Maintenance | undefined): void {
  const meta = metaOf(db)
  if (maintenance === undefined) meta.remove('maintenance')
  else meta.set('maintenance', `${maintenance.sinceMs} ${maintenance.retryAfterSeconds}`)
}
