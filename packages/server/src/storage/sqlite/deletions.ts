/** The port's part for deleting tenants, on a file: reads on this thread, writes on the writer's. */
import { feedNames, millisecondsOfTicks } from '@property-events/protocol/plain'
import { readClock } from '../clock.ts'
import type { SharedClock } from '../clock.ts'
import { noCounts, withCounts } from '../deletion-record.ts'
import type { DeletedFeed, DeletionRefusal, DeletionStore } from '../deletion-store.ts'
import type { Unguarded } from '../guarded-verbs.ts'
import { isBeingMoved, moveStateOf } from '../move-store.ts'
import type { Watchers } from '../watchers.ts'
import type { Connection } from './connection.ts'
import { deletionOf, deletionReader } from './deletion-row.ts'
import type { DeletionRow } from './deletion-row.ts'
import { feedReader, headReader } from './feed-row.ts'
import { ownedByFeed, ownedByTenant, rowCounter } from './owned-rows.ts'
import type { WriterLink } from './writer-link.ts'

export function fileDeletions(
  db: Connection,
  { clock, link }: { readonly clock: SharedClock | undefined; readonly link: WriterLink },
  watching: Watchers,
): Unguarded<DeletionStore> {
  return {
    ...deletionReads(db, () => millisecondsOfTicks(readClock(clock))),
    async begin(request, actor) {
      const outcome = await link.call('beginDeletion', request, actor)
      if (outcome.kind === 'begun') watching.tell(undefined)
      return outcome
    },
    takeExport: (deletionId, nodeId) => link.call('takeExport', deletionId, nodeId),
    exported: (deletionId, file) => link.call('noteExported', deletionId, file),
    async step(deletionId, limit) {
      const outcome = await link.call('stepDeletion', deletionId, limit)
      if (outcome === 'removed') watching.tell(undefined)
      return outcome
    },
    async acknowledge(deletionId, nodeId) {
      const outcome = await link.call('acknowledgeDeletion', deletionId, nodeId)
      if (outcome === 'deleted') watching.tell(undefined)
      return outcome
    },
    take: (deletions) => link.call('takeDeletions', deletions),
  }
}

/** Exported because a test checks their query plans. */
export const deletionSelects = {
  open: `SELECT * FROM tenant_deletion INDEXED BY tenant_deletion_open WHERE state <> 'deleted' ORDER BY deletion`,
  list: 'SELECT * FROM tenant_deletion WHERE deletion > ? ORDER BY deletion LIMIT ?',
} as const

type DeletionReads = Pick<Unguarded<DeletionStore>, 'refusal' | 'count' | 'open' | 'find' | 'list'>

function deletionReads(db: Connection, nowMs: () => number): DeletionReads {
  const read = deletionReader(db)
  const selectOpen = db.prepare<[], DeletionRow>(deletionSelects.open)
  const selectNodes = db
    .prepare<[string], string>('SELECT node FROM tenant_deletion_node WHERE deletion = ?')
    .pluck()
  const selectList = db.prepare<[string, number], DeletionRow>(deletionSelects.list)
  const refusalOf = deletionRefusal(db)
  const feedsOf = deletedFeeds(db)
  const feedOf = feedReader(db)
  const keysOf = keyCounter(db)
  const count = rowCounter(db)
  return {
    refusal: (tenantId) => refusalOf(tenantId, nowMs()),
    count: db.transaction((tenant: string) => {
      const feeds = feedsOf(tenant)
      if (feeds.length === 0) return { kind: 'unknownTenant' } as const
      const ofFeeds = feedNames.flatMap((feed) => {
        const feedNo = feedOf({ tenantId: tenant, feed })?.feedNo
        return feedNo === undefined ? [] : [count({ tenant, feedNo }, ownedByFeed)]
      })
      const events = feeds.reduce((sum, feed) => sum + feed.events, 0)
      const rest = [{ events }, keysOf(tenant), count({ tenant, feedNo: 0 }, ownedByTenant)]
      return { kind: 'counted', feeds, counts: [...ofFeeds, ...rest].reduce(withCounts, noCounts) } as const
    }),
    open: db.transaction(() =>
      selectOpen.all().map((row) => ({ ...deletionOf(row), acknowledgedBy: selectNodes.all(row.deletion) })),
    ),
    find(deletionId) {
      const row = read(deletionId)
      return row && deletionOf(row)
    },
    list: (after, limit) => selectList.all(after ?? '', limit).map(deletionOf),
  }
}

/** The present feeds; none if there is no such tenant. */
export function deletedFeeds(db: Connection): (tenantId: string) => readonly DeletedFeed[] {
  const feedOf = feedReader(db)
  const headOf = headReader(db)
  return (tenantId) =>
    feedNames.flatMap((feed) => {
      const row = feedOf({ tenantId, feed })
      if (row === undefined) return []
      const { epoch, sequenceNumber, revision, position, created } = headOf(row)
      return [{ feed, epoch, sequenceNumber, revision, events: position, lastCreated: created ?? null }]
    })
}

function keyCounter(db: Connection): (tenant: string) => { readonly keys: number; readonly grants: number } {
  const select = db.prepare<[string, string], { readonly alone: number; readonly shared: number }>(
    `SELECT count(*) - coalesce(sum(shared), 0) AS alone, coalesce(sum(shared), 0) AS shared FROM (
      SELECT EXISTS (SELECT 1 FROM key_grant o WHERE o.key_no = g.key_no AND o.tenant <> ?) AS shared
      FROM key_grant g WHERE g.tenant = ?
    )`,
  )
  return (tenant) => {
    const { alone = 0, shared = 0 } = select.get(tenant, tenant) ?? {}
    return { keys: alone, grants: shared }
  }
}

export function deletionRefusal(
  db: Connection,
): (tenantId: string, nowMs: number) => DeletionRefusal | undefined {
  const moves = db.prepare<[string], string | null>('SELECT move FROM feed WHERE tenant = ?').pluck()
  const isWorking = db
    .prepare<[number, string], number>(
      `SELECT suspended = 0 AND coalesce(reading_ends_ms > ?, 1) FROM tenant LEFT JOIN leaving_tenant USING (tenant)
        WHERE tenant.tenant = ?`,
    )
    .pluck()
  const holds = db.prepare<[string, number], { readonly holds: number; readonly until: number | null }>(
    `SELECT count(*) AS holds, max(until_ms) AS until FROM hold
      WHERE tenant = ? AND ended_ms IS NULL AND until_ms > ?`,
  )
  const isErasing = db
    .prepare<[string, string], number>(
      `SELECT EXISTS (SELECT 1 FROM erasure WHERE state = 'reducing'
          AND feed_no IN (SELECT feed_no FROM feed WHERE tenant = ?))
        OR EXISTS (SELECT 1 FROM restriction WHERE state IN ('hiding', 'lifting') AND tenant = ?)`,
    )
    .pluck()
  return (tenantId, nowMs) => {
    const states = moves.all(tenantId)
    if (states.length === 0) return { kind: 'unknownTenant' }
    if (states.includes('deleting')) return undefined
    if (states.some((move) => isBeingMoved(moveStateOf(move)))) return { kind: 'tenantMoving' }
    if (isWorking.get(nowMs, tenantId) === 1) return { kind: 'inUse' }
    const held = holds.get(tenantId, nowMs)
    if (held !== undefined && held.holds > 0) {
      return { kind: 'onHold', holds: held.holds, untilMs: held.until ?? nowMs }
    }
    return isErasing.get(tenantId, tenantId) === 1 ? { kind: 'erasing' } : undefined
  }
}
