import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { StorageFailure } from '../../../src/sql/storage-errors.ts'
import { batch, draft, feedKey } from '../support/drafts.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

export function openingContract(factory: StoreFactory): void {
  describe('opening and closing', () => {
    it('records the catalogue and the start of numbers, and returns them (D12, D13)', async () => {
      const catalogue = catalogues['published-0']
      await using store = await factory.create({ catalogue, startSequence: 500 })
      const { storeId } = store.settings
      assert.deepEqual(store.settings, { storeId, catalogue, startSequence: 500 })
    })

    it('begins numbers after 0 by default (D13)', async () => {
      await using store = await factory.create()
      assert.equal(store.settings.startSequence, 0)
    })

    it('refuses to make a store without a catalogue (D12)', async () => {
      await assert.rejects(factory.create({ catalogue: undefined }), {
        name: 'StorageRefusal',
        code: 'not_a_store',
      })
    })

    it('answers a ping while open', async () => {
      await using store = await factory.create()
      await store.ping()
    })

    it('reports what keeps old versions alive, and nothing in a store without long reads', async () => {
      await using store = await withTenants(await factory.create())
      for (const { transactions, name } of await store.heldSnapshots()) {
        assert.ok(transactions < 50_000, `${name}: ${transactions}`)
      }
    })

    it('says that it is closed, by every verb, and may be closed twice', async () => {
      const store = await withTenants(await factory.create())
      await store.close()
      await store.close()
      const { events, keys, tenants } = store
      const key = feedKey()
      const range = { key, view: 'all' as const, first: 1, count: 1 }
      const verbs: readonly (() => Promise<unknown>)[] = [
        () => events.append([batch([draft({ subject: 'p' })])]),
        () => events.preview(batch([draft({ subject: 'p' })])),
        () => events.locate({ key, view: 'all' }),
        () => events.readRange(range),
        () => events.readEvent(key, key.tenantId),
        () => events.readAfter({ key, view: 'all', after: 0, limit: 1, latestOnly: false }),
        () => events.head(key),
        () => tenants.tenants(),
        () => keys.findKey('x'),
        () => keys.revokeKey('x', 1, 'cli:test'),
        () => keys.pepperIdsInUse(),
        () => store.nodes.live(),
        () => store.nodes.pepperId(),
        () => store.nodes.finishPepper('x', 'cli:test'),
        () => store.startEpoch(1, 'cli:test'),
        () => store.forgetSkippedIds(),
        () => store.epochNeed(),
        () => store.heldSnapshots(),
        () => store.waitingFeeds(),
        () => store.acceptHistory('cli:test'),
        () => store.audit.read({ first: 'oldest', limit: 1 }),
        () => store.audit.take([]),
        () => store.audit.prune(0, 'cli:test'),
        () => store.ping(),
      ]
      for (const verb of verbs) {
        await assert.rejects(verb(), (error) => {
          assert.ok(error instanceof StorageFailure, `${verb.toString()} gave ${String(error)}`)
          assert.equal(error.code, 'storage_closed')
          return true
        })
      }
    })

    it('finishes the work that has begun before it closes (P7)', async () => {
      const store = await withTenants(await factory.create())
      const appends = Array.from({ length: 20 }, (_, n) =>
        store.events.append([batch([draft({ subject: `p${n}` })])]),
      )
      await store.close()
      const outcomes = await Promise.all(appends)
      assert.deepEqual(
        outcomes.flat().map((outcome) => outcome.kind),
        Array.from({ length: 20 }, () => 'stored'),
      )
    })
  })
}
