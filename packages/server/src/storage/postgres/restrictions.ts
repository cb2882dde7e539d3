/** The port's part for restricting contacts, on a database. */
import { millisecondsOfTicks } from '@property-events/protocol'
import { bytesPerReduction } from '../erasure-store.ts'
import { nodeSilenceMs } from '../node-store.ts'
import { erasedEventJson } from '../reduced-event.ts'
import type { FeedKey, ReduceOutcome, RestrictionStore } from '../storage.ts'
import { bigints, texts } from './array.ts'
import { beginRestriction, liftRestriction } from './begin-restriction.ts'
import type { Database, Row, Session, Statement } from './connection.ts'
import type { EngineParts } from './engine-parts.ts'
import { feedNumbers } from '../../sql/database.ts'
import { readRestriction, restrictionOf } from './restriction-row.ts'
import type { RestrictionRow } from './restriction-row.ts'

/** The database's clock, unless the value gives another time, in milliseconds; for tests. */
function nowMsSql(value: number): string {
  return `coalesce($${value}::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)`
}

const readNow: Statement = { name: 'restriction-now', text: `SELECT ${nowMsSql(1)} AS now` }
const selectOpen: Statement = {
  name: 'restriction-open',
  text: `SELECT r.*, array(SELECT n.node::text FROM erasure_node n WHERE n.erasure = r.restriction) AS nodes
    FROM restriction r WHERE r.state IN ('hiding', 'hidden', 'lifting') ORDER BY r.restriction`,
}
const selectOwn: Statement = {
  name: 'restriction-list',
  text: `SELECT * FROM restriction
    WHERE tenant = $1 AND restriction > coalesce($2, '00000000-0000-0000-0000-000000000000')::uuid
    ORDER BY tenant, restriction LIMIT $3`,
}
const selectKept: Statement = {
  name: 'restriction-kept',
  text: `SELECT sequence, json FROM kept_event WHERE tenant = $1 AND feed = $2 AND subject = $3 AND sequence > $4
    ORDER BY tenant, feed, subject, position LIMIT $5`,
}
/** Nodes are noted in the same place as those of erasures: both have ids of their own. */
const insertNode: Statement = {
  name: 'restriction-node',
  text: `INSERT INTO erasure_node (erasure, node) SELECT restriction, $2 FROM restriction
    WHERE restriction = $1 AND state <> 'hiding' ON CONFLICT DO NOTHING`,
}
const setRestricted: Statement = {
  name: 'restriction-restricted',
  text: `UPDATE restriction r SET state = 'restricted', restricted_ms = ${nowMsSql(2)}
    WHERE r.restriction = $1 AND r.state = 'hidden' AND NOT EXISTS (
      SELECT FROM node n
      WHERE n.seen > to_timestamp(${nowMsSql(2)} / 1000.0) - interval '${nodeSilenceMs} milliseconds'
        AND NOT EXISTS (SELECT FROM erasure_node a WHERE a.erasure = r.restriction AND a.node = n.node)
    )`,
}
const nextShown: Statement = {
  name: 'restriction-next-shown',
  text: `SELECT position, json, octet_length(json) AS bytes FROM event
    WHERE tenant = $1 AND feed = $2 AND subject = $3 AND sequence > 0 AND position >= $4 AND position <= $5
      AND state = 'full'
    ORDER BY tenant, feed, subject, position LIMIT $6`,
}
const nextKept: Statement = {
  name: 'restriction-next-kept',
  text: `SELECT position, '' AS json, octet_length(json) AS bytes FROM kept_event
    WHERE tenant = $1 AND feed = $2 AND subject = $3 AND position >= $4 AND position <= $5
    ORDER BY tenant, feed, subject, position LIMIT $6`,
}
const call: Statement = {
  name: 'restriction-step',
  text: 'SELECT step_restriction($1, $2, $3, $4, $5, $6::bigint[], $7::text[]) AS status',
}

