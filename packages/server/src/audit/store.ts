/** The audit in a database. Every write notes its changes in its own commit, with `tx.note`. */
import { setTimeout as delay } from 'node:timers/promises'
import { defineWrite, rowsFrom, statement } from '../sql/database.ts'
import type { Query, Sql, StoreAccess, Value } from '../sql/database.ts'
import { codeOf, StorageFailure, StorageRefusal } from '../sql/storage-errors.ts'
import type { AuditChange, AuditQuery, AuditRow, AuditStore } from './audit.ts'
import type { Actor } from './actor.ts'
import { auditPruned } from './changes.ts'

const given = rowsFrom('$1', {
  row_id: 'uuid',
  at_ms: 'bigint',
  actor: 'text',
  action: 'text',
  tenant: 'uuid',
  target: 'text',
  detail: 'text',
})
/** The condition is not written as a join, which would change the order of the rows, and thereby their numbers. */
const insert = statement(
  'audit-insert',
  (dialect) => `INSERT INTO audit (id, at_ms, actor, action, tenant, target, detail)
    SELECT row_id, at_ms, actor, action, tenant, target, detail FROM ${given(dialect)}
    WHERE (SELECT count(*) FROM audit WHERE id = row_id) = 0
    ON CONFLICT (id) DO NOTHING`,
)
const numberOf = statement<NumberRow>('audit-number', 'SELECT audit_no FROM audit WHERE id = $1')
const lastNumber = statement<NumberRow>(
  'audit-last',
  'SELECT audit_no FROM audit ORDER BY audit_no DESC LIMIT 1',
)
/**
 * Who may be about to commit a row. In PostgreSQL, a writer holds this lock on the table from before it takes a number until its commit is
 * visible. SQLite has one writer at a time, so that numbers follow the order of commits.
 */
