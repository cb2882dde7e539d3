import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { tenantA, tenantB, uuid } from '../support/drafts.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

const actor = 'cli:test'

export function leavingContract(factory: StoreFactory): void {
  describe('tenants that leave', () => {
    it('are reported with their keys, once each change is stored, and no other tenant is (PROTOCOL §5.10, D11)', async () => {
      await using store = await withTenants(await factory.create())
      await store.keys.insertKey(keyOf([tenantA, tenantB]), actor)
      const leavingOfKey = async () => (await store.keys.findKey('abcdefghijkl'))?.leaving
      assert.deepEqual(await leavingOfKey(), [])
      const versions = [await store.keys.keysVersion()]
      const steps: readonly [() => Promise<unknown>, number | undefined][] = [
        [() => store.leaving.begin({ tenantId: tenantB, sinceMs: 10, readingEndsMs: 20 }, actor), 20],
        [() => store.leaving.begin({ tenantId: tenantB, sinceMs: 11, readingEndsMs: 30 }, actor), 30],
        [() => store.leaving.end(tenantB, actor), undefined],
      ]
      for (const [step, readingEndsMs] of steps) {
        assert.equal(await step(), 'done')
        const told = readingEndsMs === undefined ? [] : [{ tenantId: tenantB, readingEndsMs }]
        assert.deepEqual(await leavingOfKey(), told)
        versions.push(await store.keys.keysVersion())
      }
      assert.equal(new Set(versions).size, versions.length)
    })

    it('keep the time since when, and report once when nothing is published any more (PROTOCOL §5.10)', async () => {
      await using store = await withTenants(await factory.create())
      const request = { tenantId: tenantA, sinceMs: 1_000, readingEndsMs: 9_000 }
      await store.leaving.begin(request, actor)
      assert.deepEqual(await store.leaving.list(), [{ ...request, unpublishedMs: undefined }])
      await store.leaving.noteUnpublished({ tenantId: tenantA, sinceMs: 999 }, 1_500, 'service')
      await store.leaving.noteUnpublished({ tenantId: tenantB, sinceMs: 1_000 }, 1_500, 'service')
      assert.equal((await store.leaving.list())[0]?.unpublishedMs, undefined)
      await store.leaving.noteUnpublished(request, 2_000, 'service')
      await store.leaving.noteUnpublished(request, 3_000, 'service')
      await store.leaving.begin({ ...request, sinceMs: 5_000, readingEndsMs: 8_000 }, actor)
      assert.deepEqual(await store.leaving.list(), [
        { ...request, readingEndsMs: 8_000, unpublishedMs: 2_000 },
      ])
      // One that came back leaves anew.
      await store.leaving.end(tenantA, actor)
      await store.leaving.begin({ ...request, sinceMs: 6_000 }, actor)
      assert.deepEqual(await store.leaving.list(), [{ ...request, sinceMs: 6_000, unpublishedMs: undefined }])
    })

    it('leave in a backup too (PROTOCOL §5.10)', async () => {
      await using store = await withTenants(await factory.create())
      await store.leaving.begin({ tenantId: tenantA, sinceMs: 1_000, readingEndsMs: 9_000 }, actor)
      await store.leaving.begin({ tenantId: tenantB, sinceMs: 2_000, readingEndsMs: 8_000 }, actor)
      await store.leaving.noteUnpublished({ tenantId: tenantB, sinceMs: 2_000 }, 3_000, 'service')
      await using backup = await factory.copy(store)
      const byTenant = async (one: StorageEngine) =>
        new Map((await one.leaving.list()).map((leaving) => [leaving.tenantId, leaving]))
      assert.deepEqual(await byTenant(backup), await byTenant(store))
      assert.equal((await byTenant(backup)).size, 2)
    })

    it('leave a row of the audit for each change, and none if nothing changes (D11)', async () => {
      await using store = await withTenants(await factory.create())
      const before = (await actionsOf(store)).length
      const request = { tenantId: tenantA, sinceMs: 1_000, readingEndsMs: 9_000 }
      for (let twice = 0; twice < 2; twice += 1) await store.leaving.begin(request, actor)
      for (let twice = 0; twice < 2; twice += 1)
        await store.leaving.noteUnpublished(request, 2_000, 'service')
      for (let twice = 0; twice < 2; twice += 1) assert.equal(await store.leaving.end(tenantA, actor), 'done')
      assert.deepEqual((await actionsOf(store)).slice(before), [
        ['tenant.leaving', tenantA, { readingEndsMs: 9_000 }],
        ['tenant.unpublished', tenantA, {}],
        ['tenant.stays', tenantA, {}],
      ])
      const unknown = uuid('nobody')
      assert.equal(await store.leaving.begin({ ...request, tenantId: unknown }, actor), 'unknownTenant')
      assert.equal(await store.leaving.end(unknown, actor), 'unknownTenant')
      assert.deepEqual(await store.leaving.list(), [])
    })
  })
}

async function actionsOf(store: StorageEngine) {
  const rows = await store.audit.read({ first: 'oldest', limit: 100 })
  assert.ok(rows !== 'unknownRow')
  return rows.map(({ action, tenant, detail }) => [action, tenant, detail])
}

function keyOf(tenantIds: readonly string[]) {
  return {
    keyId: 'abcdefghijkl',
    secretHash: new Uint8Array(32),
    pepperId: 'p',
    label: '',
    operator: false,
    grants: tenantIds.map((tenantId) => ({ tenantId, scopes: ['property:read'] as const })),
    createdMs: 0,
    expiresMs: undefined,
    revokedMs: undefined,
    lastUsedMs: undefined,
    rate: undefined,
  }
}
