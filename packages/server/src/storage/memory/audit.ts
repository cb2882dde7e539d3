import { millisecondsOfTicks } from '@property-events/protocol'
import { auditPruned, auditRows } from '../audit-changes.ts'
import type { Actor, AuditChange, AuditQuery, AuditRow, AuditStore } from '../audit-store.ts'
import { readClock } from '../clock.ts'
import { openState } from './state.ts'
import type { MemoryStore } from './state.ts'

/** Notes changes in the same turn in which they are made. */
export function noteChanges(store: MemoryStore, changes: readonly AuditChange[], actor: Actor): void {
  const state = openState(store)
  const nowMs = millisecondsOfTicks(readClock(store.clock))
  state.audit = [...state.audit, ...auditRows(changes, actor, nowMs)]
}

export function memoryAudit(store: MemoryStore): AuditStore {
  return {
    note: async (change, actor) => noteChanges(store, [change], actor),
    read: async (query) => readAudit(openState(store).audit, query),
    async take(rows) {
      const state = openState(store)
      const held = new Set(state.audit.map(({ id }) => id))
      state.audit = [...state.audit, ...structuredClone(rows.filter(({ id }) => !held.has(id)))]
    },
    async prune(beforeMs, actor) {
      const state = openState(store)
      const kept = state.audit.filter(({ atMs }) => atMs >= beforeMs)
      const removed = state.audit.length - kept.length
      state.audit = kept
      if (removed > 0) noteChanges(store, auditPruned(beforeMs, removed), actor)
      return removed
    },
  }
}

function readAudit(rows: readonly AuditRow[], query: AuditQuery): readonly AuditRow[] | 'unknownRow' {
  const { first, after, limit, tenant, action, target, fromMs = 0, toMs = Infinity } = query
  const ordered = first === 'oldest' ? rows : rows.toReversed()
  const place = after === undefined ? -1 : ordered.findIndex(({ id }) => id === after)
  if (after !== undefined && place === -1) return 'unknownRow'
  return ordered
    .slice(place + 1)
    .filter(
      (row) =>
        (tenant === undefined || row.tenant === tenant) &&
        (action === undefined || row.action === action) &&
        (target === undefined || row.target === target) &&
        row.atMs >= fromMs &&
        row.atMs < toMs,
    )
    .slice(0, limit)
}
