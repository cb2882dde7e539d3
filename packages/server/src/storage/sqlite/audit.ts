/** Reads and writes the audit. Every changing verb notes its changes in its own transaction. */
import { millisecondsOfTicks } from '@property-events/protocol/plain'
import { auditPruned, auditRows } from '../audit-changes.ts'
import type { Actor, AuditChange, AuditQuery, AuditRow } from '../audit-store.ts'
import { readClock } from '../clock.ts'
import type { SharedClock } from '../clock.ts'
import type { Connection } from './connection.ts'
import { metaOf } from './meta.ts'

/** Notes changes; called in the transaction that makes them. */
export type NoteChanges = (changes: readonly AuditChange[], actor: Actor) => void

export function changeNoter(db: Connection, clock: SharedClock | undefined): NoteChanges {
  const insert = rowInserter(db)
  return (changes, actor) => {
    const nowMs = millisecondsOfTicks(readClock(clock))
    for (const row of auditRows(changes, actor, nowMs)) insert(row)
  }
}

export interface AuditWrites {
  noteAudit(change: AuditChange, actor: Actor): void
  takeAudit(rows: readonly AuditRow[]): void
  pruneAudit(beforeMs: number, actor: Actor): number
}

export function auditWrites(db: Connection, note: NoteChanges): AuditWrites {
  const insert = rowInserter(db)
  const has = db.prepare<[string], number>('SELECT 1 FROM audit WHERE id = ?').pluck()
  const hasBefore = db.prepare<[number], number>('SELECT 1 FROM audit WHERE at_ms < ? LIMIT 1').pluck()
  const remove = db.prepare('DELETE FROM audit WHERE at_ms < ?')
  const take = db.transaction((rows: readonly AuditRow[]) => {
    for (const row of rows) if (has.get(row.id) === undefined) insert(row)
  })
  const prune = db.transaction((beforeMs: number, actor: Actor) => {
    if (hasBefore.get(beforeMs) === undefined) return 0
    const meta = metaOf(db)
    const earlier = Number(meta.find('audit_pruned_before') ?? 0)
    meta.set('audit_pruned_before', String(Math.max(earlier, beforeMs)))
    const { changes } = remove.run(beforeMs)
    note(auditPruned(beforeMs, changes), actor)
    return changes
  })
  return {
    noteAudit: (change, actor) => note([change], actor),
    takeAudit: (rows) => take.immediate(rows),
    pruneAudit: (beforeMs, actor) => prune.immediate(beforeMs, actor),
  }
}

function rowInserter(db: Connection): (row: AuditRow) => void {
  const insert = db.prepare(
    'INSERT INTO audit (id, at_ms, actor, action, tenant, target, detail) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  return ({ id, atMs, actor, action, tenant, target, detail }) =>
    void insert.run(id, atMs, actor, action, tenant, target, JSON.stringify(detail))
}

interface StoredRow {
  readonly id: string
  readonly at_ms: number
  readonly actor: string
  readonly action: string
  readonly tenant: string | null
  readonly target: string | null
  readonly detail: string
}

export type ReadAudit = (query: AuditQuery) => readonly AuditRow[] | 'unknownRow'

/** There is one writer at a time, so numbers follow the order of commits. */
export function auditReader(db: Connection): ReadAudit {
  const numberOf = db.prepare<[string], number>('SELECT audit_no FROM audit WHERE id = ?').pluck()
  return (query) => {
    const { first, after, limit, tenant, action, target, fromMs, toMs } = query
    const place = after === undefined ? undefined : numberOf.get(after)
    if (after !== undefined && place === undefined) return 'unknownRow'
    const conditions: readonly (readonly [string, string | number | undefined])[] = [
      // Also used without a place, so that the plan is a search.
      [
        first === 'oldest' ? 'audit_no > ?' : 'audit_no < ?',
        place ?? (first === 'oldest' ? 0 : Number.MAX_SAFE_INTEGER),
      ],
      ['tenant = ?', tenant],
      ['action = ?', action],
      ['target = ?', target],
      ['at_ms >= ?', fromMs],
      ['at_ms < ?', toMs],
    ]
    const asked = conditions.filter(([, value]) => value !== undefined)
    const where = asked.length === 0 ? '' : `WHERE ${asked.map(([sql]) => sql).join(' AND ')}`
    const order = first === 'oldest' ? 'ASC' : 'DESC'
    return db
      .prepare<unknown[], StoredRow>(
        `SELECT id, at_ms, actor, action, tenant, target, detail FROM audit ${where} ORDER BY audit_no ${order} LIMIT ?`,
      )
      .all(...asked.map(([, value]) => value), limit)
      .map(rowOf)
  }
}

function rowOf({ at_ms, detail, ...row }: StoredRow): AuditRow {
  const parsed: AuditRow['detail'] = JSON.parse(detail)
  return { ...row, atMs: at_ms, detail: parsed }
}
