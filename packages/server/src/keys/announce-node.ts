/** Announces, for as long as a node serves, that it lives and which peppers it knows, for `pepper finish`. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { reported, unreported } from '../background-task.ts'
import type { TaskReport } from '../background-task.ts'
import { nodeSilenceMs } from '../storage/node-store.ts'
import type { NodeStore } from '../storage/node-store.ts'
import type { Pepper } from './pepper.ts'

export interface Announcing {
  /** Announces that the node has gone, if the store can still be reached. */
  close(): Promise<void>
}

/** Resolves after the first announcement or its failure: a store that is away is told when it is back. */
export async function announceNode(
  nodes: NodeStore,
  peppers: readonly Pepper[],
  report: TaskReport = unreported,
): Promise<Announcing> {
  const closing = new AbortController()
  const { signal } = closing
  const node = {
    nodeId: randomUUID(),
    place: `${hostname()}, process ${process.pid}`,
    pepperIds: peppers.map(({ pepperId }) => pepperId),
  }
  const say = () => reported(report, 'announce_node', nodes.announce(node))
  const run = async (): Promise<void> => {
    for (;;) {
      await delay(nodeSilenceMs / 4, undefined, { signal, ref: false }).catch(() => undefined)
      if (signal.aborted) return
      await say()
    }
  }
  await say()
  const running = run()
  return {
    async close() {
      closing.abort()
      await running
      await nodes.retire(node.nodeId).catch(() => undefined)
    },
  }
}
