/** Deletes tenants on the writer's connection: each verb is one immediate transaction. */
import { millisecondsOfTicks, uuidOfBytes } from '@property-events/protocol/plain'
import { deletionBegun, keysRemoved, tenantDeleted } from '../../audit/changes.ts'
import type { Actor } from '../../audit/audit.ts'
import { readClock } from '../clock.ts'
import type { SharedClock } from '../clock.ts'
import { byFeed, deletionText, firstDigest, nextDigest, noCounts, withCounts } from '../deletion-record.ts'
import type {
  BeginDeletionOutcome,
  DeletedExport,
  Deletion,
  DeletionRequest,
  OwnedCounts,
} from '../deletion-store.ts'
import type { ChangeCounts } from '../change-counts.ts'
import { nodeSilenceMs } from '../node-store.ts'
import type { NoteChanges } from '../../sql/sqlite.ts'
import type { Connection } from './connection.ts'
import { deletionOf, deletionReader } from './deletion-row.ts'
import type { DeletionRow } from './deletion-row.ts'
import { deletedFeeds, deletionRefusal } from './deletions.ts'
import { tenantRows } from './tenant-rows.ts'

export interface DeletionWrites {
  beginDeletion(request: DeletionRequest, actor: Actor): BeginDeletionOutcome
  takeExport(deletionId: string, nodeId: string): 'taken' | 'busy'
  noteExported(deletionId: string, file: DeletedExport | undefined): 'done' | 'known'
  stepDeletion(deletionId: string, limit: number): 'removed' | 'finished' | 'busy'
  acknowledgeDeletion(deletionId: string, nodeId: string | undefined): 'deleted' | 'waiting'
  takeDeletions(deletions: readonly Deletion[]): void
}

export function deletionWrites(
  db: Connection,
  clock: SharedClock | undefined,
  note: NoteChanges,
  changes: ChangeCounts,
): DeletionWrites {
  const nowMs = (): number => millisecondsOfTicks(readClock(clock))
  const parts: Parts = { db, note, nowMs, read: deletionReader(db), put: deletionPutter(db) }
  const begin = beginner(parts)
  const exporting = exportNoter(parts)
  const step = stepper(parts)
  const acknowledge = acknowledger(parts)
  const insert = deletionInserter(db)
  const takeAll = db.transaction((deletions: readonly Deletion[]) => {
    for (const deletion of deletions) if (parts.read(deletion.deletionId) === undefined) insert(deletion)
  })
  const told = <T>(outcome: T): T => {
    changes.raise(undefined)
    return outcome
  }
  return {
    beginDeletion: (request, actor) => told(begin.immediate(request, actor)),
    takeExport: (deletionId, nodeId) => exporting.take.immediate(deletionId, nodeId),
    noteExported: (deletionId, file) => exporting.done.immediate(deletionId, file),
    stepDeletion: (deletionId, limit) => told(step.immediate(deletionId, limit)),
    acknowledgeDeletion: (deletionId, nodeId) => told(acknowledge.immediate(deletionId, nodeId)),
    takeDeletions: (deletions) => takeAll.immediate(deletions),
  }
}

interface Parts {
  readonly db: Connection
  readonly note: NoteChanges
  readonly nowMs: () => number
  readonly read: (deletionId: string) => DeletionRow | undefined
  readonly put: (deletion: Deletion) => void
}

