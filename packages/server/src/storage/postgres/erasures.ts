/** The port's part for erasure, on a database. */
import { millisecondsOfTicks } from '@property-events/protocol'
import { storeCompacted } from '../../audit/changes.ts'
import { nodeSilenceMs } from '../node-store.ts'
import type { ErasureStore, FeedKey, Reduction } from '../storage.ts'
import { texts, uuids } from './array.ts'
import { beginErasure, countErased } from './begin-erasure.ts'
import type { Database, Row, Session, Statement } from './connection.ts'
import type { EngineParts } from './engine-parts.ts'
import { erasureOf, readErasure } from './erasure-row.ts'
import type { ErasureRow } from './erasure-row.ts'
import { feedNumbers } from '../../sql/database.ts'
import { reduceEvents } from './reduce-events.ts'
import { noteSent, readSentBefore } from './sent-before.ts'

/** The database's clock, unless the value gives another time, in milliseconds; for tests. */
function nowMsSql(value: number): string {
  return `coalesce($${value}::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)`
}

const selectOpen: Statement = {
  name: 'erasure-open',
  text: `SELECT e.*, array(SELECT n.node::text FROM erasure_node n WHERE n.erasure = e.erasure) AS nodes FROM erasure e
    WHERE e.state IN ('reducing', 'reduced') ORDER BY e.erasure`,
}
const selectOwn: Statement = {
  name: 'erasure-list',
  text: `SELECT * FROM erasure WHERE tenant = $1 AND erasure > coalesce($2, '00000000-0000-0000-0000-000000000000')::uuid
    ORDER BY tenant, erasure LIMIT $3`,
}
const insertNode: Statement = {
  name: 'erasure-node',
  text: `INSERT INTO erasure_node (erasure, node) SELECT erasure, $2 FROM erasure WHERE erasure = $1 AND state <> 'reducing'
    ON CONFLICT DO NOTHING`,
}
const setUnreachable: Statement = {
  name: 'erasure-unreachable',
  text: `UPDATE erasure e SET state = 'unreachable', unreachable_ms = ${nowMsSql(2)}
    WHERE e.erasure = $1 AND e.state = 'reduced' AND NOT EXISTS (
      SELECT FROM node n
      WHERE n.seen > to_timestamp(${nowMsSql(2)} / 1000.0) - interval '${nodeSilenceMs} milliseconds'
        AND NOT EXISTS (SELECT FROM erasure_node a WHERE a.erasure = e.erasure AND a.node = n.node)
    ) RETURNING *`,
}
const setOverwritten: Statement = {
  name: 'erasure-overwritten',
  text: `UPDATE erasure e SET state = 'overwritten', overwritten_ms = ${nowMsSql(2)}
    FROM unnest($1::uuid[]) AS given (erasure)
    WHERE e.erasure = given.erasure AND e.state = 'unreachable' RETURNING e.erasure`,
}
const selectWaiting: Statement = {
  name: 'erasure-waiting',
  text: `SELECT erasure, unreachable_ms FROM erasure WHERE state = 'unreachable' ORDER BY erasure`,
}
/** `$4` NULL: any branch, or none. */
const ofBranches = `($4::text[] IS NULL OR EXISTS (
      SELECT FROM event e WHERE e.tenant = $1 AND e.feed = $2 AND e.position = r.position AND e.branch = ANY ($4)
    ))`
const selectReduced: Statement = {
  name: 'erasure-reductions',
  text: `SELECT revision, sequence FROM reduced_event r WHERE tenant = $1 AND feed = $2 AND revision > $3 AND ${ofBranches}
    ORDER BY tenant, feed, revision, position LIMIT $5`,
}
const selectStep: Statement = {
  name: 'erasure-reduction',
  text: `SELECT revision, sequence FROM reduced_event r WHERE tenant = $1 AND feed = $2 AND revision = $3 AND ${ofBranches}
    ORDER BY tenant, feed, revision, position`,
}

interface WaitingRow extends Row {
  readonly erasure: string
  readonly unreachable_ms: string
}

interface ReducedRow extends Row {
  readonly revision: string
  readonly sequence: string
}

