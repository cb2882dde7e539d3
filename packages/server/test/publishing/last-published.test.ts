import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { lastPublished } from '../../src/publishing/last-published.ts'
import type { FeedCount } from '../../src/events/event-log.ts'

describe('tenants by their last publication', () => {
  it('are sorted by the later of their feeds, from counters that are read once in five seconds (PROTOCOL §12.2)', async () => {
    let reads = 0
    let nowMs = 0
    const count = (tenantId: string, feed: 'property' | 'contact', created?: bigint): FeedCount => {
      return { key: { tenantId, feed }, created, live: 0 }
    }
    const events = {
      async counts() {
        reads += 1
        if (reads === 2) throw new Error('the store is away')
        return [
          count('b', 'property', 5n),
          count('c', 'property'),
          count('a', 'contact', 7n),
          count('b', 'contact', 9n),
          count('a', 'property', 7n),
          count('d', 'property', 7n),
        ]
      },
    }
    const published = lastPublished(events, () => nowMs)
    const order = async () =>
      (await published.sorted()).map(({ tenantId, created }) => `${tenantId}${created}`)
    const [one, two] = await Promise.all([order(), order()])
    assert.deepEqual(one, ['b9', 'a7', 'd7', 'c0'])
    assert.deepEqual(two, one)
    nowMs = 4_999
    await order()
    assert.equal(reads, 1)
    nowMs = 5_000
    await assert.rejects(order(), /away/)
    assert.equal((await order()).length, 4)
    assert.equal(reads, 3)
  })
})
