import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KeyRecord } from '../../../src/keys/key.ts'
import { draft, feedKey, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

function record(keyId: string, changes: Partial<KeyRecord> = {}): KeyRecord {
  return {
    keyId,
    secretHash: Uint8Array.from({ length: 32 }, (_, index) => index * 7),
    pepperId: 'pepper-1',
    label: 'Website',
    operator: false,
    grants: [{ tenantId: tenantA, scopes: ['property:read', 'contact:publish'] }],
    createdMs: 1_700_000_000_123,
    expiresMs: undefined,
    revokedMs: undefined,
    lastUsedMs: undefined,
    rate: undefined,
    ...changes,
  }
}

/** Engines may give bytes as a Buffer, which is a Uint8Array. */
function plain(found: KeyRecord | undefined): KeyRecord | undefined {
  return found && { ...found, secretHash: new Uint8Array(found.secretHash) }
}

export function keysContract(factory: StoreFactory): void {
  describe('tenants and keys', () => {
    it('shows by one text whether any key may be found differently than before (D11)', async () => {
      await using store = await withTenants(await factory.create())
      const { keys } = store
      let last = await keys.keysVersion()
      const changes = async (what: string, change: () => Promise<unknown>) => {
        await change()
        const version = await keys.keysVersion()
        assert.notEqual(version, last, what)
        last = version
      }
      await changes('a new key', () => keys.insertKey(record('k'), 'cli:test'))
      await changes('another key', () => keys.insertKey(record('other'), 'cli:test'))
      await changes('a grant', () =>
        keys.grant('k', { tenantId: tenantB, scopes: ['property:read'] }, 'cli:test'),
      )
      await changes('an end', () => keys.changeKey('k', { expiresMs: 5_000 }, 'cli:test'))
      await changes('a rate', () => keys.changeKey('k', { rate: { perSecond: 5, burst: 6 } }, 'cli:test'))
      await changes('a suspended tenant', () =>
        store.tenants.changeTenant(tenantB, { suspended: true }, 'cli:test'),
      )
      const hashed = { secretHash: new Uint8Array(32), pepperId: 'pepper-2' }
      await changes('another hash', () => keys.rehashKey('k', 'pepper-1', hashed, 'service'))
      await changes('a revocation', () => keys.revokeKey('k', 2_000, 'cli:test'))
      await changes('the first pepper', () => store.nodes.finishPepper('pepper-2', 'cli:test'))
      await changes('another pepper', () => store.nodes.finishPepper('pepper-3', 'cli:test'))
      await keys.recordKeyUses([{ keyId: 'other', usedMs: 300 }])
      assert.equal(await keys.keysVersion(), last, 'a use')
    })

    it('lists tenants in order of creation, and accepts an id once (D11)', async () => {
      await using store = await factory.create()
      const tenants = ['z', 'a', 'm'].map((name, n) => {
        return { tenantId: uuid(name), name, createdMs: 5 - n, suspended: name === 'a' }
      })
      for (const tenant of tenants)
        assert.equal(await store.tenants.createTenant(tenant, 'cli:test'), 'created')
      const again = { tenantId: uuid('a'), name: 'other', createdMs: 9, suspended: false }
      assert.equal(await store.tenants.createTenant(again, 'cli:test'), 'exists')
      assert.deepEqual(await store.tenants.tenants(), tenants)
    })

    it('gives a name to one tenant, however many ask at the same time (D11)', async () => {
      await using store = await factory.create()
      const called = (name: string, n: number) =>
        ({ tenantId: uuid(`${name} ${n}`), name, createdMs: n, suspended: false }) as const
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, n) => store.tenants.createTenant(called('Hill & Co', n), 'cli:test')),
      )
      assert.deepEqual(outcomes.toSorted(), ['created', ...Array.from({ length: 7 }, () => 'nameTaken')])
      assert.equal(await store.tenants.createTenant(called('Hill & Sons', 1), 'cli:test'), 'created')
      const [first] = await store.tenants.tenants()
      assert(first !== undefined)
      assert.equal(await store.tenants.createTenant(first, 'cli:test'), 'exists')
      assert.equal((await store.tenants.tenants()).length, 2)
    })

    it('accepts several tenants of one name from a store that has them, and gives the name to no other (D11)', async () => {
      await using store = await factory.create()
      const [one, other, third] = ['one', 'other', 'third'].map((id, n) => {
        return { tenantId: uuid(id), name: 'Hill & Co', createdMs: n, suspended: false }
      })
      assert(one !== undefined && other !== undefined && third !== undefined)
      assert.equal(await store.tenants.createTenant(one, 'cli:test', { sameName: 'allowed' }), 'created')
      assert.equal(await store.tenants.createTenant(other, 'cli:test', { sameName: 'allowed' }), 'created')
      assert.equal(await store.tenants.createTenant(other, 'cli:test', { sameName: 'allowed' }), 'exists')
      assert.equal(await store.tenants.createTenant(third, 'cli:test'), 'nameTaken')
      assert.deepEqual(await store.tenants.tenants(), [one, other])
      const [line] = await publish(store, [draft({ subject: 'p' })], { key: feedKey(other.tenantId) })
      assert.equal(line?.stored?.sequenceNumber, 1)
    })

    it('suspends a tenant and readmits it; its keys show this (D7)', async () => {
      await using store = await withTenants(await factory.create())
      const grants = [tenantA, tenantB].map((tenantId) => {
        return { tenantId, scopes: ['property:read'] as const }
      })
      await store.keys.insertKey(record('k', { grants }), 'cli:test')
      await store.tenants.changeTenant(tenantB, { suspended: true }, 'cli:test')
      assert.deepEqual((await store.keys.findKey('k'))?.suspendedTenantIds, [tenantB])
      assert.equal((await store.tenants.tenants())[1]?.suspended, true)
      await store.tenants.changeTenant(tenantB, { suspended: false }, 'cli:test')
      assert.deepEqual((await store.keys.findKey('k'))?.suspendedTenantIds, [])
      const nobody = await store.tenants.changeTenant(uuid('nobody'), { suspended: true }, 'cli:test')
      assert.equal(nobody.kind, 'unknownTenant')
    })

    it('gives a key back as it was stored (D11)', async () => {
      await using store = await withTenants(await factory.create())
      const full = record('full', {
        label: 'Ops “desk”',
        grants: [
          { tenantId: tenantB, scopes: ['contact:read'] },
          { tenantId: tenantA, scopes: ['property:publish', 'property:read'] },
        ],
        expiresMs: 1_800_000_000_001,
        revokedMs: 1_750_000_000_002,
        lastUsedMs: 1_760_000_000_003,
        rate: { perSecond: 9_999_999, burst: 1 },
      })
      const operator = record('operator', { operator: true, grants: [] })
      const importer = record('importer', { reading: { eventTypes: 'published-0', current: true } })
      const finder = record('finder', {
        reading: { eventTypes: undefined, current: false, references: true },
      })
      const lister = record('lister', { reading: { eventTypes: undefined, current: true } })
      const all = [full, operator, importer, finder, lister, record('plain')]
      for (const key of all) {
        assert.equal(await store.keys.insertKey(key, 'cli:test'), 'created')
        assert.deepEqual(plain((await store.keys.findKey(key.keyId))?.record), key)
      }
      assert.deepEqual((await store.keys.keys()).map(plain), all)
      assert.equal(await store.keys.findKey('unknown'), undefined)
    })

    it('accepts a key id once, and grants only on tenants that exist (D11)', async () => {
      await using store = await withTenants(await factory.create())
      await store.keys.insertKey(record('k'), 'cli:test')
      assert.equal(await store.keys.insertKey(record('k', { label: 'other' }), 'cli:test'), 'exists')
      const grants = [{ tenantId: uuid('nobody'), scopes: ['property:read'] as const }]
      assert.equal(await store.keys.insertKey(record('l', { grants }), 'cli:test'), 'unknownTenant')
      assert.equal((await store.keys.keys()).length, 1)
      assert.equal((await store.keys.findKey('k'))?.record.label, 'Website')
    })

    it('gives a key scopes for a further tenant, and others for one it has (D11)', async () => {
      await using store = await withTenants(await factory.create())
      await store.keys.insertKey(
        record('k', { grants: [{ tenantId: tenantA, scopes: ['property:read'] }] }),
        'cli:test',
      )
      const given = { tenantId: tenantB, scopes: ['contact:read', 'contact:publish'] } as const
      assert.equal(await store.keys.grant('k', given, 'cli:test'), 'done')
      assert.equal(await store.keys.grant('k', { ...given, scopes: ['contact:read'] }, 'cli:test'), 'done')
      const grants = (await store.keys.findKey('k'))?.record.grants
      assert.deepEqual(
        grants?.map(({ tenantId, scopes }) => [tenantId, scopes]),
        [
          [tenantA, ['property:read']],
          [tenantB, ['contact:read']],
        ],
      )
      assert.equal(await store.keys.grant('nobody', given, 'cli:test'), 'unknownKey')
      assert.equal(
        await store.keys.grant('k', { ...given, tenantId: uuid('nobody') }, 'cli:test'),
        'unknownTenant',
      )
    })

    it('revokes for ever: the first revocation stays (D11)', async () => {
      await using store = await withTenants(await factory.create())
      await store.keys.insertKey(record('k'), 'cli:test')
      assert.equal(await store.keys.revokeKey('k', 2000, 'cli:test'), 'done')
      assert.equal(await store.keys.revokeKey('k', 1000, 'cli:test'), 'done')
      assert.equal((await store.keys.findKey('k'))?.record.revokedMs, 2000)
      assert.equal(await store.keys.revokeKey('unknown', 1, 'cli:test'), 'unknownKey')
    })

    it('sets and lifts an expiry (D11)', async () => {
      await using store = await withTenants(await factory.create())
      await store.keys.insertKey(record('k'), 'cli:test')
      await store.keys.changeKey('k', { expiresMs: 5000 }, 'cli:test')
      assert.equal((await store.keys.findKey('k'))?.record.expiresMs, 5000)
      await store.keys.changeKey('k', { expiresMs: null }, 'cli:test')
      assert.equal((await store.keys.findKey('k'))?.record.expiresMs, undefined)
      const unknown = await store.keys.changeKey('unknown', { expiresMs: 1 }, 'cli:test')
      assert.equal(unknown.kind, 'unknownKey')
    })

    it('gives a key its own rate, and removes it again (D10)', async () => {
      await using store = await withTenants(await factory.create())
      await store.keys.insertKey(record('k'), 'cli:test')
      const rate = async () => (await store.keys.findKey('k'))?.record.rate
      assert.equal(await rate(), undefined)
      await store.keys.changeKey('k', { rate: { perSecond: 200, burst: 2_000 } }, 'cli:test')
      assert.deepEqual(await rate(), { perSecond: 200, burst: 2_000 })
      await store.keys.changeKey('k', { rate: null }, 'cli:test')
      assert.equal(await rate(), undefined)
      const unknown = await store.keys.changeKey('unknown', { rate: null }, 'cli:test')
      assert.equal(unknown.kind, 'unknownKey')
    })

    it('keeps the latest use of a key, in whatever order uses arrive (D11)', async () => {
      await using store = await withTenants(await factory.create())
      await store.keys.insertKey(record('k'), 'cli:test')
      await store.keys.recordKeyUses([
        { keyId: 'k', usedMs: 300 },
        { keyId: 'unknown', usedMs: 400 },
      ])
      await store.keys.recordKeyUses([{ keyId: 'k', usedMs: 200 }])
      assert.equal((await store.keys.findKey('k'))?.record.lastUsedMs, 300)
    })
  })
}
