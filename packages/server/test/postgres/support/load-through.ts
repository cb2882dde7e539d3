/** A load that goes on while something is done to the database or the way there, and what it found. */
import { setTimeout as delay } from 'node:timers/promises'
import type { StorageEngine } from '../../../src/storage/storage.ts'
import { tenantA } from '../../storage/support/drafts.ts'
import { engineTarget } from './engine-target.ts'
import { loadFaults, publishLoad, readLoad } from './load.ts'
import { stubborn } from './stubborn.ts'
import type { Patience } from './stubborn.ts'

export interface Survived extends Patience {
  readonly publishes: number
  readonly faults: readonly string[]
}

/** Two nodes with three publishers, a reader by number and one by time each; `trouble` decides how long. */
export async function loadThrough(
  nodes: readonly [StorageEngine, StorageEngine],
  trouble: () => Promise<void>,
): Promise<Survived> {
  const patience: Patience = { failures: 0, longestMs: 0 }
  const key = { tenantId: tenantA, feed: 'property' } as const
  const [one, two] = nodes.map((node) => stubborn(engineTarget(node, key), patience))
  if (one === undefined || two === undefined) throw new Error('two nodes')
  const stop = new AbortController()
  let over = false
  const publishing = Promise.all([
    publishLoad(one, 'one', 3, () => over),
    publishLoad(two, 'two', 3, () => over),
  ])
  const reading = readLoad([one, two], 2, stop.signal)
  try {
    await delay(300)
    await trouble()
    await delay(300)
  } catch (error) {
    stop.abort()
    throw error
  } finally {
    over = true
  }
  const log = (await publishing).flat()
  stop.abort()
  const readings = await reading
  return { ...patience, publishes: log.length, faults: loadFaults(log, readings, await one.all()) }
}
