/** Deletions of tenants in a database. */
import { feedNames } from '@property-events/protocol/plain'
import { deletionBegun, tenantDeleted } from '../../audit/changes.ts'
import type { Actor } from '../../audit/actor.ts'
import { feedsOfTenant } from '../../events/log-statements.ts'
import { defineWrite, statement } from '../../sql/database.ts'
import type { Sql, StoreAccess, Transaction } from '../../sql/database.ts'
import { firstId } from '../../sql/tenant-rows.ts'
import { nodeSilenceMs } from '../../nodes/node.ts'
import { firstDigest, noCounts, withCounts } from './deletion.ts'
import type {
  BeginDeletionOutcome,
  CountOwnedOutcome,
  DeletedExport,
  Deletion,
  DeletionRequest,
  DeletionStore,
  DeletionRefusal,
} from './deletion.ts'
import { deletionOf, insertDeletion, putDeletion } from './record.ts'
import type { DeletionRow } from './record.ts'
import { lockedStates, setState } from '../move/store.ts'
import { ownedTables } from './owned-rows.ts'
import { removeRows, withoutEvents, withoutRest } from './removal.ts'
import { isBeingMoved, moveStateOf } from '../move/move.ts'
import { isAdmitted, tenantStateOf } from '../tenant-state.ts'

const one = statement<DeletionRow>('deletion', 'SELECT * FROM tenant_deletion WHERE deletion = $1')
/** Only one session at a time changes a deletion. */
const lock = statement<DeletionRow>(
  'deletion-lock',
  'SELECT * FROM tenant_deletion WHERE deletion = $1 FOR NO KEY UPDATE',
)
const lockUnlessBusy = statement<DeletionRow>(
  'deletion-lock-unless-busy',
  'SELECT * FROM tenant_deletion WHERE deletion = $1 FOR NO KEY UPDATE SKIP LOCKED',
)
const openOfTenant = statement<DeletionRow>(
  'deletion-of-tenant',
  `SELECT * FROM tenant_deletion WHERE tenant = $1 AND state <> 'deleted' FOR NO KEY UPDATE`,
)
/** SQLite would rather read all deletions in the order of their ids. */
const allOpen = statement<DeletionRow>('deletion-open', (dialect) => {
  const index = dialect === 'sqlite' ? 'INDEXED BY tenant_deletion_open' : ''
  return `SELECT * FROM tenant_deletion ${index} WHERE state <> 'deleted' ORDER BY deletion`
})
const nodesOf = statement<{ readonly node: string }>(
  'deletion-nodes',
  'SELECT node FROM tenant_deletion_node WHERE deletion = $1',
)
const list = statement<DeletionRow>(
  'deletion-list',
  'SELECT * FROM tenant_deletion WHERE deletion > $1 ORDER BY deletion LIMIT $2',
)
const nameOf = statement<{ readonly name: string }>(
  'deletion-name',
  'SELECT name FROM tenant WHERE tenant = $1',
)
const takeExport = statement(
  'deletion-take-export',
  `UPDATE tenant_deletion SET exporter = $2 WHERE deletion = $1 AND state = 'exporting' AND NOT EXISTS (
      SELECT 1 FROM node n WHERE n.node = tenant_deletion.exporter AND n.node <> $2 AND n.seen_ms > $3
    ) RETURNING deletion`,
)
const insertNode = statement(
  'deletion-node',
  'INSERT INTO tenant_deletion_node (deletion, node) VALUES ($1, $2) ON CONFLICT DO NOTHING',
)
const removeNodes = statement('deletion-remove-nodes', 'DELETE FROM tenant_deletion_node WHERE deletion = $1')
const anyMissing = statement(
  'deletion-missing',
  `SELECT n.node FROM node n WHERE n.seen_ms > $2
    AND NOT EXISTS (SELECT 1 FROM tenant_deletion_node a WHERE a.deletion = $1 AND a.node = n.node) LIMIT 1`,
)
const countKeys = statement<{ readonly keys: number; readonly grants: number }>(
  'deletion-count-keys',
  `SELECT count(*) - coalesce(sum(shared), 0) AS keys, coalesce(sum(shared), 0) AS grants FROM (
      SELECT CASE WHEN EXISTS (SELECT 1 FROM key_grant o WHERE o.key_no = g.key_no AND o.tenant <> $1) THEN 1 ELSE 0 END AS shared
      FROM key_grant g WHERE g.tenant = $1
    ) AS given`,
)

