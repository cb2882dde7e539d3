/** Leaving tenants in a database. */
import { leavingBegun, leavingEnded, tenantUnpublished } from '../../audit/changes.ts'
import { among, defineWrite, statement } from '../../sql/database.ts'
import type { StoreAccess, Transaction } from '../../sql/database.ts'
import type { Actor } from '../../audit/actor.ts'
import type { Leaving, LeavingRequest, LeavingStore } from './leaving.ts'

const all = statement<LeavingRow>('leaving-all', 'SELECT * FROM leaving_tenant')
const some = statement<LeavingRow>(
  'leaving-some',
  (dialect) => `SELECT * FROM leaving_tenant WHERE tenant ${among('$1', 'uuid')(dialect)}`,
)
/** So that it is not deleted meanwhile. */
const lockTenant = statement('leaving-tenant', 'SELECT tenant FROM tenant WHERE tenant = $1 FOR KEY SHARE')
const put = statement(
  'leaving-put',
  `INSERT INTO leaving_tenant AS held (tenant, since_ms, reading_ends_ms) VALUES ($1, $2, $3)
    ON CONFLICT (tenant) DO UPDATE SET reading_ends_ms = excluded.reading_ends_ms
    WHERE held.reading_ends_ms <> excluded.reading_ends_ms RETURNING tenant`,
)
const remove = statement('leaving-remove', 'DELETE FROM leaving_tenant WHERE tenant = $1 RETURNING tenant')
const mark = statement(
  'leaving-unpublished',
  `UPDATE leaving_tenant SET unpublished_ms = $3
    WHERE tenant = $1 AND since_ms = $2 AND unpublished_ms IS NULL RETURNING tenant`,
)

const begin = defineWrite('leaving-begin', async (tx, request: LeavingRequest, actor: Actor) => {
  const { tenantId, sinceMs, readingEndsMs } = request
  if (!(await hasTenant(tx, tenantId))) return 'unknownTenant'
  const changed = await tx.rows(put(tenantId, sinceMs, readingEndsMs))
  if (changed.length > 0) await tx.note(leavingBegun(request), actor)
  return 'done'
})

const end = defineWrite('leaving-end', async (tx, tenantId: string, actor: Actor) => {
  if (!(await hasTenant(tx, tenantId))) return 'unknownTenant'
  const removed = await tx.rows(remove(tenantId))
  if (removed.length > 0) await tx.note(leavingEnded(tenantId), actor)
  return 'done'
})

const noteUnpublished = defineWrite(
  'leaving-unpublished',
  async (tx, { tenantId, sinceMs }: Pick<Leaving, 'tenantId' | 'sinceMs'>, ms: number, actor: Actor) => {
    const marked = await tx.rows(mark(tenantId, sinceMs, ms))
    if (marked.length > 0) await tx.note(tenantUnpublished(tenantId), actor)
  },
)

export function leavingStore({ read, write }: StoreAccess): LeavingStore {
  return {
    begin: (request, actor) => write(begin, request, actor),
    end: (tenantId, actor) => write(end, tenantId, actor),
    list: async () => (await read.rows(all())).map(leavingOf),
    of: async (tenantIds) => (await read.rows(some(JSON.stringify(tenantIds)))).map(leavingOf),
    noteUnpublished: (leaving, unpublishedMs, actor) => write(noteUnpublished, leaving, unpublishedMs, actor),
  }
}

async function hasTenant(tx: Transaction, tenantId: string): Promise<boolean> {
  return (await tx.rows(lockTenant(tenantId))).length > 0
}

interface LeavingRow {
  readonly tenant: string
  readonly since_ms: number
  readonly reading_ends_ms: number
  readonly unpublished_ms: number | null
}

function leavingOf(row: LeavingRow): Leaving {
  return {
    tenantId: row.tenant,
    sinceMs: row.since_ms,
    readingEndsMs: row.reading_ends_ms,
    unpublishedMs: row.unpublished_ms ?? undefined,
  }
}
