/** The port's part for deleting tenants, on a database. */
import { feedNames, millisecondsOfTicks } from '@property-events/protocol'
import { keysRemoved, tenantDeleted } from '../../audit/changes.ts'
import { nodeSilenceMs } from '../node-store.ts'
import type { DeletedExport, Deletion, DeletionStore, OwnedCounts } from '../storage.ts'
import { beginDeletion, deletionRefusal, readDeletedFeeds } from './begin-deletion.ts'
import type { Row, Session, Statement } from './connection.ts'
import { deletionOf, insertDeletion, lockDeletion, putDeletion, readDeletion } from './deletion-row.ts'
import type { DeletionRow } from './deletion-row.ts'
import type { EngineParts } from './engine-parts.ts'

/** Exported because a test checks their query plans. */
export const selectOpenDeletions: Statement = {
  name: 'deletion-open',
  text: `SELECT d.*, ARRAY(SELECT n.node::text FROM tenant_deletion_node n WHERE n.deletion = d.deletion) AS nodes
    FROM tenant_deletion d WHERE d.state <> 'deleted' ORDER BY d.deletion`,
}
export const selectDeletions: Statement = {
  name: 'deletion-list',
  text: `SELECT * FROM tenant_deletion WHERE deletion > coalesce($1, '00000000-0000-0000-0000-000000000000')::uuid
    ORDER BY deletion LIMIT $2`,
}
const countOwned: Statement = {
  name: 'deletion-count',
  text: `SELECT
      (SELECT count(*) FROM subject WHERE tenant = $1) AS subjects,
      (SELECT count(*) FROM erasure WHERE tenant = $1) AS erasures,
      (SELECT count(*) FROM hold WHERE tenant = $1) AS holds,
      (SELECT count(*) FROM restriction WHERE tenant = $1) AS restrictions,
      (SELECT count(*) FROM sent WHERE tenant = $1) AS sent,
      count(*) FILTER (WHERE NOT shared) AS keys, count(*) FILTER (WHERE shared) AS grants
    FROM (
      SELECT EXISTS (SELECT FROM key_grant o WHERE o.key_no = g.key_no AND o.tenant <> $1) AS shared
      FROM key_grant g WHERE g.tenant = $1
    ) AS given`,
}
const isLive = `EXISTS (SELECT FROM node n WHERE n.node = d.exporter AND n.node <> $2
    AND n.seen > coalesce(to_timestamp($3::float8 / 1000), clock_timestamp()) - interval '${nodeSilenceMs} milliseconds')`
const takeExport: Statement = {
  name: 'deletion-take-export',
  text: `UPDATE tenant_deletion d SET exporter = $2 WHERE d.deletion = $1 AND d.state = 'exporting' AND NOT ${isLive}
    RETURNING d.deletion`,
}
const step: Statement = { name: 'deletion-step', text: 'SELECT delete_owned($1, $2, $3) AS outcome' }
const removeKeys: Statement = {
  name: 'deletion-keys',
  text: 'SELECT key_id, stays FROM delete_owned_keys($1, $2)',
}
const countKeys: Statement = {
  name: 'deletion-count-keys',
  text: `SELECT count_deleted($1, 'keys', $2), count_deleted($1, 'grants', $3)`,
}
const insertNode: Statement = {
  name: 'deletion-node',
  text: 'INSERT INTO tenant_deletion_node (deletion, node) VALUES ($1, $2) ON CONFLICT DO NOTHING',
}
const findMissing: Statement = {
  name: 'deletion-missing',
  text: `SELECT FROM node n
    WHERE n.seen > coalesce(to_timestamp($2::float8 / 1000), clock_timestamp()) - interval '${nodeSilenceMs} milliseconds'
      AND NOT EXISTS (SELECT FROM tenant_deletion_node a WHERE a.deletion = $1 AND a.node = n.node) LIMIT 1`,
}
const removeOwner: Statement = { name: 'deletion-owner', text: 'SELECT delete_owner($1)' }

type CountRow = Row & Readonly<Record<Exclude<keyof OwnedCounts, 'events'>, string>>

export function databaseDeletions(parts: EngineParts): DeletionStore {
  const { database, given, note, remembered, watching, changes } = parts
  const givenMs = (): number | null => {
    const now = given()
    return now === undefined ? null : millisecondsOfTicks(now)
  }
  const changed = (tenantId: string): void => {
    const keys = feedNames.map((feed) => ({ tenantId, feed }))
    remembered.forget(keys)
    changes.send(keys)
    for (const key of keys) watching.tell(key)
  }
  const changedBy = async (deletionId: string): Promise<void> => {
    const [row] = await database.read<DeletionRow>(readDeletion, [deletionId])
    if (row !== undefined) changed(row.tenant)
  }
  return {
    async begin(request, actor) {
      const times = { nowMs: givenMs() ?? Date.now(), givenMs: givenMs() }
      const outcome = await database.transaction((session) =>
        beginDeletion(session, note, request, actor, times),
      )
      if (outcome.kind === 'begun') changed(request.tenantId)
      return outcome
    },
    refusal: (tenantId) => deletionRefusal((...asked) => database.read(...asked), tenantId, givenMs()),
    count: (tenantId) => countTenant(parts, tenantId),
    async takeExport(deletionId, nodeId) {
      const taken = await database.transaction((session) =>
        session.query(takeExport, [deletionId, nodeId, givenMs()]),
      )
      return taken.length > 0 ? 'taken' : 'busy'
    },
    exported: (deletionId, file) =>
      database.transaction((session) => noteExported(session, deletionId, file)),
    async step(deletionId, limit) {
      const outcome = await database.transaction((session) => stepDeletion(session, parts, deletionId, limit))
      if (outcome === 'removed') await changedBy(deletionId)
      return outcome
    },
    async acknowledge(deletionId, nodeId) {
      const outcome = await database.transaction((session) =>
        acknowledge(session, parts, { deletionId, nodeId, givenMs: givenMs() }),
      )
      if (outcome === 'deleted') await changedBy(deletionId)
      return outcome
    },
    async open() {
      const rows = await database.read<DeletionRow & { readonly nodes: readonly string[] }>(
        selectOpenDeletions,
        [],
      )
      return rows.map((row) => ({ ...deletionOf(row), acknowledgedBy: row.nodes }))
    },
    async find(deletionId) {
      const [row] = await database.read<DeletionRow>(readDeletion, [deletionId])
      return row && deletionOf(row)
    },
    list: async (after, limit) =>
      (await database.read<DeletionRow>(selectDeletions, [after ?? null, limit])).map(deletionOf),
    take: (deletions) =>
      database.transaction(async (session) => {
        for (const deletion of deletions) await insertDeletion(session, deletion)
      }),
  }
}

