/** Moments of lists of current events: read on this thread, fixed by the writer's. */
import { isJoined, momentMs } from '../moment-store.ts'
import type { Moment, MomentName, MomentRequest, MomentStore } from '../moment-store.ts'
import type { Unguarded } from '../guarded-verbs.ts'
import type { Connection } from './connection.ts'
import type { WriterLink } from './writer-link.ts'

export interface MomentWrites {
  fixMoment(request: MomentRequest): Moment
  noteMomentUse(name: MomentName, moment: Moment, usedMs: number): void
}

export function fileMoments(db: Connection, link: WriterLink): Unguarded<MomentStore> {
  return {
    find: momentReader(db),
    fix: (request) => link.call('fixMoment', request),
    noteUse: (name, moment, usedMs) => link.call('noteMomentUse', name, moment, usedMs),
  }
}

const place =
  'key_id = CAST(? AS TEXT) AND tenant = CAST(? AS TEXT) AND feed = CAST(? AS TEXT) AND view = CAST(? AS TEXT)'

function momentReader(db: Connection): (name: MomentName) => Moment | undefined {
  const select = db.prepare<string[], Moment>(
    `SELECT epoch, position, sequence AS sequenceNumber, fixed_ms AS fixedMs, used_ms AS usedMs FROM moment WHERE ${place}`,
  )
  return (name) => select.get(...placeOf(name))
}

export function momentWrites(db: Connection): MomentWrites {
  const find = momentReader(db)
  const put = db.prepare(
    `INSERT OR REPLACE INTO moment (key_id, tenant, feed, view, epoch, position, sequence, fixed_ms, used_ms)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  // There are a handful of rows for each key that lists current events: scanning them is quicker than keeping an index.
  const removeOld = db.prepare('DELETE FROM moment WHERE abs(fixed_ms - ?) >= ?')
  const use = db.prepare(`UPDATE moment SET used_ms = ? WHERE ${place} AND fixed_ms = ?`)
  const fix = db.transaction((request: MomentRequest): Moment => {
    const { name, now } = request
    const kept = find(name)
    if (kept !== undefined && isJoined(kept, request)) return kept
    removeOld.run(now.fixedMs, momentMs)
    const { epoch, position, sequenceNumber, fixedMs } = now
    put.run(...placeOf(name), epoch, position, sequenceNumber, fixedMs, fixedMs)
    return { ...now, usedMs: fixedMs }
  })
  return {
    fixMoment: (request) => fix.immediate(request),
    noteMomentUse: (name, { fixedMs }, usedMs) => void use.run(usedMs, ...placeOf(name), fixedMs),
  }
}

function placeOf({ keyId, key, view }: MomentName): [string, string, string, string] {
  return [keyId, key.tenantId, key.feed, view]
}
