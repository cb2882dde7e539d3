/** Reads and writes the audit. Every changing verb notes its changes in its own transaction. */
import { setTimeout as delay } from 'node:timers/promises'
import { millisecondsOfTicks } from '@property-events/protocol'
import type { Ticks } from '@property-events/protocol'
import { auditPruned, auditRows } from '../audit-changes.ts'
import type { Actor, AuditChange, AuditQuery, AuditRow, AuditStore } from '../audit-store.ts'
import { codeOf } from '../error-code.ts'
import { StorageFailure, StorageRefusal } from '../storage.ts'
import { bigints, texts, uuids } from './array.ts'
import type { Database, Session, Statement, Value } from './connection.ts'

const insertRows: Statement = {
  name: 'audit-insert',
  text: `INSERT INTO audit (id, at_ms, actor, action, tenant, target, detail)
    SELECT r.* FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::uuid[], $6::text[], $7::text[])
      AS r (id, at_ms, actor, action, tenant, target, detail)
    ON CONFLICT (id) DO NOTHING`,
}
const numberOf: Statement = { name: 'audit-number', text: 'SELECT audit_no FROM audit WHERE id = $1' }
const lastNumber: Statement = {
  name: 'audit-last',
  text: 'SELECT audit_no FROM audit ORDER BY audit_no DESC LIMIT 1',
}
/** A writer holds this lock on the table from before it takes a number until its commit is visible. */
const findWriters: Statement = {
  name: 'audit-writers',
  text: `SELECT virtualtransaction AS writer FROM pg_locks
    WHERE locktype = 'relation' AND relation = 'audit'::regclass AND mode = 'RowExclusiveLock' AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
}
const allowPruning: Statement = {
  name: 'audit-allow-pruning',
  text: `SELECT set_config('property_events.prune_audit', 'on', true)`,
}
const removeBefore: Statement = {
  name: 'audit-prune',
  text: 'DELETE FROM audit WHERE at_ms < $1 RETURNING audit_no',
}

/** Notes changes; called in the transaction that makes them. */
export type NoteChanges = (session: Session, changes: readonly AuditChange[], actor: Actor) => Promise<void>

/** `given`: replaces the node's clock, for tests. */
export function changeNoter(given: () => Ticks | undefined): NoteChanges {
  return async (session, changes, actor) => {
    if (changes.length === 0) return
    const ticks = given()
    await putRows(
      session,
      auditRows(changes, actor, ticks === undefined ? Date.now() : millisecondsOfTicks(ticks)),
    )
  }
}

async function putRows(session: Session, rows: readonly AuditRow[]): Promise<void> {
  await session.query(insertRows, [
    uuids(rows.map(({ id }) => id)),
    bigints(rows.map(({ atMs }) => atMs)),
    texts(rows.map(({ actor }) => actor)),
    texts(rows.map(({ action }) => action)),
    uuids(rows.map(({ tenant }) => tenant)),
    texts(rows.map(({ target }) => target)),
    texts(rows.map(({ detail }) => JSON.stringify(detail))),
  ])
}

export function databaseAudit(database: Database, note: NoteChanges): AuditStore {
  return {
    read: (query) => readAudit(database, query),
    note: (change, actor) => database.write((session) => note(session, [change], actor)),
    take: (rows) => database.write((session) => putRows(session, rows)),
    prune: (beforeMs, actor) => prune(database, note, beforeMs, actor),
  }
}

async function readAudit(database: Database, query: AuditQuery): Promise<readonly AuditRow[] | 'unknownRow'> {
  const { first, after } = query
  let place: string | undefined
  if (after !== undefined) {
    const [row] = await database.read<{ audit_no: string }>(numberOf, [after])
    if (row === undefined) return 'unknownRow'
    place = row.audit_no
  }
  const last = first === 'oldest' ? await settledLast(database) : undefined
  const { statement, values } = readStatement(query, place, last)
  return (await database.read<StoredRow>(statement, values)).map(rowOf)
}

/** One statement for each set of conditions, so that each is planned with the index that fits. */
function readStatement(
  { first, tenant, action, target, fromMs, toMs, limit }: AuditQuery,
  place: string | undefined,
  last: string | undefined,
): { readonly statement: Statement; readonly values: readonly Value[] } {
  const conditions: readonly (readonly [string, string, Value | undefined])[] = [
    ['place', first === 'oldest' ? 'audit_no > ' : 'audit_no < ', place],
    ['last', 'audit_no <= ', last],
    ['tenant', 'tenant = ', tenant],
    ['action', 'action = ', action],
    ['target', 'target = ', target],
    ['from', 'at_ms >= ', fromMs],
    ['to', 'at_ms < ', toMs],
  ]
  const asked: [string, Value][] = []
  const names: string[] = [first]
  for (const [name, sql, value] of conditions) {
    if (value === undefined) continue
    asked.push([`${sql}$${asked.length + 2}`, value])
    names.push(name)
  }
  const where = asked.length === 0 ? '' : `WHERE ${asked.map(([sql]) => sql).join(' AND ')}`
  const text = `SELECT id, at_ms, actor, action, tenant, target, detail FROM audit ${where}
    ORDER BY audit_no ${first === 'oldest' ? 'ASC' : 'DESC'} LIMIT $1`
  const name = `audit-${names.join('-')}`
  return { statement: { name, text }, values: [limit, ...asked.map(([, value]) => value)] }
}

/** How often it checks whether commits under way have ended. */
const lookEveryMs = 20
/** Twice the time that a commit may take: only somebody else's session, in a forgotten transaction, holds on for longer. */
const patienceMs = 60_000

/**
 * A number up to which all rows that will ever exist are there. Numbers are taken before commits, so a smaller one may still be under
 * way; its session holds a lock that is visible here. A writer is ended by its own time limits.
 */
async function settledLast(database: Database): Promise<string> {
  const [row] = await database.read<{ audit_no: string }>(lastNumber, [])
  if (row === undefined) return '0'
  let waitedFor = await writersIn(database)
  const giveUpAt = performance.now() + patienceMs
  while (waitedFor.size > 0) {
    if (performance.now() > giveUpAt) {
      throw new StorageFailure('storage_unavailable', new Error('a transaction holds rows of the audit back'))
    }
    await delay(lookEveryMs)
    const present = await writersIn(database)
    waitedFor = new Set([...waitedFor].filter((writer) => present.has(writer)))
  }
  return row.audit_no
}

async function writersIn(database: Database): Promise<ReadonlySet<string>> {
  const rows = await database.read<{ writer: string }>(findWriters, [])
  return new Set(rows.map(({ writer }) => writer))
}

async function prune(database: Database, note: NoteChanges, beforeMs: number, actor: Actor): Promise<number> {
  try {
    return await database.transaction(async (session) => {
      await session.query(allowPruning, [])
      const removed = await session.query(removeBefore, [beforeMs])
      if (removed.length > 0) await note(session, auditPruned(beforeMs, removed.length), actor)
      return removed.length
    })
  } catch (error) {
    if (codeOf(error) !== '42501') throw error
    throw new StorageRefusal(
      'not_permitted',
      'Only the role that owns the tables may remove rows of the audit. Run the command with the address of that role.',
    )
  }
}

interface StoredRow {
  readonly id: string
  readonly at_ms: string
  readonly actor: string
  readonly action: string
  readonly tenant: string | null
  readonly target: string | null
  readonly detail: string
  readonly [column: string]: unknown
}

function rowOf({ id, at_ms, actor, action, tenant, target, detail }: StoredRow): AuditRow {
  const parsed: AuditRow['detail'] = JSON.parse(detail)
  return { id, atMs: Number(at_ms), actor, action, tenant, target, detail: parsed }
}