async function countTenant({ database }: EngineParts, tenantId: string): ReturnType<DeletionStore['count']> {
  const feeds = await readDeletedFeeds((...asked) => database.read(...asked), tenantId)
  const [row] = await database.read<CountRow>(countOwned, [tenantId])
  if (feeds.length === 0 || row === undefined) return { kind: 'unknownTenant' }
  const counts: OwnedCounts = {
    events: feeds.reduce((sum, feed) => sum + feed.events, 0),
    subjects: Number(row.subjects),
    keys: Number(row.keys),
    grants: Number(row.grants),
    erasures: Number(row.erasures),
    holds: Number(row.holds),
    restrictions: Number(row.restrictions),
    sent: Number(row.sent),
  }
  return { kind: 'counted', feeds, counts }
}

async function noteExported(
  session: Session,
  deletionId: string,
  exported: DeletedExport | undefined,
): Promise<'done' | 'known'> {
  const [row] = await session.query<DeletionRow>(lockDeletion, [deletionId])
  if (row?.state !== 'exporting') return 'known'
  await putDeletion(session, { ...deletionOf(row), state: 'deleting', exported })
  return 'done'
}

/** In one transaction. */
async function stepDeletion(
  session: Session,
  { note }: EngineParts,
  deletionId: string,
  limit: number,
): Promise<'removed' | 'finished' | 'busy'> {
  const [said] = await session.query<{ outcome: string }>(step, [deletionId, limit, false])
  if (said?.outcome === 'removed') return 'removed'
  if (said?.outcome !== 'finished') return 'busy'
  const [row] = await session.query<DeletionRow>(lockDeletion, [deletionId])
  if (row?.state !== 'deleting') return 'finished'
  if (await removeOwnedKeys(session, note, deletionOf(row), limit)) return 'removed'
  await putDeletion(session, { ...deletionOf(row), state: 'forgetting' })
  return 'finished'
}

/** False if none is left. */
async function removeOwnedKeys(
  session: Session,
  note: EngineParts['note'],
  { deletionId, tenantId, actor }: Deletion,
  limit: number,
): Promise<boolean> {
  const rows = await session.query<{ key_id: string; stays: boolean }>(removeKeys, [deletionId, limit])
  if (rows.length === 0) return false
  const stay = rows.filter(({ stays }) => stays).length
  await session.query(countKeys, [deletionId, rows.length - stay, stay])
  await note(session, keysRemoved(tenantId, new Map(rows.map((row) => [row.key_id, row.stays]))), actor)
  return true
}

/** More rows than a node can have added since the last step. */
const everything = 1_000_000_000

/** In one transaction. */
async function acknowledge(
  session: Session,
  { note }: EngineParts,
  asked: {
    readonly deletionId: string
    readonly nodeId: string | undefined
    readonly givenMs: number | null
  },
): Promise<'deleted' | 'waiting'> {
  const { deletionId, nodeId, givenMs } = asked
  const [row] = await session.query<DeletionRow>(lockDeletion, [deletionId])
  if (row === undefined || row.state === 'exporting' || row.state === 'deleting') return 'waiting'
  if (row.state === 'deleted') return 'deleted'
  if (nodeId !== undefined) await session.query(insertNode, [deletionId, nodeId])
  if ((await session.query(findMissing, [deletionId, givenMs])).length > 0) return 'waiting'
  // Rows that were added since, for example a node's note of what it sent.
  for (let outcome = 'removed'; outcome === 'removed';) {
    const [said] = await session.query<{ outcome: string }>(step, [deletionId, everything, true])
    outcome = said?.outcome ?? 'finished'
  }
  while (await removeOwnedKeys(session, note, deletionOf(row), everything));
  await session.query(removeOwner, [deletionId])
  const [last] = await session.query<DeletionRow>(readDeletion, [deletionId])
  if (last === undefined) throw new Error('the deletion is not there any more')
  const deletion: Deletion = {
    ...deletionOf(last),
    state: 'deleted',
    name: undefined,
    deletedMs: givenMs ?? Date.now(),
  }
  await putDeletion(session, deletion)
  await note(session, tenantDeleted(deletion), deletion.actor)
  return 'deleted'
}
