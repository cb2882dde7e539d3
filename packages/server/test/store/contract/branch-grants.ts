import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Grant, KeyRecord } from '../../../src/keys/key.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { tenantA, tenantB } from '../support/drafts.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

const actor = 'cli:test'
const limited: Grant = {
  tenantId: tenantA,
  scopes: ['property:read', 'property:publish'],
  branches: ['Hill St, "upper"', 'Zürich 東', 'a'],
}
const whole: Grant = { tenantId: tenantB, scopes: ['property:read', 'contact:read'] }

function keyWith(keyId: string, grants: readonly Grant[]): KeyRecord {
  return {
    keyId,
    secretHash: new Uint8Array(32),
    pepperId: 'pepper-1',
    label: 'Website',
    operator: false,
    grants,
    createdMs: 1,
    expiresMs: undefined,
    revokedMs: undefined,
    lastUsedMs: undefined,
    rate: undefined,
  }
}

async function grantsOf({ keys }: StorageEngine, keyId: string): Promise<readonly Grant[] | undefined> {
  return (await keys.findKey(keyId))?.record.grants
}

export function branchGrantsContract(factory: StoreFactory): void {
  describe('grants by branch', () => {
    it('gives the branches of a grant back as they were stored, wherever keys are read (D11)', async () => {
      await using store = await withTenants(await factory.create())
      await store.keys.insertKey(keyWith('k', [limited, whole]), actor)
      assert.deepEqual(await grantsOf(store, 'k'), [limited, whole])
      assert.deepEqual((await store.keys.keys())[0]?.grants, [limited, whole])
      const [listed] = await store.keys.keysAfter({ after: 0, limit: 1, tenantId: tenantA })
      assert.deepEqual(listed?.record.grants, [limited, whole])
    })

    it('limits a grant, gives it other branches and lifts the limit, each a change of all keys and a row (D11)', async () => {
      await using store = await withTenants(await factory.create())
      const { tenantId, scopes } = limited
      await store.keys.insertKey(keyWith('k', [{ tenantId, scopes }]), actor)
      for (const grant of [limited, { ...limited, branches: ['b'] }, { tenantId, scopes }]) {
        const before = await store.keys.keysVersion()
        assert.equal(await store.keys.grant('k', grant, actor), 'done')
        assert.deepEqual(await grantsOf(store, 'k'), [grant])
        assert.notEqual(await store.keys.keysVersion(), before)
        // The same once more is no change: it has no row.
        assert.equal(await store.keys.grant('k', grant, actor), 'done')
      }
      const rows = await store.audit.read({ first: 'oldest', limit: 10, action: 'key.granted' })
      assert(rows !== 'unknownRow')
      const said = [{ scopes, branches: 3 }, { scopes, branches: 1 }, { scopes }]
      assert.deepEqual(
        rows.map(({ detail }) => detail),
        said,
      )
    })

    it('gives a key that is rotated the same branches, and one that is imported with its tenant its own (D11)', async () => {
      await using store = await withTenants(await factory.create())
      await store.keys.insertKey(keyWith('old', [limited]), actor)
      const hashed = { secretHash: new Uint8Array(32), pepperId: 'pepper-1' }
      const fresh = { keyId: 'new', ...hashed, createdMs: 5, oldEndsMs: 6 }
      assert.equal((await store.keys.rotateKey('old', fresh, actor)).kind, 'rotated')
      assert.deepEqual(await grantsOf(store, 'new'), [limited])
      const tenantId = '0f0f0f0f-0000-4000-8000-000000000009'
      const tenant = { tenantId, name: 'C', reference: 'c', createdMs: 7, suspended: false }
      const grant = { ...limited, tenantId }
      await store.tenants.importTenants([{ tenant, keys: [keyWith('with', [grant])] }], actor)
      assert.deepEqual(await grantsOf(store, 'with'), [grant])
    })
  })
}
