/** Leaving tenants. */
import { leavingBegun, leavingEnded, tenantUnpublished } from '../../audit/changes.ts'
import type { Leaving, LeavingStore } from '../storage.ts'
import { uuids } from './array.ts'
import type { NoteChanges } from '../../sql/postgres.ts'
import type { Database, Row, Session, Statement } from './connection.ts'

const select: Statement = {
  name: 'leaving',
  text: 'SELECT tenant, since_ms, reading_ends_ms, unpublished_ms FROM leaving_tenant',
}
const selectOf: Statement = {
  name: 'leaving-of',
  text: `${select.text} WHERE tenant = ANY ($1::uuid[])`,
}
const hasTenant: Statement = {
  name: 'leaving-tenant-exists',
  text: 'SELECT FROM tenant WHERE tenant = $1 FOR KEY SHARE',
}
const put: Statement = {
  name: 'leaving-put',
  text: `INSERT INTO leaving_tenant AS held (tenant, since_ms, reading_ends_ms) VALUES ($1, $2, $3)
    ON CONFLICT (tenant) DO UPDATE SET reading_ends_ms = excluded.reading_ends_ms
    WHERE held.reading_ends_ms <> excluded.reading_ends_ms RETURNING tenant`,
}
const remove: Statement = {
  name: 'leaving-remove',
  text: 'DELETE FROM leaving_tenant WHERE tenant = $1 RETURNING tenant',
}
const mark: Statement = {
  name: 'leaving-unpublished',
  text: `UPDATE leaving_tenant SET unpublished_ms = $3
    WHERE tenant = $1 AND since_ms = $2 AND unpublished_ms IS NULL RETURNING tenant`,
}

interface LeavingRow extends Row {
  readonly tenant: string
  readonly since_ms: string
  readonly reading_ends_ms: string
  readonly unpublished_ms: string | null
}

export function databaseLeaving(database: Database, note: NoteChanges): LeavingStore {
  const isKnown = async (session: Session, tenantId: string): Promise<boolean> =>
    (await session.query(hasTenant, [tenantId])).length > 0
  return {
    begin: (request, actor) =>
      database.transaction(async (session) => {
        const { tenantId, sinceMs, readingEndsMs } = request
        if (!(await isKnown(session, tenantId))) return 'unknownTenant'
        const changed = await session.query(put, [tenantId, sinceMs, readingEndsMs])
        if (changed.length > 0) await note(session, leavingBegun(request), actor)
        return 'done'
      }),
    end: (tenantId, actor) =>
      database.transaction(async (session) => {
        if (!(await isKnown(session, tenantId))) return 'unknownTenant'
        const removed = await session.query(remove, [tenantId])
        if (removed.length > 0) await note(session, leavingEnded(tenantId), actor)
        return 'done'
      }),
    list: async () => (await database.read<LeavingRow>(select, [])).map(leavingOf),
    async of(tenantIds) {
      if (tenantIds.length === 0) return []
      return (await database.read<LeavingRow>(selectOf, [uuids(tenantIds)])).map(leavingOf)
    },
    noteUnpublished: ({ tenantId, sinceMs }, unpublishedMs, actor) =>
      database.transaction(async (session) => {
        const marked = await session.query(mark, [tenantId, sinceMs, unpublishedMs])
        if (marked.length > 0) await note(session, tenantUnpublished(tenantId), actor)
      }),
  }
}

function leavingOf(row: LeavingRow): Leaving {
  return {
    tenantId: row.tenant,
    sinceMs: Number(row.since_ms),
    readingEndsMs: Number(row.reading_ends_ms),
    unpublishedMs: row.unpublished_ms === null ? undefined : Number(row.unpublished_ms),
  }
}
