/**
 * Announces, for as long as a node serves, that it lives: which peppers it knows, for `pepper finish`, and what an operator should know of
 * it, for `doctor`. Learns by that how many nodes share the rates of keys (D10).
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { reported, unreported } from '../background-task.ts'
import type { TaskReport } from '../background-task.ts'
import { nodeSilenceMs } from '../storage/node-store.ts'
import type { NodeStore } from '../storage/node-store.ts'
import type { NodeWords } from './node-words.ts'
import type { Pepper } from './pepper.ts'

export interface Announcing {
  /** Random, another one with each start. */
  readonly nodeId: string
  /** Announces now where the console of the node is. */
  listens(consoleUrl: string): Promise<void>
  /** Announces that the node has gone, if the store can still be reached. */
  close(): Promise<void>
}

export interface NodeFacts {
  readonly peppers: readonly Pepper[]
  /** Told how many nodes there are, and asked what to announce. */
  readonly words: NodeWords
  readonly report?: TaskReport
}

/** Resolves after so many milliseconds, or when the signal is aborted. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<void>

const pauseByTimer: Pause = (ms, signal) => wait(ms, undefined, { signal, ref: false }).catch(() => undefined)

/** A node that joins or leaves is noticed by the others within so long; one that dies, once it was silent for `shareSilenceMs`. */
const sharedBeatMs = 2_000
/** Where a node is alone, nobody waits for its word, and each is a write with a flush. */
const soleBeatMs = nodeSilenceMs / 4

/** Resolves after the first announcement or its failure: a store that is away is told when it is back. */
export async function announceNode(
  nodes: NodeStore,
  { peppers, words, report = unreported }: NodeFacts,
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
    const { ignoresProxy } = words
    const announced = nodes.announce({ ...node, ignoresProxy, ...(consoleUrl && { consoleUrl }) })
    // While the store is away, as many as there were.
    const count = (await reported(report, 'announce_node', announced)) ?? before
    // After an outage of the store each node seems to be alone to the first that announces itself: fewer counts when it is seen twice.
    words.nodes = Math.max(count, before)
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
