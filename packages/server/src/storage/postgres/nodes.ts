import { millisecondsOfTicks } from '@property-events/protocol'
import type { Ticks } from '@property-events/protocol'
import { pepperFinished } from '../../audit/changes.ts'
import { nodeSilenceMs, shareSilenceMs } from '../node-store.ts'
import type { LiveNode, NodeStore } from '../node-store.ts'
import { texts } from './array.ts'
import type { NoteChanges } from '../../sql/postgres.ts'
import type { Database, Session, Statement } from './connection.ts'

/** The database's clock, unless the value gives another time, in milliseconds; for tests. */
function nowSql(value: number): string {
  return `coalesce(to_timestamp($${value}::float8 / 1000), clock_timestamp())`
}

/**
 * The rows of nodes that ended without a word are removed with the next announcement of another. All parts see the table as it was
 * before, so this node is counted separately.
 */
const announce: Statement = {
  name: 'node-announce',
  text: `WITH gone AS (
      DELETE FROM node WHERE seen <= ${nowSql(5)} - interval '${nodeSilenceMs} milliseconds' AND node <> $1
    ), put AS (
      INSERT INTO node (node, place, pepper_ids, ignores_proxy, console_url, seen)
      VALUES ($1, $2, $3::text[], $4, $6, ${nowSql(5)})
      ON CONFLICT (node) DO UPDATE SET place = excluded.place, pepper_ids = excluded.pepper_ids,
        ignores_proxy = excluded.ignores_proxy, console_url = excluded.console_url, seen = excluded.seen
    )
    SELECT (1 + count(*))::integer AS count FROM node
    WHERE node <> $1 AND seen > ${nowSql(5)} - interval '${shareSilenceMs} milliseconds'`,
}
const remove: Statement = { name: 'node-retire', text: 'DELETE FROM node WHERE node = $1' }
const selectLive: Statement = {
  name: 'node-live',
  text: `SELECT node, place, pepper_ids, ignores_proxy, console_url, (extract(epoch FROM ${nowSql(1)} - seen) * 1000)::float8 AS silent_ms
    FROM node WHERE seen > ${nowSql(1)} - interval '${nodeSilenceMs} milliseconds' ORDER BY seen`,
}
const selectPepper: Statement = { name: 'node-pepper', text: 'SELECT pepper_id FROM store' }
/** No node announces itself meanwhile. */
const lock: Statement = { name: 'node-lock', text: 'LOCK TABLE node IN EXCLUSIVE MODE' }
const setPepper: Statement = {
  name: 'node-set-pepper',
  text: 'UPDATE store SET pepper_id = $1 WHERE pepper_id IS DISTINCT FROM $1 RETURNING pepper_id',
}

interface NodeRow {
  readonly node: string
  readonly place: string
  readonly pepper_ids: readonly string[]
  readonly ignores_proxy: boolean
  readonly console_url: string | null
  readonly silent_ms: number
}

/** `given`: replaces the database's clock, for tests. */
export function databaseNodes(
  database: Database,
  given: () => Ticks | undefined,
  note: NoteChanges,
): Omit<NodeStore, 'isShared'> {
  const now = (): number | null => {
    const ticks = given()
    return ticks === undefined ? null : millisecondsOfTicks(ticks)
  }
  return {
    announce: ({ nodeId, place, pepperIds, ignoresProxy, consoleUrl = null }) =>
      database.write(async (session) => {
        const values = [nodeId, place, texts(pepperIds), ignoresProxy, now(), consoleUrl]
        const [row] = await session.query<{ count: number }>(announce, values)
        return row?.count ?? 1
      }),
    retire: (nodeId) => database.write(async (session) => void (await session.query(remove, [nodeId]))),
    live: async () =>
      (await database.read<NodeRow & Record<string, unknown>>(selectLive, [now()])).map(nodeOf),
    async pepperId() {
      const [row] = await database.read<{ pepper_id: string | null }>(selectPepper, [])
      return row?.pepper_id ?? undefined
    },
    finishPepper: (pepperId, actor) =>
      database.transaction(async (session) => {
        await session.query(lock, [])
        const nodes = (await liveNodes(session, now())).filter(
          ({ pepperIds }) => !pepperIds.includes(pepperId),
        )
        if (nodes.length > 0) return { kind: 'lacking', nodes }
        const changed = await session.query(setPepper, [pepperId])
        if (changed.length > 0) await note(session, pepperFinished(pepperId), actor)
        return { kind: 'finished' }
      }),
  }
}

async function liveNodes(session: Session, now: number | null): Promise<readonly LiveNode[]> {
  return (await session.query<NodeRow & Record<string, unknown>>(selectLive, [now])).map(nodeOf)
}

function nodeOf({ node, place, pepper_ids, ignores_proxy, console_url, silent_ms }: NodeRow): LiveNode {
  return {
    nodeId: node,
    place,
    pepperIds: pepper_ids,
    ignoresProxy: ignores_proxy,
    ...(console_url === null ? {} : { consoleUrl: console_url }),
    silentMs: Math.max(0, Math.round(silent_ms)),
  }
}
