/** Counts of keys on PostgreSQL: two nodes that add at once, and what a look at one key costs (PROTOCOL §14). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { countUsage } from '../../src/usage/usage-counter.ts'
import { openStorage } from '../../src/store/open-storage.ts'
import { sharedDatabases } from './test-databases.ts'

const keyCount = 10_000
const hour = 480_000

describe('usage on PostgreSQL', () => {
  it('is exact when two nodes add the counts of the same 10,000 keys at once (PROTOCOL §14)', async () => {
    const url = await (await sharedDatabases()).create()
    const open = () =>
      openStorage({ kind: 'postgres', url, readConnections: 1, create: true, catalogue: catalogues.default })
    await using first = await open()
    await using second = await open()
    const nodes = [first, second].map(({ usage }) => countUsage(usage, () => hour * 3_600_000))
    const rest = async (): Promise<void> => undefined
    for (const round of [1, 2, 3]) {
      for (const [at, node] of nodes.entries()) {
        // Each in an order of its own.
        for (let n = 0; n < keyCount; n += 1) {
          const number = at === 0 ? n : keyCount - 1 - n
          node.count(`key${number}`, 'listPropertyEvents', 200, round * (number + 1))
        }
      }
      await Promise.all(nodes.map((node) => node.flush(rest)))
    }
    for (const number of [0, 1, 4_999, 9_998, 9_999]) {
      const [count, ...others] = await first.usage.hours(`key${number}`, hour - 48, hour)
      assert.deepEqual(others, [])
      assert.deepEqual([count?.requests, count?.bytes], [6, 2 * (1 + 2 + 3) * (number + 1)])
    }
    // All of them, as days.
    const later = (hour + 60) * 3_600_000
    const aged = async (storage: typeof first): Promise<number> => {
      let rows = 0
      for (let step = await storage.usage.age(later); step > 0; step = await storage.usage.age(later))
        rows += step
      return rows
    }
    const [one, other] = await Promise.all([aged(first), aged(second)])
    assert.equal(one + other, keyCount)
    let requests = 0
    for (let n = 0; n < keyCount; n += 997) {
      const days = await second.usage.days(`key${n}`, hour / 24, hour / 24)
      requests += days.reduce((sum, day) => sum + day.requests, 0)
    }
    assert.equal(requests, 6 * Math.ceil(keyCount / 997))
  })
})