const findWriters = statement<{ readonly writer: string }>('audit-writers', (dialect) =>
  dialect === 'sqlite'
    ? 'SELECT NULL AS writer WHERE false'
    : `SELECT virtualtransaction AS writer FROM pg_locks
        WHERE locktype = 'relation' AND relation = 'audit'::regclass AND mode = 'RowExclusiveLock' AND granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
)
/** The time before which the tables let rows go, in the same transaction only. SQLite has no settings of a transaction. */
const letGoBefore = statement('audit-let-go', (dialect) =>
  dialect === 'sqlite'
    ? `INSERT INTO meta VALUES ('audit_pruned_before', $1) ON CONFLICT DO UPDATE SET value = excluded.value`
    : `SELECT set_config('property_events.audit_pruned_before', $1, true)`,
)
const removeBefore = statement<NumberRow>(
  'audit-prune',
  'DELETE FROM audit WHERE at_ms < $1 RETURNING audit_no',
)

/** Inserts rows in their order; those whose ids are already there stay as they are. */
export function insertAudit(rows: readonly AuditRow[]): Query {
  return insert(
    JSON.stringify(
      rows.map(({ id, atMs, actor, action, tenant, target, detail }) => {
        return { row_id: id, at_ms: atMs, actor, action, tenant, target, detail: JSON.stringify(detail) }
      }),
    ),
  )
}

const noteChange = defineWrite('audit-note', (tx, change: AuditChange, actor: Actor) =>
  tx.note([change], actor),
)
const takeRows = defineWrite('audit-take', async (tx, rows: readonly AuditRow[]) => {
  await tx.rows(insertAudit(rows))
})
const prune = defineWrite('audit-prune', async (tx, beforeMs: number, actor: Actor): Promise<number> => {
  await tx.rows(letGoBefore(String(beforeMs)))
  const removed = await tx.rows(removeBefore(beforeMs)).catch((error: unknown) => {
    if (codeOf(error) !== '42501') throw error
    throw new StorageRefusal(
      'not_permitted',
      'Only the role that owns the tables may remove rows of the audit. Run the command with the address of that role.',
    )
  })
  await tx.rows(letGoBefore('0'))
  if (removed.length > 0) await tx.note(auditPruned(beforeMs, removed.length), actor)
  return removed.length
})

export function auditStore({ read, write }: StoreAccess): AuditStore {
  return {
    read: (query) => readAudit(read, query),
    note: (change, actor) => write(noteChange, change, actor),
    take: (rows) => write(takeRows, rows),
    prune: (beforeMs, actor) => write(prune, beforeMs, actor),
  }
}

async function readAudit(sql: Sql, query: AuditQuery): Promise<readonly AuditRow[] | 'unknownRow'> {
  const { first, after } = query
  const [place] = after === undefined ? [] : await sql.rows(numberOf(after))
  if (after !== undefined && place === undefined) return 'unknownRow'
  const last = first === 'oldest' ? await settledLast(sql) : undefined
  return (await sql.rows(rowsOf(query, place?.audit_no, last))).map(rowOf)
}

/** One statement for each set of conditions, so that each is planned with the index that fits. */
function rowsOf(
  { first, tenant, action, target, fromMs, toMs, limit }: AuditQuery,
  place: number | undefined,
  last: number | undefined,
): Query<StoredRow> {
  const conditions: readonly (readonly [string, string, Value | undefined])[] = [
    // Also used without a place, so that the plan is a search.
    first === 'oldest'
      ? ['place', 'audit_no >', place ?? 0]
      : ['place', 'audit_no <', place ?? Number.MAX_SAFE_INTEGER],
    ['last', 'audit_no <=', last],
    ['tenant', 'tenant =', tenant],
    ['action', 'action =', action],
    ['target', 'target =', target],
    ['from', 'at_ms >=', fromMs],
    ['to', 'at_ms <', toMs],
  ]
  const names: string[] = [first]
  const where: string[] = []
  const values: Value[] = [limit]
  for (const [name, sql, value] of conditions) {
    if (value === undefined) continue
    names.push(name)
    where.push(`${sql} $${values.push(value)}`)
  }
  const text = `SELECT id, at_ms AS "atMs", actor, action, tenant, target, detail FROM audit WHERE ${where.join(' AND ')}
    ORDER BY audit_no ${first === 'oldest' ? 'ASC' : 'DESC'} LIMIT $1`
  return statement<StoredRow>(`audit-${names.join('-')}`, text)(...values)
}

/** How often it checks whether commits under way have ended. */
const checkEveryMs = 20
/** Twice the time that a commit may take: only somebody else's session, in a forgotten transaction, holds on for longer. */
const patienceMs = 60_000

/**
 * A number up to which all rows that will ever exist are there. Numbers are taken before commits, so a smaller one may still be under
 * way; its session holds a lock that is visible here. A writer is ended by its own time limits.
 */
async function settledLast(sql: Sql): Promise<number> {
  const [row] = await sql.rows(lastNumber())
  if (row === undefined) return 0
  let waitedFor = await writersIn(sql)
  const giveUpAt = performance.now() + patienceMs
  while (waitedFor.size > 0) {
    if (performance.now() > giveUpAt) {
      throw new StorageFailure('storage_unavailable', new Error('a transaction holds rows of the audit back'))
    }
    await delay(checkEveryMs)
    const present = await writersIn(sql)
    waitedFor = new Set([...waitedFor].filter((writer) => present.has(writer)))
  }
  return row.audit_no
}

async function writersIn(sql: Sql): Promise<ReadonlySet<string>> {
  return new Set((await sql.rows(findWriters())).map(({ writer }) => writer))
}

interface NumberRow {
  readonly audit_no: number
}

type StoredRow = Omit<AuditRow, 'detail'> & { readonly detail: string }

function rowOf({ detail, ...row }: StoredRow): AuditRow {
  const parsed: AuditRow['detail'] = JSON.parse(detail)
  return { ...row, detail: parsed }
}
