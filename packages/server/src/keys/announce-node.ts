/**
 * Announces that a node is alive for as long as it serves: the peppers it knows, for `pepper finish`, and what an operator should know
 * about it, for `doctor`. The answers tell the node how many nodes share the rates of keys (D10).
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { reported, unreported } from '../background-task.ts'
import type { TaskReport } from '../background-task.ts'
import { nodeSilenceMs } from '../storage/node-store.ts'
import type { NodeStore } from '../storage/node-store.ts'
import type { Pepper } from './pepper.ts'

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

export interface Announcing {
  /** Random, and different after each start. */
  readonly nodeId: string
  /** Announces at once the address of the node's console. */
  listens(consoleUrl: string): Promise<void>
  /** Announces that the node has gone, if the store can still be reached. */
  close(): Promise<void>
}

export interface NodeFacts {
  readonly peppers: readonly Pepper[]
  /** Receives the number of nodes, and says what to announce. */
  readonly state: NodeState
  readonly report?: TaskReport
}

/** Resolves after this many milliseconds, or when the signal is aborted. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<void>

const pauseByTimer: Pause = (ms, signal) => wait(ms, undefined, { signal, ref: false }).catch(() => undefined)

/**
 * The other nodes notice within this time that a node joins or leaves. They notice that one has died once it has been silent for
 * `shareSilenceMs`.
 */
const sharedBeatMs = 2_000
/** For a node that is alone. Nobody waits for its announcement, and each announcement is a write with a flush. */
const soleBeatMs = nodeSilenceMs / 4

/**
 * Resolves after the first announcement or its failure. If the store cannot be reached, the node announces itself when the store is back.
 */
export async function announceNode(
  nodes: NodeStore,
  { peppers, state, report = unreported }: NodeFacts,
  pause: Pause = pauseByTimer,
): Promise<Announcing> {
  const closing = new AbortController()
  const { signal } = closing
  const node = {
    nodeId: randomUUID(),
    place: `${hostname()}, process ${process.pid}`,
    pepperIds: peppers.map(({ pepperId }) => pepperId),
  }
  let before = 1
  let consoleUrl: string | undefined
  const say = async (): Promise<void> => {
    const { ignoresProxy } = state
    const announced = nodes.announce({ ...node, ignoresProxy, ...(consoleUrl && { consoleUrl }) })
    // While the store cannot be reached, the number stays as it was.
    const count = (await reported(report, 'announce_node', announced)) ?? before
    // After an outage of the store, the first node that announces itself seems to be alone. A lower number therefore counts only when it
    // is seen twice.
    state.nodes = Math.max(1, count, before)
    before = count
  }
  const run = async (): Promise<void> => {
    for (;;) {
      await pause(nodes.isShared ? sharedBeatMs : soleBeatMs, signal)
      if (signal.aborted) return
      await say()
    }
  }
  await say()
  const running = run()
  return {
    nodeId: node.nodeId,
    async listens(url) {
      consoleUrl = url
      await say()
    },
    async close() {
      closing.abort()
      await running
      await nodes.retire(node.nodeId).catch(() => undefined)
    },
  }
}
