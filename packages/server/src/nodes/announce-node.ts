/**
 * Announces that a node is alive for as long as it serves: the peppers it knows, for `pepper finish`, and what an operator should know
 * about it, for `doctor`. The answers tell the node how many nodes share the rates of keys (D10).
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { reported, unreported } from '../runtime/background-task.ts'
import type { TaskReport } from '../runtime/background-task.ts'
import { startWorker } from '../runtime/worker-loop.ts'
import type { Wait } from '../runtime/worker-loop.ts'
import { nodeSilenceMs } from './node.ts'
import type { NodeStore } from './node.ts'
import type { Pepper } from '../keys/pepper.ts'

/** What a node knows of itself and the others. */
export interface NodeState {
  /** How many nodes share the rates of keys, this one included (D10). At least 1. */
  nodes: number
  /** Clients with valid keys came through a proxy while the node trusts none. */
  ignoresProxy: boolean
}

/** A node that has heard of no other. */
export function loneNode(): NodeState {
  return { nodes: 1, ignoresProxy: false }
}

interface Announcing {
  /** Random, and different after each start. */
  readonly nodeId: string
  /** Announces at once the address of the node's console. */
  listens(consoleUrl: string): Promise<void>
  /** Announces that the node has gone, if the store can still be reached. */
  close(): Promise<void>
}

interface NodeFacts {
  readonly peppers: readonly Pepper[]
  /** Receives the number of nodes, and says what to announce. */
  readonly state: NodeState
  readonly report?: TaskReport
}

/**
 * The other nodes notice within 2 s that a node joins or leaves. They notice that one has died once it has been silent for
 * `shareSilenceMs`.
 */
const sharedBeatMs = 1_800
/** For a node that is alone. Nobody waits for its announcement, and each announcement is a write with a flush. */
const soleBeatMs = nodeSilenceMs / 4

/**
 * Resolves after the first announcement or its failure. If the store cannot be reached, the node announces itself when the store is back.
 */
export async function announceNode(
  nodes: NodeStore,
  { peppers, state, report = unreported }: NodeFacts,
  wait?: Wait,
): Promise<Announcing> {
  const node = {
    nodeId: randomUUID(),
    place: `${hostname()}, process ${process.pid}`,
    pepperIds: peppers.map(({ pepperId }) => pepperId),
  }
  let before = 1
  let consoleUrl: string | undefined
  const announce = async (): Promise<void> => {
    const { ignoresProxy } = state
    // While the store cannot be reached, the number stays as it was.
    const count = await nodes.announce({ ...node, ignoresProxy, ...(consoleUrl && { consoleUrl }) })
    // After an outage of the store, the first node that announces itself seems to be alone. A lower number therefore counts only when it
    // is seen twice.
    state.nodes = Math.max(1, count, before)
    before = count
  }
  await reported(report, 'announce_node', announce())
  const beatMs = nodes.isShared ? sharedBeatMs : soleBeatMs
  const options = { task: 'announce_node', report, retryMs: beatMs, firstAfterMs: beatMs, wait } as const
  const worker = startWorker(options, async () => {
    await announce()
    return { waitMs: beatMs }
  })
  return {
    nodeId: node.nodeId,
    async listens(url) {
      consoleUrl = url
      await reported(report, 'announce_node', announce())
    },
    async close() {
      await worker.close()
      await nodes.retire(node.nodeId).catch(() => undefined)
    },
  }
}
