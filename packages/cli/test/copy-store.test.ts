/** A copy of a store that is in use: what comes in while it is made. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { StorageEngine } from '@property-events/server'
import { draft, feedKey, tenantA, tenantB, uuid } from '../../server/test/storage/support/drafts.ts'
import { list, publish } from '../../server/test/storage/support/read-back.ts'
import { sqliteStores } from '../../server/test/storage/support/stores.ts'
import { copyStore } from '../src/copy-store.ts'

const stores = sqliteStores()
after(() => stores.clean())

async function addTenant(store: StorageEngine, tenantId: string): Promise<void> {
  await store.keys.createTenant(
    { tenantId, name: 'An agency', createdMs: 1, suspended: false },
    {
      sameName: 'allowed',
    },
  )
  const grants = [{ tenantId, scopes: ['property:read'] }] as const
  await store.keys.insertKey({
    keyId: `key ${tenantId}`,
    secretHash: new Uint8Array(32),
    pepperId: 'any',
    label: '',
    operator: false,
    grants,
    createdMs: 1,
    expiresMs: undefined,
    revokedMs: undefined,
    lastUsedMs: undefined,
  })
}

async function addTenantWithEvent(store: StorageEngine, tenantId: string): Promise<void> {
  await addTenant(store, tenantId)
  await publish(store, [draft({ subject: tenantId })], { key: feedKey(tenantId) })
}

function copy(from: StorageEngine, to: StorageEngine) {
  return copyStore({ from, to, onProgress: () => undefined, signal: new AbortController().signal })
}

describe('a copy of a store that is in use', () => {
  it('takes in tenants that are made meanwhile, with their keys and what they had published at its moment (P9)', async () => {
    await using source = await stores.create()
    await using target = await stores.create()
    await addTenantWithEvent(source, tenantA)
    const lateTenant = uuid('made after the moment of the copy')
    const from: StorageEngine = {
      ...source,
      async exportRecords(position, take) {
        await addTenantWithEvent(source, tenantB)
        await source.exportRecords(position, async (records) => {
          if ((await source.keys.tenants()).length === 2) await addTenantWithEvent(source, lateTenant)
          await take(records)
        })
      },
    }
    const feeds = await copy(from, target)
    assert.deepEqual(
      feeds.flatMap(({ key, events }) => (key.feed === 'property' ? [[key.tenantId, events]] : [])),
      [
        [tenantA, 1],
        [tenantB, 1],
        [lateTenant, 0],
      ],
    )
    assert.deepEqual(await target.keys.tenants(), await source.keys.tenants())
    assert.deepEqual(await target.keys.keys(), await source.keys.keys())
    await copy(source, target)
    for (const tenantId of [tenantA, tenantB, lateTenant]) {
      const key = feedKey(tenantId)
      assert.deepEqual(await list(target, { key }), await list(source, { key }))
      assert.deepEqual(await target.events.head(key), await source.events.head(key))
    }
  })
})
