import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { draft, feedKey, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { headOf, list, located, numbers, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

export function numberingContract(factory: StoreFactory): void {
  describe('epochs', () => {
    it('begins numbers behind the start sequence in every feed (D13)', async () => {
      await using store = await withTenants(await factory.create({ startSequence: 123_456 }))
      for (const key of [feedKey(), feedKey(tenantB), feedKey(tenantA, 'contact')]) {
        assert.equal((await headOf(store, key)).sequenceNumber, 123_456)
        const [line] = await publish(store, [draft({ subject: 'p' })], { key })
        assert.equal(line?.stored?.sequenceNumber, 123_457)
        assert.equal((await headOf(store, key)).position, 1)
      }
    })

    it('carries every feed past the number given, under a new name (D13)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'a' }), draft({ subject: 'b' })])
      const before = await headOf(store)
      await store.startEpoch(1000, 'cli:test')
      const after = await headOf(store)
      assert.notEqual(after.epoch, before.epoch)
      assert.deepEqual({ ...after, epoch: '' }, { ...before, epoch: '' })
      await publish(store, [draft({ subject: 'c' })])
      await publish(store, [draft({ subject: 'c' })], { key: feedKey(tenantB) })
      assert.deepEqual(numbers(await list(store)), [1, 2, 1001])
      assert.deepEqual(numbers(await list(store, { key: feedKey(tenantB) })), [1001])
      // Positions stay dense: pages and counts do not see the gap.
      assert.equal((await located(store)).range.count, 3)
      assert.equal((await headOf(store)).position, 3)
    })

    it('carries every feed past every number the store holds (D13)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(
        store,
        Array.from({ length: 5 }, (_, n) => draft({ subject: `p${n}` })),
      )
      await publish(store, [draft({ subject: 'p' })], { key: feedKey(tenantB) })
      await store.startEpoch(2, 'cli:test')
      await publish(store, [draft({ subject: 'q' })], { key: feedKey(tenantB) })
      await publish(store, [draft({ subject: 'q' })])
      assert.deepEqual(numbers(await list(store, { key: feedKey(tenantB) })), [1, 6])
      assert.deepEqual(numbers(await list(store)), [1, 2, 3, 4, 5, 6])
    })

    it('numbers a tenant made later behind them too: it may have been there before (D13)', async () => {
      await using store = await withTenants(await factory.create())
      await store.startEpoch(700, 'cli:test')
      const tenantId = uuid('tenant C')
      await store.tenants.createTenant({ tenantId, name: 'C', createdMs: 1, suspended: false }, 'cli:test')
      const [line] = await publish(store, [draft({ subject: 'p' })], { key: feedKey(tenantId) })
      assert.equal(line?.stored?.sequenceNumber, 701)
    })

    it('names every epoch of every feed differently (D13)', async () => {
      await using store = await withTenants(await factory.create())
      const names = new Set<string>()
      for (let n = 0; n < 3; n += 1) {
        for (const key of [feedKey(), feedKey(tenantB), feedKey(tenantA, 'contact')]) {
          names.add((await headOf(store, key)).epoch)
        }
        await store.startEpoch(0, 'cli:test')
      }
      assert.equal(names.size, 9)
    })
  })
}
