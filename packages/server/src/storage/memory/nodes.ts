import { millisecondsOfTicks } from '@property-events/protocol'
import { pepperFinished } from '../audit-changes.ts'
import { readClock } from '../clock.ts'
import { nodeSilenceMs } from '../node-store.ts'
import type { LiveNode, NodeStore } from '../node-store.ts'
import { noteChanges } from './audit.ts'
import { openState } from './state.ts'
import type { MemoryStore } from './state.ts'

export function memoryNodes(store: MemoryStore): NodeStore {
  const nowMs = () => millisecondsOfTicks(readClock(store.clock))
  const live = (): readonly LiveNode[] => {
    openState(store)
    return [...store.nodes.values()]
      .map(({ seenMs, ...node }) => ({ ...node, silentMs: Math.max(0, nowMs() - seenMs) }))
      .filter(({ silentMs }) => silentMs < nodeSilenceMs)
  }
  return {
    isShared: false,
    async announce(node) {
      openState(store)
      store.nodes.set(node.nodeId, { ...node, seenMs: nowMs() })
      return 1
    },
    async retire(nodeId) {
      openState(store)
      store.nodes.delete(nodeId)
    },
    live: async () => live(),
    pepperId: async () => openState(store).pepperId,
    async finishPepper(pepperId, actor) {
      const nodes = live().filter(({ pepperIds }) => !pepperIds.includes(pepperId))
      if (nodes.length > 0) return { kind: 'lacking', nodes }
      if (openState(store).pepperId === pepperId) return { kind: 'finished' }
      openState(store).pepperId = pepperId
      noteChanges(store, pepperFinished(pepperId), actor)
      return { kind: 'finished' }
    },
  }
}
