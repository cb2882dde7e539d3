import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { positionFinder } from '../../src/events/postgres/read/positions.ts'
import { sharedDatabases } from './test-databases.ts'
import { draft, feedKey, tenantB, uuid } from '../store/support/drafts.ts'
import { publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { until } from '../support/until.ts'
import { openStorage } from '../../src/store/open-storage.ts'
import { catalogues } from '@property-events/protocol'

type Read = Parameters<typeof positionFinder>[0]['read']

/** A database that answers when it is told to. The first 16 bytes behind a list's head of 20 are its first item's, of 20 each. */
function slowDatabase() {
  const asked: {
    readonly ids: number
    readonly answer: (rows: unknown) => void
    readonly fail: (error: Error) => void
  }[] = []
  const read: Read = (_statement, values) => {
    const { promise, resolve, reject } = Promise.withResolvers<never>()
    const list = values[2]
    assert.ok(list instanceof Uint8Array)
    const answer = (rows: unknown): void => resolve(rows as never)
    asked.push({ ids: (list.byteLength - 20) / 20, answer, fail: reject })
    return promise
  }
  return { asked, find: positionFinder({ read }) }
}

describe('looking up the positions of events', () => {
  it('makes one query for all ids of one turn, and one more for all that come meanwhile', async () => {
    const { asked, find } = slowDatabase()
    const first = ['a', 'b', 'c'].map((name) => find(feedKey(), uuid(name)))
    await nextTurn()
    const second = ['d', 'e'].map((name) => find(feedKey(tenantB), uuid(name)))
    await nextTurn()
    assert.deepEqual(
      asked.map(({ ids }) => ids),
      [3],
    )
    asked[0]?.answer([{ position: '7' }, { position: null }, { position: '1' }])
    assert.deepEqual(await Promise.all(first), [7, undefined, 1])
    assert.deepEqual(
      asked.map(({ ids }) => ids),
      [3, 2],
    )
    asked[1]?.answer([{ position: '2' }, { position: '3' }])
    assert.deepEqual(await Promise.all(second), [2, 3])
  })

  it('does not wait for a query that hangs, and a failed one fails for all that share it', async () => {
    const { asked, find } = slowDatabase()
    const hanging = find(feedKey(), uuid('a'))
    await nextTurn()
    const others = ['b', 'c'].map((name) => find(feedKey(), uuid(name)))
    await until(() => asked.length === 2, { what: 'a second question' })
    asked[1]?.fail(new Error('gone'))
    const outcomes = await Promise.allSettled(others)
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    asked[0]?.answer([{ position: '9' }])
    assert.equal(await hanging, 9)
  })

  it('fails only for the caller whose id is not a UUID', async () => {
    const { asked, find } = slowDatabase()
    const outcomes = Promise.allSettled(['a', 'b'].map((name) => find(feedKey(), uuid(name))))
    await assert.rejects(find(feedKey(), 'nonsense'), TypeError)
    await nextTurn()
    asked[0]?.answer([{ position: '1' }, { position: '2' }])
    const values = (await outcomes).map((outcome) => outcome.status === 'fulfilled' && outcome.value)
    assert.deepEqual(values, [1, 2])
  })

  it('gives each of many simultaneous callers their own answer (P10, P12)', async () => {
    const url = await (await sharedDatabases()).create()
    await using storage = await withTenants(
      await openStorage({ kind: 'postgres', url, create: true, catalogue: catalogues.default }),
    )
    const names = Array.from({ length: 700 }, (_, index) => `e ${index}`)
    const drafts = names.map((name) => draft({ subject: name, id: name }))
    await publish(storage, drafts)
    await publish(storage, drafts.slice(0, 5).toReversed(), { key: feedKey(tenantB) })
    const asked = [feedKey(), feedKey(tenantB), feedKey(undefined, 'contact')].flatMap((key, feed) =>
      [...names, 'nowhere'].map((name, index) => ({ key, feed, name, index })),
    )
    const positions = await Promise.all(
      asked.map(async ({ key, name }) => storage.events.positionOf(key, uuid(name))),
    )
    for (const [nth, { feed, index }] of asked.entries()) {
      const expected = [index < 700 ? index + 1 : undefined, index < 5 ? 5 - index : undefined, undefined][
        feed
      ]
      assert.equal(positions[nth], expected)
    }
  })
})
