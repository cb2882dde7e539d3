/** The nodes that serve a store, in a database. */
import { pepperFinished } from '../audit/changes.ts'
import { defineWrite, removal, statement } from '../sql/database.ts'
import type { Dialect, Sql, StoreAccess } from '../sql/database.ts'
import type { Actor } from '../audit/actor.ts'
import { nodeSilenceMs, shareSilenceMs } from './node.ts'
import type { FinishOutcome, LiveNode, NodeAnnouncement, NodeStore } from './node.ts'

const put = statement(
  'node-put',
  `INSERT INTO node (node, place, pepper_ids, seen_ms, ignores_proxy, console_url) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (node) DO UPDATE SET place = excluded.place, pepper_ids = excluded.pepper_ids, seen_ms = excluded.seen_ms,
      ignores_proxy = excluded.ignores_proxy, console_url = excluded.console_url`,
)
const removeSilent = statement('node-remove-silent', removal('node', 'node', 'seen_ms <= $1'))
const remove = statement('node-remove', 'DELETE FROM node WHERE node = $1')
const countSharing = statement<{ readonly sharing: number }>(
  'node-count-sharing',
  'SELECT count(*) AS sharing FROM node WHERE node = $1 OR seen_ms > $2',
)
const selectLive = statement<NodeRow>(
  'node-live',
  'SELECT * FROM node WHERE seen_ms > $1 ORDER BY seen_ms, node',
)
/** No node announces itself before the commit. In SQLite nobody else writes anyway. */
const lock = statement('node-lock', (dialect) =>
  dialect === 'sqlite' ? 'SELECT 1 AS locked' : 'LOCK TABLE node IN EXCLUSIVE MODE',
)

/** The pepper for new keys, or NULL, as a value in SQL. Each database says in a table of its own what it says of the whole store. */
export function currentPepper(dialect: Dialect): string {
  return dialect === 'sqlite'
    ? `(SELECT value FROM meta WHERE name = 'pepper_id')`
    : '(SELECT pepper_id FROM store)'
}
const pepper = statement<{ readonly pepper_id: string | null }>(
  'node-pepper',
  (dialect) => `SELECT ${currentPepper(dialect)} AS pepper_id`,
)
/** Returns a row if it was another one. */
const setPepper = statement('node-set-pepper', (dialect) =>
  dialect === 'sqlite'
    ? `INSERT INTO meta (name, value) VALUES ('pepper_id', $1)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value <> excluded.value RETURNING name`
    : 'UPDATE store SET pepper_id = $1 WHERE pepper_id IS DISTINCT FROM $1 RETURNING pepper_id',
)

/** Its own row first, and then those of others that nobody holds: so no two nodes wait for each other. */
const announce = defineWrite('node-announce', async (tx, node: NodeAnnouncement): Promise<number> => {
  const { nodeId, place, pepperIds, ignoresProxy, consoleUrl = null } = node
  const nowMs = await tx.nowMs()
  await tx.rows(put(nodeId, place, pepperIds.join(' '), nowMs, ignoresProxy, consoleUrl))
  await tx.rows(removeSilent(nowMs - nodeSilenceMs))
  const [row] = await tx.rows(countSharing(nodeId, nowMs - shareSilenceMs))
  return row?.sharing ?? 1
})

const retire = defineWrite('node-retire', async (tx, nodeId: string): Promise<void> => {
  await tx.rows(remove(nodeId))
})

const finishPepper = defineWrite(
  'node-finish-pepper',
  async (tx, pepperId: string, actor: Actor): Promise<FinishOutcome> => {
    await tx.rows(lock())
    const nodes = (await liveNodes(tx)).filter(({ pepperIds }) => !pepperIds.includes(pepperId))
    if (nodes.length > 0) return { kind: 'lacking', nodes }
    const changed = await tx.rows(setPepper(pepperId))
    if (changed.length > 0) await tx.note(pepperFinished(pepperId), actor)
    return { kind: 'finished' }
  },
)

export function nodeStore({ read, write }: StoreAccess, isShared: boolean): NodeStore {
  return {
    isShared,
    async announce(node) {
      const sharing = await write(announce, node)
      // Whoever else announced itself has lost the store to this one.
      return isShared ? sharing : 1
    },
    retire: (nodeId) => write(retire, nodeId),
    live: () => liveNodes(read),
    pepperId: async () => (await read.rows(pepper()))[0]?.pepper_id ?? undefined,
    finishPepper: (pepperId, actor) => write(finishPepper, pepperId, actor),
  }
}

interface NodeRow {
  readonly node: string
  readonly place: string
  readonly pepper_ids: string
  readonly seen_ms: number
  readonly ignores_proxy: boolean | number
  readonly console_url: string | null
}

async function liveNodes(sql: Sql): Promise<readonly LiveNode[]> {
  const nowMs = await sql.nowMs()
  const rows = await sql.rows(selectLive(nowMs - nodeSilenceMs))
  return rows.map((row) => ({
    nodeId: row.node,
    place: row.place,
    pepperIds: row.pepper_ids === '' ? [] : row.pepper_ids.split(' '),
    ignoresProxy: Boolean(row.ignores_proxy),
    ...(row.console_url === null ? {} : { consoleUrl: row.console_url }),
    silentMs: Math.max(0, nowMs - row.seen_ms),
  }))
}