const begin = defineWrite(
  'deletion-begin',
  async (tx, request: DeletionRequest, actor: Actor): Promise<BeginDeletionOutcome> => {
    const { tenantId, export: by } = request
    const state = by === 'none' ? 'deleting' : 'exporting'
    const again = async (): Promise<BeginDeletionOutcome | undefined> => {
      const [row] = await tx.rows(openOfTenant(tenantId))
      if (row === undefined) return undefined
      const before = deletionOf(row)
      if (before.state !== 'exporting') return { kind: 'begun', isNew: false, deletion: before }
      const deletion: Deletion = { ...before, export: by, state }
      await tx.rows(putDeletion(deletion))
      return { kind: 'begun', isNew: false, deletion }
    }
    const known = await again()
    if (known !== undefined) return known
    await lockedStates(tx, tenantId)
    // Another session may have been first.
    const meanwhile = await again()
    if (meanwhile !== undefined) return meanwhile
    const refused = await deletionRefusal(tx, tenantId)
    if (refused !== undefined) return refused
    const [tenant] = await tx.rows(nameOf(tenantId))
    const deletion: Deletion = {
      ...request,
      state,
      name: tenant?.name,
      actor,
      exported: undefined,
      feeds: await feedsOfTenant(tx, tenantId),
      counts: noCounts,
      digests: { property: firstDigest, contact: firstDigest },
      begunMs: await tx.nowMs(),
      deletedMs: undefined,
    }
    await tx.rows(insertDeletion(deletion))
    await setState(tx, tenantId, 'deleting')
    await tx.note(deletionBegun(request), actor)
    return { kind: 'begun', isNew: true, deletion }
  },
)

const takeTheExport = defineWrite(
  'deletion-take-export',
  async (tx, deletionId: string, nodeId: string): Promise<'taken' | 'busy'> => {
    const rows = await tx.rows(takeExport(deletionId, nodeId, (await tx.nowMs()) - nodeSilenceMs))
    return rows.length > 0 ? 'taken' : 'busy'
  },
)

const noteExported = defineWrite(
  'deletion-exported',
  async (tx, deletionId: string, exported: DeletedExport | undefined): Promise<'done' | 'known'> => {
    const [row] = await tx.rows(lock(deletionId))
    if (row?.state !== 'exporting') return 'known'
    await tx.rows(putDeletion({ ...deletionOf(row), state: 'deleting', exported }))
    return 'done'
  },
)

const step = defineWrite(
  'deletion-step',
  async (tx, deletionId: string, limit: number): Promise<'removed' | 'finished' | 'busy'> => {
    const [row] = await tx.rows(lockUnlessBusy(deletionId))
    if (row === undefined || row.state === 'exporting') return 'busy'
    if (row.state !== 'deleting') return 'finished'
    const before = deletionOf(row)
    const after = (await withoutEvents(tx, before, limit)) ?? (await withoutRest(tx, before, limit))
    await tx.rows(putDeletion(after ?? { ...before, state: 'forgetting' }))
    if (after === undefined) return 'finished'
    changed(tx, before.tenantId)
    return 'removed'
  },
)

/** More rows than a node can have added since the last step. */
const everything = 1_000_000_000

const acknowledge = defineWrite(
  'deletion-acknowledge',
  async (tx, deletionId: string, nodeId: string | undefined): Promise<'deleted' | 'waiting'> => {
    const [row] = await tx.rows(lock(deletionId))
    if (row === undefined || row.state === 'exporting' || row.state === 'deleting') return 'waiting'
    if (row.state === 'deleted') return 'deleted'
    if (nodeId !== undefined) await tx.rows(insertNode(deletionId, nodeId))
    const missing = await tx.rows(anyMissing(deletionId, (await tx.nowMs()) - nodeSilenceMs))
    if (missing.length > 0) return 'waiting'
    // Rows that were added since, for example a node's note of what it sent.
    let last = deletionOf(row)
    for (let next: Deletion | undefined = last; next !== undefined;) {
      last = next
      next = await withoutRest(tx, last, everything)
    }
    await removeRows(tx, (await ownedTables(tx)).last, last, everything)
    await tx.rows(removeNodes(deletionId))
    const deletion: Deletion = { ...last, state: 'deleted', name: undefined, deletedMs: await tx.nowMs() }
    await tx.rows(putDeletion(deletion))
    await tx.note(tenantDeleted(deletion), deletion.actor)
    changed(tx, deletion.tenantId)
    return 'deleted'
  },
)

