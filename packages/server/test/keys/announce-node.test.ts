/** What a node says of itself, and what it learns from it: how many share the rates of keys. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { announceNode, loneNode } from '../../src/nodes/announce-node.ts'
import type { NodeAnnouncement, NodeStore } from '../../src/nodes/node.ts'

/** A store that answers as it is told, and time that passes as it is told. */
function announcing(isShared: boolean) {
  const said: NodeAnnouncement[] = []
  const retired: string[] = []
  const pauses: number[] = []
  const given: { count: number; away: boolean; go: () => void } = {
    count: 1,
    away: false,
    go: () => undefined,
  }
  const nodes: NodeStore = {
    isShared,
    async announce(node) {
      if (given.away) throw new Error('away')
      said.push(node)
      return given.count
    },
    retire: async (nodeId) => void retired.push(nodeId),
    live: async () => [],
    pepperId: async () => undefined,
    finishPepper: async () => ({ kind: 'finished' }),
  }
  const pause = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      pauses.push(ms)
      given.go = resolve
      signal.addEventListener('abort', () => resolve())
    })
  const beat = async (change: Partial<typeof given> = {}): Promise<void> => {
    Object.assign(given, change)
    given.go()
    for (let turn = 0; turn < 5; turn += 1) await nextTurn()
  }
  return { nodes, said, retired, pauses, given, pause, beat }
}

it('a node that joins counts at once, and one that has gone after it was missed twice (D10)', async () => {
  const { nodes, pauses, pause, beat, given } = announcing(true)
  const state = loneNode()
  given.count = 2
  const node = await announceNode(nodes, { peppers: [], state }, pause)
  assert.equal(state.nodes, 2)
  await beat({ count: 3 })
  assert.equal(state.nodes, 3)
  // After an outage of the store every node seems to be alone.
  await beat({ count: 1 })
  assert.equal(state.nodes, 3)
  await beat({ count: 3 })
  assert.equal(state.nodes, 3)
  await beat({ count: 2 })
  await beat()
  assert.equal(state.nodes, 2)
  await beat({ away: true })
  assert.equal(state.nodes, 2)
  assert.ok(
    pauses.every((ms) => ms <= 2_000),
    'within seconds',
  )
  await node.close()
})

it('a node that is alone announces itself seldom, says when it ignores a proxy, and that it goes (D10, D11)', async () => {
  const { nodes, pauses, pause, beat, said, retired } = announcing(false)
  const state = loneNode()
  const node = await announceNode(nodes, { peppers: [], state }, pause)
  assert.equal(state.nodes, 1)
  state.ignoresProxy = true
  await beat()
  assert.deepEqual(
    said.map(({ ignoresProxy }) => ignoresProxy),
    [false, true],
  )
  assert.ok(pauses.every((ms) => ms >= 10_000))
  await node.close()
  assert.deepEqual(retired, [said[0]?.nodeId])
})
