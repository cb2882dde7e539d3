import { millisecondsOfTicks } from '@property-events/protocol/plain'
import { pepperFinished } from '../../audit/changes.ts'
import type { Actor } from '../../audit/audit.ts'
import { readClock } from '../clock.ts'
import type { SharedClock } from '../clock.ts'
import { nodeSilenceMs } from '../node-store.ts'
import type { FinishOutcome, LiveNode, NodeAnnouncement } from '../node-store.ts'
import type { NoteChanges } from '../../sql/sqlite.ts'
import type { Connection } from './connection.ts'
import { metaOf } from './meta.ts'

export interface NodeReads {
  live(): readonly LiveNode[]
  pepperId(): string | undefined
}

interface NodeRow {
  readonly node: string
  readonly place: string
  readonly pepper_ids: string
  readonly ignores_proxy: number
  readonly console_url: string | null
  readonly seen_ms: number
}

export function nodeReads(db: Connection, clock: SharedClock | undefined): NodeReads {
  const select = db.prepare<[number], NodeRow>(
    'SELECT node, place, pepper_ids, ignores_proxy, console_url, seen_ms FROM node WHERE seen_ms > ? ORDER BY seen_ms',
  )
  const meta = metaOf(db)
  return {
    live() {
      const nowMs = millisecondsOfTicks(readClock(clock))
      return select.all(nowMs - nodeSilenceMs).map((row) => ({
        nodeId: row.node,
        place: row.place,
        pepperIds: row.pepper_ids.split(' '),
        ignoresProxy: row.ignores_proxy === 1,
        ...(row.console_url === null ? {} : { consoleUrl: row.console_url }),
        silentMs: Math.max(0, nowMs - row.seen_ms),
      }))
    },
    pepperId: () => meta.find('pepper_id'),
  }
}

export interface NodeWrites {
  /** The count is always 1: one process holds the file. */
  announceNode(node: NodeAnnouncement): number
  retireNode(nodeId: string): void
  finishPepper(pepperId: string, actor: Actor): FinishOutcome
}

export function nodeWrites(db: Connection, clock: SharedClock | undefined, note: NoteChanges): NodeWrites {
  const reads = nodeReads(db, clock)
  const put = db.prepare(
    `INSERT INTO node (node, place, pepper_ids, ignores_proxy, console_url, seen_ms) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET place = excluded.place, pepper_ids = excluded.pepper_ids,
        ignores_proxy = excluded.ignores_proxy, console_url = excluded.console_url, seen_ms = excluded.seen_ms`,
  )
  const remove = db.prepare('DELETE FROM node WHERE node = ?')
  const removeGone = db.prepare('DELETE FROM node WHERE seen_ms <= ?')
  const announce = db.transaction((announced: NodeAnnouncement) => {
    const { nodeId, place, pepperIds, ignoresProxy, consoleUrl = null } = announced
    const nowMs = millisecondsOfTicks(readClock(clock))
    removeGone.run(nowMs - nodeSilenceMs)
    put.run(nodeId, place, pepperIds.join(' '), ignoresProxy ? 1 : 0, consoleUrl, nowMs)
    return 1
  })
  const finish = db.transaction((pepperId: string, actor: Actor): FinishOutcome => {
    const nodes = reads.live().filter(({ pepperIds }) => !pepperIds.includes(pepperId))
    if (nodes.length > 0) return { kind: 'lacking', nodes }
    if (reads.pepperId() === pepperId) return { kind: 'finished' }
    metaOf(db).set('pepper_id', pepperId)
    note(pepperFinished(pepperId), actor)
    return { kind: 'finished' }
  })
  return {
    announceNode: (node) => announce.immediate(node),
    retireNode: (nodeId) => void remove.run(nodeId),
    finishPepper: (pepperId, actor) => finish.immediate(pepperId, actor),
  }
}
