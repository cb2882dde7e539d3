import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { batch, draft } from '../support/drafts.ts'
import { publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

export function maintenanceContract(factory: StoreFactory): void {
  describe('maintenance', () => {
    it('is off in a new store, and keeps its last setting, with its values (P12)', async () => {
      await using store = await factory.create()
      assert.equal(await store.maintenance(), undefined)
      for (const maintenance of [
        { sinceMs: 1_790_000_000_123, retryAfterSeconds: 30 },
        { sinceMs: 0, retryAfterSeconds: 1 },
        { sinceMs: 1_790_000_000_123, retryAfterSeconds: 3_600 },
      ]) {
        await store.setMaintenance(maintenance, 'cli:test')
        assert.deepEqual(await store.maintenance(), maintenance)
      }
      await store.setMaintenance(undefined, 'cli:test')
      assert.equal(await store.maintenance(), undefined)
      await store.setMaintenance(undefined, 'cli:test')
      assert.equal(await store.maintenance(), undefined, 'ending it twice')
    })

    it('does not change what the store itself accepts: nodes refuse publications (P12)', async () => {
      await using store = await withTenants(await factory.create())
      await store.setMaintenance({ sinceMs: 1, retryAfterSeconds: 30 }, 'cli:test')
      await publish(store, [draft({ subject: 'a' })])
      assert.equal((await store.events.preview(batch([draft({ subject: 'b' })]))).kind, 'stored')
      assert.equal(await store.epochNeed(), 'none')
    })
  })
}
