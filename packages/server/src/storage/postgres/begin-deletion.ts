/** Begins to delete a tenant, and finds what prevents it. */
import { feedNames } from '@property-events/protocol'
import { deletionBegun } from '../../audit/changes.ts'
import { byFeed, firstDigest, noCounts } from '../deletion-record.ts'
import { isBeingMoved, moveStateOf } from '../move-store.ts'
import type {
  Actor,
  BeginDeletionOutcome,
  DeletedFeed,
  Deletion,
  DeletionRefusal,
  DeletionRequest,
} from '../storage.ts'
import type { NoteChanges } from '../../sql/postgres.ts'
import type { Row, Session, Statement, Value } from './connection.ts'
import { deletionOf, insertDeletion, putDeletion } from './deletion-row.ts'
import type { DeletionRow } from './deletion-row.ts'
import { feedNumbers } from '../../sql/database.ts'

/** Takes the counters as an append does: it waits for appends under way, and later ones find the tenant closed. */
const lockFeeds: Statement = {
  name: 'deletion-lock-feeds',
  text: 'SELECT move FROM feed WHERE tenant = $1 ORDER BY tenant, feed FOR NO KEY UPDATE',
}
const close: Statement = {
  name: 'deletion-close',
  text: `UPDATE feed SET move = 'deleting' WHERE tenant = $1`,
}
const selectOfTenant: Statement = {
  name: 'deletion-of-tenant',
  text: `SELECT * FROM tenant_deletion WHERE tenant = $1 AND state <> 'deleted' FOR NO KEY UPDATE`,
}
const selectFeeds: Statement = {
  name: 'deletion-feeds',
  text: `SELECT feed, epoch, coalesce(last_sequence, number_offset) AS sequence, revision, last_position, last_created
    FROM feed WHERE tenant = $1 ORDER BY tenant, feed`,
}
const selectName: Statement = { name: 'deletion-name', text: 'SELECT name FROM tenant WHERE tenant = $1' }
/** `$2`: now, in milliseconds; `null`: by the clock of the database. */
const selectObstacles: Statement = {
  name: 'deletion-obstacles',
  text: `WITH clock AS (SELECT coalesce($2::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now_ms)
    SELECT ARRAY(SELECT f.move FROM feed f WHERE f.tenant = $1) AS moves,
      EXISTS (SELECT FROM tenant t LEFT JOIN leaving_tenant l USING (tenant), clock
        WHERE t.tenant = $1 AND NOT t.suspended AND coalesce(l.reading_ends_ms > now_ms, true)) AS in_use,
      (SELECT count(*)::integer FROM hold h, clock
        WHERE h.tenant = $1 AND h.ended_ms IS NULL AND h.until_ms > now_ms) AS holds,
      (SELECT max(h.until_ms) FROM hold h, clock
        WHERE h.tenant = $1 AND h.ended_ms IS NULL AND h.until_ms > now_ms) AS held_until,
      EXISTS (SELECT FROM erasure e WHERE e.tenant = $1 AND e.state = 'reducing')
        OR EXISTS (SELECT FROM restriction r WHERE r.tenant = $1 AND r.state IN ('hiding', 'lifting')) AS erasing`,
}

interface Obstacles extends Row {
  readonly moves: readonly (string | null)[]
  readonly in_use: boolean
  readonly holds: number
  readonly held_until: string | null
  readonly erasing: boolean
}

interface FeedRow extends Row {
  readonly feed: number
  readonly epoch: string
  readonly sequence: string
  readonly revision: string
  readonly last_position: string
  readonly last_created: string | null
}

type Query = <R extends Row>(statement: Statement, values: readonly Value[]) => Promise<readonly R[]>

/** In one transaction. `nowMs`: by the clock of the caller, for the record; `givenMs`: replaces the database's, for tests. */
export async function beginDeletion(
  session: Session,
  note: NoteChanges,
  request: DeletionRequest,
  actor: Actor,
  { nowMs, givenMs }: { readonly nowMs: number; readonly givenMs: number | null },
): Promise<BeginDeletionOutcome> {
  const { tenantId, export: by } = request
  const feeds = await session.query<{ move: string | null }>(lockFeeds, [tenantId])
  if (feeds.length === 0) return { kind: 'unknownTenant' }
  const [row] = await session.query<DeletionRow>(selectOfTenant, [tenantId])
  const state = by === 'none' ? 'deleting' : 'exporting'
  if (row !== undefined) {
    const before = deletionOf(row)
    if (before.state !== 'exporting') return { kind: 'begun', isNew: false, deletion: before }
    const deletion: Deletion = { ...before, export: by, state }
    await putDeletion(session, deletion)
    return { kind: 'begun', isNew: false, deletion }
  }
  const query: Query = (statement, values) => session.query(statement, values)
  const refused = await deletionRefusal(query, tenantId, givenMs)
  if (refused !== undefined) return refused
  const [named] = await session.query<{ name: string }>(selectName, [tenantId])
  const deletion: Deletion = {
    ...request,
    state,
    name: named?.name,
    actor,
    exported: undefined,
    feeds: await readDeletedFeeds(query, tenantId),
    counts: noCounts,
    digests: byFeed(() => firstDigest),
    begunMs: nowMs,
    deletedMs: undefined,
  }
  await insertDeletion(session, deletion)
  await session.query(close, [tenantId])
  await note(session, deletionBegun(request), actor)
  return { kind: 'begun', isNew: true, deletion }
}

export async function deletionRefusal(
  query: Query,
  tenantId: string,
  givenMs: number | null,
): Promise<DeletionRefusal | undefined> {
  const [found] = await query<Obstacles>(selectObstacles, [tenantId, givenMs])
  if (found === undefined || found.moves.length === 0) return { kind: 'unknownTenant' }
  if (found.moves.includes('deleting')) return undefined
  if (found.moves.some((move) => isBeingMoved(moveStateOf(move)))) return { kind: 'tenantMoving' }
  if (found.in_use) return { kind: 'inUse' }
  if (found.holds > 0) return { kind: 'onHold', holds: found.holds, untilMs: Number(found.held_until) }
  return found.erasing ? { kind: 'erasing' } : undefined
}

/** The present feeds; none if there is no such tenant. */
export async function readDeletedFeeds(query: Query, tenantId: string): Promise<readonly DeletedFeed[]> {
  const rows = await query<FeedRow>(selectFeeds, [tenantId])
  return rows.flatMap((row) => {
    const feed = feedNames.find((name) => feedNumbers[name] === row.feed)
    if (feed === undefined) return []
    return [
      {
        feed,
        epoch: row.epoch,
        sequenceNumber: Number(row.sequence),
        revision: Number(row.revision),
        events: Number(row.last_position),
        lastCreated: row.last_created === null ? null : BigInt(row.last_created),
      },
    ]
  })
}
