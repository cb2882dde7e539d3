/** Does everything that happens to machines, in random order, while clients go on. */
import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster } from './cluster.ts'
import { nodeFaults } from './service-nodes.ts'
import type { NodeFault, ServiceNode, ServiceNodes } from './service-nodes.ts'
import { shuffled } from './shuffled.ts'

export type Fault = NodeFault | 'promotion'

export interface Mischief {
  readonly counts: Readonly<Record<Fault, number>>
  /** In order, to be read when something has gone wrong. */
  readonly story: readonly string[]
}

/** Clocks of the servers that take over: behind and ahead, so that time goes back by a minute where they alternate. */
const offsetsMs = [-30_000, 30_000] as const

/** How long a node is left alone with a fault; in the long run also longer than it waits for its database. */
const shortFaultMs = [300, 2_000] as const
const longFaultMs = [300, 13_000] as const

/** On a busy machine a single restart can take up the time. */
const faultsAtLeast = 6

/** Goes on for so long, round after round in which each kind of fault has its turn; longer where there were few yet. */
export async function mischief(
  cluster: Cluster,
  nodes: ServiceNodes,
  durationMs: number,
  limits: readonly [number, number] = durationMs > 60_000 ? longFaultMs : shortFaultMs,
): Promise<Mischief> {
  const counts = { kill: 0, drain: 0, pause: 0, cut: 0, freeze: 0, silence: 0, promotion: 0 }
  const story: string[] = []
  const begun = performance.now()
  const note = (fault: Fault, what: string): void => {
    counts[fault] += 1
    story.push(`${((performance.now() - begun) / 1000).toFixed(1)} s: ${what}`)
  }
  const suffer = async (node: ServiceNode, fault: NodeFault): Promise<void> => {
    // Mostly short: more faults fit into the time.
    const ms = randomInt(limits[0], randomInt(4) === 0 ? limits[1] : Math.min(2_000, limits[1]))
    note(fault, `${fault} of ${node.name} for ${ms} ms`)
    await node.suffer(fault, ms)
  }
  const takeOver = async (): Promise<void> => {
    const offsetMs = offsetsMs[randomInt(10) === 0 ? 1 : counts.promotion % 2] ?? 0
    // One that was there before has to live on, to say that nothing is missing. It may have other troubles.
    const [witness, ...others] = shuffled(nodes.all)
    if (witness === undefined) throw new Error('there are no nodes')
    note('promotion', `promotion with a clock ${offsetMs / 1000} s off, ${witness.name} lives on`)
    const promoted = (async () => {
      await cluster.promote({ clockOffsetMs: offsetMs, lead: nodes.leadTo })
      await cluster.untilVouchedFor()
    })()
    const troubles = shuffled(nodeFaults)
    const kind = shuffled<NodeFault>(['pause', 'cut', 'freeze'])[0]
    await Promise.all([
      promoted,
      ...others.slice(0, randomInt(3)).map((node, n) => suffer(node, troubles[n] ?? 'kill')),
      ...(kind !== undefined && randomInt(2) === 0 ? [suffer(witness, kind)] : []),
    ])
    await cluster.addStandby()
  }

  const isOver = (): boolean =>
    performance.now() - begun > durationMs && counts.promotion > 0 && story.length >= faultsAtLeast
  while (!isOver()) {
    // Twice what has most to do with processes. The promotion early, so that the short run comes to it.
    const others = shuffled<Fault>([...nodeFaults, ...nodeFaults.slice(0, 3)])
    const promoteAfter = randomInt(counts.promotion === 0 ? 3 : others.length)
    for (const fault of others.toSpliced(promoteAfter, 0, 'promotion')) {
      if (fault === 'promotion') await takeOver()
      else {
        const [node] = shuffled(nodes.all)
        if (node !== undefined) await suffer(node, fault)
      }
      await delay(randomInt(100, 700))
      if (isOver()) break
    }
  }
  return { counts, story }
}