export function databaseErasures(parts: EngineParts, storeId: string): ErasureStore {
  const { database, given, note, remembered, watching, changes } = parts
  const nowMs = (): number | null => {
    const now = given()
    return now === undefined ? null : millisecondsOfTicks(now)
  }
  const changed = (key: FeedKey): void => {
    remembered.forget([key])
    changes.send([key])
    watching.tell(key)
  }
  return {
    async begin(request) {
      const outcome = await beginErasure(parts, request, nowMs())
      if (outcome.kind === 'changed') throw new Error('the erasure was not to depend on a position')
      if (outcome.kind === 'begun') changed(request.key)
      return outcome
    },
    async beginUnchanged(request, position) {
      const outcome = await beginErasure(parts, request, nowMs(), position)
      if (outcome.kind === 'begun') changed(request.key)
      const isUnknown = outcome.kind === 'unknownFeed' || outcome.kind === 'unknownTarget'
      return isUnknown ? { kind: 'changed' } : outcome
    },
    count: (key, target) => countErased((...asked) => database.read(...asked), key, target, nowMs()),
    async reduce(erasureId, limit) {
      const outcome = await reduceEvents(database, erasureId, limit, nowMs())
      if (outcome.kind !== 'reduced') return outcome
      const [row] = await database.read<ErasureRow & Row>(readErasure, [erasureId])
      if (row !== undefined) changed(erasureOf(row).key)
      return outcome
    },
    async open() {
      const rows = await database.read<ErasureRow & Row & { readonly nodes: readonly string[] }>(
        selectOpen,
        [],
      )
      return rows.map((row) => ({ ...erasureOf(row), acknowledgedBy: row.nodes }))
    },
    acknowledge: (erasureId, nodeId) =>
      database.transaction((session) => acknowledge(session, erasureId, nodeId, nowMs())),
    sentBefore: (erasureId) => readSentBefore(database, erasureId),
    async waiting() {
      const rows = await database.read<WaitingRow>(selectWaiting, [])
      return rows.map((row) => ({ erasureId: row.erasure, unreachableMs: Number(row.unreachable_ms) }))
    },
    markOverwritten: (erasureIds, actor) =>
      database.transaction(async (session) => {
        const { length } = await session.query(setOverwritten, [uuids(erasureIds), nowMs()])
        await note(session, storeCompacted(storeId, length), actor)
        return length
      }),
    async find(tenantId, erasureId) {
      const [row] = await database.read<ErasureRow & Row>(readErasure, [erasureId])
      return row?.tenant === tenantId ? erasureOf(row) : undefined
    },
    async list(tenantId, after, limit) {
      const rows = await database.read<ErasureRow & Row>(selectOwn, [tenantId, after ?? null, limit])
      return rows.map(erasureOf)
    },
    reductions: (...asked) => readReductions(database, ...asked),
  }
}

async function readReductions(
  database: Database,
  ...[key, afterRevision, limit, branches]: Parameters<ErasureStore['reductions']>
): ReturnType<ErasureStore['reductions']> {
  const feed = [key.tenantId, feedNumbers[key.feed]] as const
  // One more than requested shows whether the last step is complete.
  const within = branches === undefined ? null : texts(branches)
  const rows = await database.read<ReducedRow>(selectReduced, [...feed, afterRevision, within, limit + 1])
  const steps = stepsOf(rows)
  const whole = rows.length > limit ? steps.slice(0, -1) : steps
  const [first] = steps
  if (whole.length > 0 || first === undefined) return whole
  return stepsOf(await database.read<ReducedRow>(selectStep, [...feed, first.revision, within]))
}

/** In one transaction. */
async function acknowledge(
  session: Session,
  erasureId: string,
  nodeId: string | undefined,
  nowMs: number | null,
): Promise<'unreachable' | 'waiting'> {
  if (nodeId !== undefined) await session.query(insertNode, [erasureId, nodeId])
  const [ended] = await session.query<ErasureRow & Row>(setUnreachable, [erasureId, nowMs])
  if (ended !== undefined) await noteSent(session, ended)
  const [row] = await session.query<ErasureRow & Row>(readErasure, [erasureId])
  return row?.state === 'unreachable' || row?.state === 'overwritten' ? 'unreachable' : 'waiting'
}

function stepsOf(rows: readonly ReducedRow[]): readonly Reduction[] {
  return [...Map.groupBy(rows, ({ revision }) => revision)].map(([revision, step]) => ({
    revision: Number(revision),
    sequenceNumbers: step.map(({ sequence }) => Number(sequence)),
  }))
}