function deletionInserter(db: Connection): (deletion: Deletion) => void {
  const insert = db.prepare(
    `INSERT INTO tenant_deletion (deletion, tenant, actor, state, said, counts, property_digest, contact_digest, begun_ms,
      deleted_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  return (deletion) => {
    const { deletionId, tenantId, actor, state, counts, digests, begunMs, deletedMs } = deletion
    const said = deletionText(deletion)
    const texts = [said, JSON.stringify(counts), digests.property, digests.contact]
    insert.run(deletionId, tenantId, actor, state, ...texts, begunMs, deletedMs ?? null)
  }
}

/** Stores what has changed in the deletion. */
function deletionPutter(db: Connection): (deletion: Deletion) => void {
  const update = db.prepare(
    `UPDATE tenant_deletion SET state = ?, said = ?, counts = ?, property_digest = ?, contact_digest = ?, deleted_ms = ?
      WHERE deletion = ?`,
  )
  return (deletion) => {
    const { deletionId, state, counts, digests, deletedMs } = deletion
    const texts = [deletionText(deletion), JSON.stringify(counts), digests.property, digests.contact]
    update.run(state, ...texts, deletedMs ?? null, deletionId)
  }
}

function beginner({ db, note, nowMs, put }: Parts) {
  const known = db.prepare<[string], DeletionRow>(
    `SELECT * FROM tenant_deletion WHERE tenant = ? AND state <> 'deleted'`,
  )
  const refusalOf = deletionRefusal(db)
  const feedsOf = deletedFeeds(db)
  const insert = deletionInserter(db)
  const nameOf = db.prepare<[string], string>('SELECT name FROM tenant WHERE tenant = ?').pluck()
  const close = db.prepare(`UPDATE feed SET move = 'deleting' WHERE tenant = ?`)
  const keepNumbers = db.prepare(
    `UPDATE tenant_deletion SET
      property_no = (SELECT feed_no FROM feed WHERE tenant = tenant_deletion.tenant AND feed = 'property'),
      contact_no = (SELECT feed_no FROM feed WHERE tenant = tenant_deletion.tenant AND feed = 'contact')
      WHERE deletion = ?`,
  )
  return db.transaction((request: DeletionRequest, actor: Actor): BeginDeletionOutcome => {
    const { tenantId, export: by } = request
    const row = known.get(tenantId)
    if (row !== undefined) {
      const before = deletionOf(row)
      if (before.state !== 'exporting') return { kind: 'begun', isNew: false, deletion: before }
      const deletion: Deletion = { ...before, export: by, state: by === 'none' ? 'deleting' : 'exporting' }
      put(deletion)
      return { kind: 'begun', isNew: false, deletion }
    }
    const refused = refusalOf(tenantId, nowMs())
    if (refused !== undefined) return refused
    const deletion: Deletion = {
      ...request,
      state: by === 'none' ? 'deleting' : 'exporting',
      name: nameOf.get(tenantId),
      actor,
      exported: undefined,
      feeds: feedsOf(tenantId),
      counts: noCounts,
      digests: byFeed(() => firstDigest),
      begunMs: nowMs(),
      deletedMs: undefined,
    }
    insert(deletion)
    keepNumbers.run(request.deletionId)
    close.run(tenantId)
    note(deletionBegun(request), actor)
    return { kind: 'begun', isNew: true, deletion }
  })
}

function exportNoter({ db, nowMs, read, put }: Parts) {
  const isLive = db.prepare<[string, number], number>('SELECT 1 FROM node WHERE node = ? AND seen_ms > ?')
  const setExporter = db.prepare('UPDATE tenant_deletion SET exporter = ? WHERE deletion = ?')
  return {
    take: db.transaction((deletionId: string, nodeId: string) => {
      const row = read(deletionId)
      if (row?.state !== 'exporting') return 'busy'
      const { exporter } = row
      const isOther = exporter !== null && exporter !== nodeId
      if (isOther && isLive.get(exporter, nowMs() - nodeSilenceMs) !== undefined) return 'busy'
      setExporter.run(nodeId, deletionId)
      return 'taken'
    }),
    done: db.transaction((deletionId: string, exported: DeletedExport | undefined) => {
      const row = read(deletionId)
      if (row?.state !== 'exporting') return 'known'
      put({ ...deletionOf(row), state: 'deleting', exported })
      return 'done'
    }),
  }
}

function stepper({ db, note, read, put }: Parts) {
  const rows = tenantRows(db)
  return db.transaction((deletionId: string, limit: number) => {
    const row = read(deletionId)
    if (row === undefined || row.state === 'exporting') return 'busy'
    if (row.state !== 'deleting') return 'finished'
    const deletion = deletionOf(row)
    const { tenantId, actor } = deletion
    const events = rows.removeEvents(tenantId, limit)
    if (events !== undefined) {
      const digest = events.removed.reduce(
        (before, { sequence, id }) => nextDigest(before, sequence, uuidOfBytes(id)),
        deletion.digests[events.feed],
      )
      const digests = { ...deletion.digests, [events.feed]: digest }
      put({ ...deletion, digests, counts: withCounts(deletion.counts, events.counts) })
      return 'removed'
    }
    const rest = rows.removeRest(tenantId, limit) ?? rows.removeKeys(tenantId, limit)
    if (rest === undefined) {
      put({ ...deletion, state: 'forgetting' })
      return 'finished'
    }
    if (rest.keys !== undefined) note(keysRemoved(tenantId, rest.keys), actor)
    put({ ...deletion, counts: withCounts(deletion.counts, rest.counts) })
    return 'removed'
  })
}

/** More rows than a node can have added since. */
const everything = 1_000_000_000

function acknowledger({ db, note, nowMs, read, put }: Parts) {
  const rows = tenantRows(db)
  const insertNode = db.prepare('INSERT INTO tenant_deletion_node VALUES (?, ?) ON CONFLICT DO NOTHING')
  const findMissing = db.prepare<[number, string]>(
    `SELECT 1 FROM node
      WHERE seen_ms > ? AND node NOT IN (SELECT node FROM tenant_deletion_node WHERE deletion = ?) LIMIT 1`,
  )
  return db.transaction((deletionId: string, nodeId: string | undefined) => {
    const row = read(deletionId)
    if (row === undefined || row.state === 'exporting' || row.state === 'deleting') return 'waiting'
    if (row.state === 'deleted') return 'deleted'
    if (nodeId !== undefined) insertNode.run(deletionId, nodeId)
    if (findMissing.get(nowMs() - nodeSilenceMs, deletionId) !== undefined) return 'waiting'
    const before = deletionOf(row)
    const { tenantId, actor } = before
    // Rows that were added since, for example a node's note of what it sent.
    let counts: OwnedCounts = before.counts
    for (;;) {
      const rest = rows.removeRest(tenantId, everything) ?? rows.removeKeys(tenantId, everything)
      if (rest === undefined) break
      if (rest.keys !== undefined) note(keysRemoved(tenantId, rest.keys), actor)
      counts = withCounts(counts, rest.counts)
    }
    rows.removeTenant(tenantId, deletionId)
    const deletion: Deletion = { ...before, state: 'deleted', name: undefined, counts, deletedMs: nowMs() }
    put(deletion)
    note(tenantDeleted(deletion), actor)
    return 'deleted'
  })
}
