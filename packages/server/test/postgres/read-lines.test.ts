/** The connections for reading are shared by tenants in turn: no tenant waits for all reads of another one. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { createReadLines } from '../../src/sql/postgres/read-lines.ts'
import { feedKey, tenantA, tenantB } from '../store/support/drafts.ts'
import { withTenants } from '../store/support/stores.ts'
import { postgresStores } from './postgres-stores.ts'

describe('a store with many reads of one tenant', () => {
  const stores = postgresStores()
  after(() => stores.clean())

  it('answers another tenant after a few of them (P5)', async () => {
    await using store = await stores.create()
    await withTenants(store)
    let ended = 0
    const reads = Array.from({ length: 200 }, async () => {
      await store.events.head(feedKey(tenantA))
      ended += 1
    })
    await store.events.head(feedKey(tenantB))
    // Of those that had all four connections, and of those that were answered in the same turn.
    const endedBefore = ended
    await Promise.all(reads)
    assert.ok(endedBefore <= 20, `${endedBefore} reads of the other tenant were answered before`)
  })
})

describe('lines of reads', () => {
  it('take turns, and keep their own order', async () => {
    const lines = createReadLines(1, 60_000)
    const order: string[] = []
    const read = (line: string, name: string) => lines.run(line, async () => void order.push(name))
    const all = [
      read('a', 'a1'),
      read('a', 'a2'),
      read('a', 'a3'),
      read('b', 'b1'),
      read('b', 'b2'),
      read('c', 'c1'),
    ]
    assert.equal(lines.waiting(), 5)
    await Promise.all(all)
    assert.deepEqual(order, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2'])
    assert.equal(lines.waiting(), 0)
  })

  it('run as many at once as there are connections, also after one has failed', async () => {
    const lines = createReadLines(2, 60_000)
    let [underWay, most] = [0, 0]
    const read = async (index: number): Promise<void> => {
      underWay += 1
      most = Math.max(most, underWay)
      await new Promise(setImmediate)
      underWay -= 1
      if (index % 3 === 0) throw new Error('no answer')
    }
    const all = Array.from({ length: 9 }, (_, index) => lines.run('a', () => read(index)))
    const outcomes = await Promise.allSettled(all)
    assert.equal(outcomes.filter(({ status }) => status === 'rejected').length, 3)
    assert.equal(most, 2)
  })

  it('refuse a read whose turn does not come in time, and say whether the store answers others', async () => {
    const lines = createReadLines(1, 20)
    const never = Promise.withResolvers<void>()
    const hung = lines.run('a', () => never.promise)
    await assert.rejects(
      lines.run('b', () => Promise.resolve()),
      { code: 'storage_unavailable' },
    )
    assert.equal(lines.waiting(), 0)
    // One of the line ends meanwhile, and the next one does not.
    const next = Promise.withResolvers<void>()
    const second = lines.run('a', () => next.promise)
    const third = lines.run('a', () => Promise.resolve())
    never.resolve()
    await hung
    await assert.rejects(third, { code: 'reads_waiting' })
    next.resolve()
    await second
    assert.equal(await lines.run('a', () => Promise.resolve(1)), 1)
  })
})