export function databaseRestrictions(parts: EngineParts): RestrictionStore {
  const { database, given, remembered, watching, changes } = parts
  const givenMs = (): number | null => {
    const now = given()
    return now === undefined ? null : millisecondsOfTicks(now)
  }
  const nowIn = async (session: Session): Promise<number> => {
    const [row] = await session.query<{ now: string }>(readNow, [givenMs()])
    return Number(row?.now)
  }
  const changed = (key: FeedKey): void => {
    remembered.forget([key])
    changes.send([key])
    watching.tell(key)
  }
  return {
    async begin(request) {
      const outcome = await beginRestriction(parts, request, nowIn)
      if (outcome.kind === 'restricted') changed(request.key)
      return outcome
    },
    async lift(request) {
      const outcome = await liftRestriction(parts, request, nowIn)
      if (outcome.kind === 'lifting') changed(outcome.restriction.key)
      return outcome
    },
    async step(restrictionId, limit) {
      const [row] = await database.read<RestrictionRow & Row>(readRestriction, [restrictionId])
      if (row?.state !== 'hiding' && row?.state !== 'lifting') return { kind: 'finished' }
      const outcome = await step(database, row, limit)
      if (outcome.kind === 'reduced') changed(restrictionOf(row).key)
      return outcome
    },
    async open() {
      const rows = await database.read<RestrictionRow & Row & { readonly nodes: readonly string[] }>(
        selectOpen,
        [],
      )
      return rows.map((row) => ({ ...restrictionOf(row), acknowledgedBy: row.nodes }))
    },
    acknowledge: (restrictionId, nodeId) =>
      database.transaction(async (session) => {
        if (nodeId !== undefined) await session.query(insertNode, [restrictionId, nodeId])
        await session.query(setRestricted, [restrictionId, givenMs()])
        const [row] = await session.query<RestrictionRow & Row>(readRestriction, [restrictionId])
        return row === undefined || row.state === 'hiding' || row.state === 'hidden'
          ? 'waiting'
          : 'restricted'
      }),
    async find(tenantId, restrictionId) {
      const [row] = await database.read<RestrictionRow & Row>(readRestriction, [restrictionId])
      return row?.tenant === tenantId ? restrictionOf(row) : undefined
    },
    async list(tenantId, after, limit) {
      const rows = await database.read<RestrictionRow & Row>(selectOwn, [tenantId, after ?? null, limit])
      return rows.map(restrictionOf)
    },
    async kept({ key, subjectId, after, limit }) {
      const values = [key.tenantId, feedNumbers[key.feed], subjectId, after, limit]
      const rows = await database.read<{ sequence: string; json: string }>(selectKept, values)
      return rows.map(({ sequence, json }) => ({
        sequenceNumber: Number(sequence),
        json: Buffer.from(json),
      }))
    },
  }
}

interface NextRow extends Row {
  readonly position: string
  readonly json: string
  readonly bytes: number
}

async function step(database: Database, row: RestrictionRow, limit: number): Promise<ReduceOutcome> {
  const { key, restrictionId } = restrictionOf(row)
  const { state, subject, next_position: next, last_position: last } = row
  const place = [row.tenant, row.feed, subject, next, last, limit + 1]
  const found = await database.read<NextRow>(state === 'hiding' ? nextShown : nextKept, place)
  let bytes = 0
  const end = found.findIndex((one, index) => {
    bytes += one.bytes
    return index > 0 && (index >= limit || bytes > bytesPerReduction)
  })
  const isLast = end < 0
  const taken = isLast ? found : found.slice(0, end)
  const json = state === 'hiding' ? taken.map((one) => erasedEventJson(key.feed, subject, one.json)) : []
  const values = [
    restrictionId,
    state,
    next,
    isLast ? Number(last) + 1 : Number(taken.at(-1)?.position) + 1,
    isLast,
    bigints(taken.map(({ position }) => BigInt(position))),
    texts(json),
  ]
  return database.write(async (session) => {
    const [answer] = await session.query<{ status: string }>(call, values)
    return answer?.status === 'reduced' ? { kind: 'reduced', events: taken.length } : { kind: 'busy' }
  })
}
