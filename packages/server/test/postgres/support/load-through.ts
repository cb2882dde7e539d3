/** A load that goes on while something is done to the database or the way there, and what it found. */
import type { StorageEngine } from '../../../src/store/storage.ts'
import { tenantA } from '../../store/support/drafts.ts'
import { until } from '../../support/until.ts'
import { engineTarget } from './engine-target.ts'
import { loadFaults, publishLoad, readLoad } from './load.ts'
import type { LoadTarget } from './load.ts'
import { stubborn } from './stubborn.ts'
import type { Patience } from './stubborn.ts'

export interface Survived extends Patience {
  readonly publishes: number
  readonly faults: readonly string[]
}

/** Resolves when so many more publications have been acknowledged. */
type UntilMore = (publications: number) => Promise<void>

/** Two nodes with three publishers, a reader by number and one by time each; `trouble` decides how long. */
export async function loadThrough(
  nodes: readonly [StorageEngine, StorageEngine],
  trouble: (untilMore: UntilMore) => Promise<void>,
): Promise<Survived> {
  const patience: Patience = { failures: 0, longestMs: 0 }
  const key = { tenantId: tenantA, feed: 'property' } as const
  let acknowledged = 0
  const counting = (target: LoadTarget): LoadTarget => ({
    ...target,
    async publish(name, subject) {
      const number = await target.publish(name, subject)
      acknowledged += 1
      return number
    },
  })
  const [one, two] = nodes.map((node) => counting(stubborn(engineTarget(node, key), patience)))
  if (one === undefined || two === undefined) throw new Error('two nodes')
  const stop = new AbortController()
  let over = false
  const publishing = Promise.all([
    publishLoad(one, 'one', 3, () => over),
    publishLoad(two, 'two', 3, () => over),
  ])
  const reading = readLoad([one, two], 2, stop.signal)
  const untilMore = async (publications: number): Promise<void> => {
    const enough = acknowledged + publications
    await until(() => acknowledged >= enough, { what: `publication ${enough}`, timeoutMs: 60_000 })
  }
  try {
    await untilMore(30)
    await trouble(untilMore)
    await untilMore(30)
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
