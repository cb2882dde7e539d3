import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { feedKey, tenantA } from '../support/drafts.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { leaseMs, leaseOf, recordOf, stored, withEndpoint } from '../support/webhooks.ts'

export function webhookCopiesContract(factory: StoreFactory): void {
  describe('webhooks in a copy of a store', () => {
    it('are paused with its first epoch, also one of a single feed: their receivers are real (PROTOCOL §16, D13)', async () => {
      await using store = await withTenants(await factory.create())
      const endpoint = await withEndpoint(store)
      const paused = await withEndpoint(store)
      const { endpointId } = endpoint
      const asked = { kind: 'paused', reason: 'asked', sinceMs: 1 } as const
      await store.webhooks.change(paused.endpointId, { state: asked }, 'cli:test')
      const sender = randomUUID()
      await leaseOf(store, endpointId, sender)
      for (const feeds of [undefined, [feedKey()]]) {
        await using copy = await factory.copy(store)
        await copy.startEpoch(1_000, 'cli:copy', feeds)
        const { state, secrets } = await stored(copy, endpointId)
        assert.ok(state.kind === 'paused' && state.reason === 'copied' && state.sinceMs > 1)
        assert.deepEqual(secrets, [endpoint.secret])
        assert.deepEqual((await stored(copy, paused.endpointId)).state, asked)
        assert.deepEqual(await copy.webhooks.renew(randomUUID(), leaseMs), {
          held: [],
          enabled: 0,
          senders: 0,
        })
        assert.deepEqual(await actionsIn(copy, endpointId), [
          'cli:test webhook.created',
          'cli:copy webhook.paused',
        ])
      }
      assert.deepEqual(await stored(store, endpointId), recordOf(endpoint))
      assert.equal((await store.webhooks.renew(sender, leaseMs)).held.length, 1)
    })

    it('continue there if that was asked for, without the node that sent before (PROTOCOL §16, D13)', async () => {
      await using store = await withTenants(await factory.create())
      const endpoint = await withEndpoint(store)
      await leaseOf(store, endpoint.endpointId)
      await using copy = await factory.copy(store)
      await copy.startEpoch(1_000, 'cli:copy', undefined, 'continue')
      const node = randomUUID()
      assert.deepEqual(await copy.webhooks.renew(node, leaseMs), { held: [], enabled: 1, senders: 1 })
      const [lease] = await copy.webhooks.claim(node, 10, leaseMs)
      assert.deepEqual(lease?.endpoint, recordOf(endpoint))
    })

    it('continue through a new epoch of the store itself, under their leases (PROTOCOL §16, D13)', async () => {
      await using store = await withTenants(await factory.create())
      const { endpointId } = await withEndpoint(store)
      const node = randomUUID()
      const { leaseNo } = await leaseOf(store, endpointId, node)
      await store.startEpoch(1_000, 'cli:test')
      assert.deepEqual((await store.webhooks.renew(node, leaseMs)).held, [{ endpointId, leaseNo }])
    })
  })
}

async function actionsIn(store: StorageEngine, target: string): Promise<readonly string[]> {
  const rows = await store.audit.read({ first: 'oldest', limit: 100, target })
  assert.ok(rows !== 'unknownRow')
  return rows.map(({ actor, action, tenant }) => {
    assert.equal(tenant, tenantA)
    return `${actor} ${action}`
  })
}
