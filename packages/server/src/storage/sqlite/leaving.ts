/** Leaving tenants: read on this thread, changed by the writer's. */
import { leavingBegun, leavingEnded, tenantUnpublished } from '../../audit/changes.ts'
import type { Actor } from '../../audit/audit.ts'
import type { Unguarded } from '../guarded-verbs.ts'
import type { Leaving, LeavingRequest, LeavingStore } from '../leaving-store.ts'
import type { NoteChanges } from '../../sql/sqlite.ts'
import type { Connection } from './connection.ts'
import type { WriterLink } from './writer-link.ts'

export interface LeavingWrites {
  beginLeaving(request: LeavingRequest, actor: Actor): 'done' | 'unknownTenant'
  endLeaving(tenantId: string, actor: Actor): 'done' | 'unknownTenant'
  noteUnpublished(leaving: Pick<Leaving, 'tenantId' | 'sinceMs'>, unpublishedMs: number, actor: Actor): void
}

interface LeavingRow {
  readonly tenant: string
  readonly since_ms: number
  readonly reading_ends_ms: number
  readonly unpublished_ms: number | null
}

export function fileLeaving(db: Connection, link: WriterLink): Unguarded<LeavingStore> {
  const columns = 'tenant, since_ms, reading_ends_ms, unpublished_ms'
  const select = db.prepare<[], LeavingRow>(`SELECT ${columns} FROM leaving_tenant`)
  const find = db.prepare<[string], LeavingRow>(
    `SELECT ${columns} FROM leaving_tenant WHERE tenant = CAST(? AS TEXT)`,
  )
  return {
    begin: (request, actor) => link.call('beginLeaving', request, actor),
    end: (tenantId, actor) => link.call('endLeaving', tenantId, actor),
    list: () => select.all().map(leavingOf),
    of: (tenantIds) => tenantIds.flatMap((tenantId) => find.all(tenantId)).map(leavingOf),
    noteUnpublished: (leaving, unpublishedMs, actor) =>
      link.call('noteUnpublished', leaving, unpublishedMs, actor),
  }
}

function leavingOf(row: LeavingRow): Leaving {
  return {
    tenantId: row.tenant,
    sinceMs: row.since_ms,
    readingEndsMs: row.reading_ends_ms,
    unpublishedMs: row.unpublished_ms ?? undefined,
  }
}

export function leavingWrites(db: Connection, note: NoteChanges): LeavingWrites {
  const hasTenant = db.prepare<[string], number>('SELECT 1 FROM tenant WHERE tenant = ?').pluck()
  const put = db.prepare(
    `INSERT INTO leaving_tenant (tenant, since_ms, reading_ends_ms) VALUES (?, ?, ?)
      ON CONFLICT (tenant) DO UPDATE SET reading_ends_ms = excluded.reading_ends_ms
      WHERE reading_ends_ms <> excluded.reading_ends_ms`,
  )
  const remove = db.prepare('DELETE FROM leaving_tenant WHERE tenant = ?')
  const mark = db.prepare(
    'UPDATE leaving_tenant SET unpublished_ms = ? WHERE tenant = ? AND since_ms = ? AND unpublished_ms IS NULL',
  )
  const begin = db.transaction((request: LeavingRequest, actor: Actor) => {
    const { tenantId, sinceMs, readingEndsMs } = request
    if (hasTenant.get(tenantId) === undefined) return 'unknownTenant'
    if (put.run(tenantId, sinceMs, readingEndsMs).changes > 0) note(leavingBegun(request), actor)
    return 'done'
  })
  const end = db.transaction((tenantId: string, actor: Actor) => {
    if (hasTenant.get(tenantId) === undefined) return 'unknownTenant'
    if (remove.run(tenantId).changes > 0) note(leavingEnded(tenantId), actor)
    return 'done'
  })
  const noteDone = db.transaction((...[leaving, ms, actor]: Parameters<LeavingWrites['noteUnpublished']>) => {
    const { tenantId, sinceMs } = leaving
    if (mark.run(ms, tenantId, sinceMs).changes > 0) note(tenantUnpublished(tenantId), actor)
  })
  return {
    beginLeaving: (request, actor) => begin.immediate(request, actor),
    endLeaving: (tenantId, actor) => end.immediate(tenantId, actor),
    noteUnpublished: (leaving, unpublishedMs, actor) => noteDone.immediate(leaving, unpublishedMs, actor),
  }
}