const takeCertificates = defineWrite('deletion-take', async (tx, deletions: readonly Deletion[]) => {
  for (const deletion of deletions) await tx.rows(insertDeletion(deletion))
})

export function deletionStore({ read, write }: StoreAccess): DeletionStore {
  return {
    begin: (request, actor) => write(begin, request, actor),
    refusal: (tenantId) => deletionRefusal(read, tenantId),
    count: (tenantId) => countOwned(read, tenantId),
    takeExport: (deletionId, nodeId) => write(takeTheExport, deletionId, nodeId),
    exported: (deletionId, file) => write(noteExported, deletionId, file),
    step: (deletionId, limit) => write(step, deletionId, limit),
    acknowledge: (deletionId, nodeId) => write(acknowledge, deletionId, nodeId),
    async open() {
      const open = (await read.rows(allOpen())).map(deletionOf)
      return Promise.all(
        open.map(async (deletion) => {
          const nodes = await read.rows(nodesOf(deletion.deletionId))
          return { ...deletion, acknowledgedBy: nodes.map(({ node }) => node) }
        }),
      )
    },
    async find(deletionId) {
      const [row] = await read.rows(one(deletionId))
      return row && deletionOf(row)
    },
    list: async (after = firstId, limit) => (await read.rows(list(after, limit))).map(deletionOf),
    take: (deletions) => write(takeCertificates, deletions),
  }
}

async function countOwned(sql: Sql, tenantId: string): Promise<CountOwnedOutcome> {
  const feeds = await feedsOfTenant(sql, tenantId)
  if (feeds.length === 0) return { kind: 'unknownTenant' }
  const [keys] = await sql.rows(countKeys(tenantId))
  let counts = withCounts(
    { ...noCounts, ...keys },
    { events: feeds.reduce((sum, { events }) => sum + events, 0) },
  )
  for (const { counted, count } of (await ownedTables(sql)).rest) {
    if (counted === undefined) continue
    const [row] = await sql.rows(count(tenantId))
    counts = withCounts(counts, { [counted]: row?.found ?? 0 })
  }
  return { kind: 'counted', counts, feeds }
}

/** Whoever waits for the tenant's feeds looks again. */
function changed(tx: Transaction, tenantId: string): void {
  tx.changed(feedNames.map((feed) => ({ tenantId, feed })))
}

interface Obstacles {
  readonly suspended: boolean | number
  readonly reading_ends_ms: number | null
  readonly holds: number
  readonly held_until: number | null
  readonly erasing: boolean | number
}

const movesOf = statement<{ readonly move: string | null }>(
  'deletion-moves',
  'SELECT move FROM feed WHERE tenant = $1',
)
const heldNow = 'hold WHERE tenant = $1 AND ended_ms IS NULL AND until_ms > $2'
const obstacles = statement<Obstacles>(
  'deletion-obstacles',
  `SELECT t.suspended, l.reading_ends_ms,
      (SELECT count(*) FROM ${heldNow}) AS holds,
      (SELECT max(until_ms) FROM ${heldNow}) AS held_until,
      EXISTS (SELECT 1 FROM erasure WHERE tenant = $1 AND state = 'reducing')
        OR EXISTS (SELECT 1 FROM restriction WHERE tenant = $1 AND state IN ('hiding', 'lifting')) AS erasing
    FROM tenant t LEFT JOIN leaving_tenant l ON l.tenant = t.tenant WHERE t.tenant = $1`,
)

/** `undefined`: nothing does, or it is being deleted. */
async function deletionRefusal(sql: Sql, tenantId: string): Promise<DeletionRefusal | undefined> {
  const moves = (await sql.rows(movesOf(tenantId))).map(({ move }) => moveStateOf(move))
  if (moves.length === 0) return { kind: 'unknownTenant' }
  if (moves.includes('deleting')) return undefined
  if (moves.some(isBeingMoved)) return { kind: 'tenantMoving' }
  const nowMs = await sql.nowMs()
  const [found] = await sql.rows(obstacles(tenantId, nowMs))
  if (found === undefined) return { kind: 'unknownTenant' }
  const { suspended, reading_ends_ms: readingEndsMs, holds, held_until: untilMs } = found
  const state = tenantStateOf(
    { suspended: Boolean(suspended), readingEndsMs: readingEndsMs ?? undefined },
    nowMs,
  )
  if (isAdmitted(state)) return { kind: 'inUse' }
  if (holds > 0) return { kind: 'onHold', holds, untilMs: untilMs ?? nowMs }
  return found.erasing ? { kind: 'erasing' } : undefined
}
