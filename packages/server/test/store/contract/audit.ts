import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AuditRow } from '../../../src/audit/audit.ts'
import type { KeyRecord } from '../../../src/keys/key.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { feedKey, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { testClock } from '../support/test-clock.ts'

const scopes = ['contact:read'] as const
const key: KeyRecord = {
  keyId: 'key',
  secretHash: new Uint8Array(32),
  pepperId: 'old',
  label: 'Website of Mr Hill',
  operator: false,
  grants: [tenantA, tenantB].map((tenantId) => ({ tenantId, scopes })),
  createdMs: 1,
  expiresMs: undefined,
  revokedMs: undefined,
  lastUsedMs: undefined,
  rate: undefined,
}

async function rowsOf(store: StorageEngine): Promise<readonly AuditRow[]> {
  const rows = await store.audit.read({ first: 'oldest', limit: 1_000 })
  assert(rows !== 'unknownRow')
  return rows
}

/** Without ids and times. */
function plain({ actor, action, tenant, target, detail }: AuditRow) {
  return [actor, action, tenant, target, detail]
}

export function auditContract(factory: StoreFactory): void {
  describe('audit', () => {
    it('records the rate that a key was given, for each of its tenants, and nothing for a rate it already has (D10)', async () => {
      await using store = await withTenants(await factory.create())
      const rate = { perSecond: 200, burst: 2_000 }
      await store.keys.insertKey({ ...key, rate }, 'cli:one')
      const before = (await rowsOf(store)).length
      await store.keys.changeKey('key', { rate: { ...rate } }, 'cli:one')
      await store.keys.changeKey('key', { rate: null }, 'cli:two')
      await store.keys.changeKey('key', { rate: null }, 'cli:two')
      await store.keys.changeKey('nobody', { rate: rate }, 'cli:two')
      const rows = (await rowsOf(store)).map(plain)
      assert.deepEqual(
        rows.filter(([, action]) => action === 'key.rate_set'),
        [
          ['cli:one', 'key.rate_set', tenantA, 'key', { rate }],
          ['cli:one', 'key.rate_set', tenantB, 'key', { rate }],
          ['cli:two', 'key.rate_set', tenantA, 'key', { rate: null }],
          ['cli:two', 'key.rate_set', tenantB, 'key', { rate: null }],
        ],
      )
      assert.equal(rows.length, before + 2)
    })

    it('records who made every change, when, and what it was, and never a name', async () => {
      const { clock } = testClock('2026-03-01')
      await using store = await withTenants(await factory.create({ clock }))
      const before = (await rowsOf(store)).length
      await store.keys.insertKey(key, 'cli:one')
      await store.keys.insertKey({ ...key, keyId: 'root', operator: true, grants: [] }, 'cli:one')
      await store.keys.grant('key', { tenantId: tenantA, scopes: ['property:read'] }, 'cli:two')
      await store.keys.changeKey('key', { expiresMs: 9_000 }, 'key:root')
      const hashed = { secretHash: new Uint8Array(32).fill(1), pepperId: 'new' }
      await store.nodes.finishPepper('new', 'cli:one')
      await store.keys.rehashKey('root', 'old', hashed, 'service')
      await store.keys.revokeKey('key', 7_000, 'cli:one')
      await store.tenants.changeTenant(tenantA, { suspended: true }, 'cli:one')
      await store.tenants.changeTenant(tenantA, { suspended: false }, 'cli:one')
      await store.moves.change(tenantB, 'open', 'arriving at-once', 'cli:one')
      await store.moves.change(tenantB, 'arriving at-once', 'open', 'cli:one')
      await store.startEpoch(5, 'cli:one', [feedKey(), feedKey(), feedKey(uuid('nobody'))])
      await store.startEpoch(6, 'cli:one')
      await store.importRecords([{ kind: 'whole', firstOffset: 6, needsEpoch: true }], 'cli:one')
      await store.acceptHistory('cli:one')
      await store.setMaintenance({ sinceMs: 4, retryAfterSeconds: 60 }, 'cli:one')
      await store.setMaintenance({ sinceMs: 4, retryAfterSeconds: 90 }, 'cli:one')
      await store.setMaintenance(undefined, 'cli:one')
      const rows = await rowsOf(store)
      const [suspended, move] = [{}, { from: 'open', to: 'arriving' }]
      const created = { operator: false, expiresMs: null, revoked: false, scopes }
      assert.deepEqual(rows.slice(before).map(plain), [
        ['cli:one', 'key.created', tenantA, 'key', created],
        ['cli:one', 'key.created', tenantB, 'key', created],
        ['cli:one', 'key.created', null, 'root', { ...created, operator: true, scopes: [] }],
        ['cli:two', 'key.granted', tenantA, 'key', { scopes: ['property:read'] }],
        // In the order of the grants; where another one takes a grant's place is up to the engine.
        ...rows.slice(before + 4, before + 6).map(plain),
        ['cli:one', 'pepper.finished', null, 'new', {}],
        ['service', 'key.rehashed', null, 'root', { pepperId: 'new' }],
        ...rows.slice(before + 8, before + 10).map(plain),
        ['cli:one', 'tenant.suspended', tenantA, tenantA, suspended],
        ['cli:one', 'tenant.resumed', tenantA, tenantA, {}],
        ['cli:one', 'tenant.moved', tenantB, tenantB, move],
        ['cli:one', 'tenant.moved', tenantB, tenantB, { from: 'arriving', to: 'open' }],
        ['cli:one', 'epoch.started', tenantA, tenantA, { continueAfter: 5, feed: 'property' }],
        ['cli:one', 'epoch.started', null, null, { continueAfter: 6, feed: null }],
        ['cli:one', 'store.filled', null, null, { firstOffset: 6, needsEpoch: true }],
        ['cli:one', 'history.accepted', null, null, {}],
        ['cli:one', 'maintenance.began', null, null, { retryAfterSeconds: 60 }],
        ['cli:one', 'maintenance.began', null, null, { retryAfterSeconds: 90 }],
        ['cli:one', 'maintenance.ended', null, null, {}],
      ])
      for (const [from, action, detail, actor] of [
        [4, 'key.expiry_set', { expiresMs: 9_000 }, 'key:root'],
        [8, 'key.revoked', {}, 'cli:one'],
      ] as const) {
        const both = rows.slice(before + from, before + from + 2)
        assert.deepEqual(both.map(({ tenant }) => String(tenant)).toSorted(), [tenantA, tenantB].toSorted())
        for (const row of both) assert.deepEqual([row.action, row.detail, row.actor], [action, detail, actor])
      }
      for (const { atMs, id } of rows) {
        assert.equal(atMs, Date.parse('2026-03-01T00:00:00Z'))
        assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
      }
      assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length)
      assert(!JSON.stringify(rows).includes('Hill'))
    })

    it('has no row for what changed nothing', async () => {
      await using store = await withTenants(await factory.create())
      await store.keys.insertKey(key, 'cli:one')
      await store.keys.revokeKey('key', 5, 'cli:one')
      await store.nodes.finishPepper('old', 'cli:one')
      await store.setMaintenance({ sinceMs: 4, retryAfterSeconds: 60 }, 'cli:one')
      const before = await rowsOf(store)
      await store.setMaintenance({ sinceMs: 4, retryAfterSeconds: 60 }, 'cli:one')
      const [tenant] = await store.tenants.tenants()
      assert(tenant !== undefined)
      await store.tenants.createTenant(tenant, 'cli:one')
      await store.tenants.createTenant({ ...tenant, tenantId: uuid('other') }, 'cli:one')
      await store.tenants.changeTenant(tenantA, { suspended: false }, 'cli:one')
      await store.tenants.changeTenant(uuid('nobody'), { suspended: true }, 'cli:one')
      await store.keys.insertKey(key, 'cli:one')
      await store.keys.insertKey(
        { ...key, keyId: 'k2', grants: [{ tenantId: uuid('nobody'), scopes }] },
        'cli:one',
      )
      await store.keys.grant('key', { tenantId: tenantA, scopes }, 'cli:one')
      await store.keys.grant('nobody', { tenantId: tenantA, scopes }, 'cli:one')
      await store.keys.revokeKey('key', 6, 'cli:one')
      await store.keys.revokeKey('nobody', 6, 'cli:one')
      await store.keys.changeKey('key', { expiresMs: null }, 'cli:one')
      await store.keys.changeKey('nobody', { expiresMs: 6 }, 'cli:one')
      const hashed = { secretHash: new Uint8Array(32), pepperId: 'new' }
      await store.keys.rehashKey('key', 'new', hashed, 'cli:one')
      await store.nodes.finishPepper('old', 'cli:one')
      await store.moves.change(tenantA, 'leaving', 'left', 'cli:one')
      await store.startEpoch(5, 'cli:one', [feedKey(uuid('nobody'))])
      await store.acceptHistory('cli:one')
      assert.deepEqual(await rowsOf(store), before)
    })

    it('is read in the order of commits and continued after any row, and newest first', async () => {
      await using store = await factory.create()
      const tenants = Array.from({ length: 25 }, (_, n) => uuid(`tenant ${n}`))
      await Promise.all(
        tenants.map((tenantId, n) =>
          store.tenants.createTenant(
            { tenantId, name: tenantId, createdMs: 0, suspended: false },
            `cli:${n}`,
          ),
        ),
      )
      const all = await rowsOf(store)
      assert.deepEqual(all.map(({ tenant }) => String(tenant)).toSorted(), tenants.toSorted())
      for (const first of ['oldest', 'newest'] as const) {
        const read: AuditRow[] = []
        for (let after: string | undefined; ; after = read.at(-1)?.id) {
          const rows = await store.audit.read({ first, after, limit: 4 })
          assert(rows !== 'unknownRow')
          read.push(...rows)
          if (rows.length < 4) break
        }
        assert.deepEqual(read, first === 'oldest' ? all : all.toReversed())
      }
      assert.equal(await store.audit.read({ first: 'oldest', after: uuid('gone'), limit: 1 }), 'unknownRow')
    })

    it('finds rows by tenant, action, target and time', async () => {
      const { clock, set } = testClock('2026-03-01')
      await using store = await withTenants(await factory.create({ clock }))
      set('2026-03-02')
      await store.keys.insertKey(key, 'cli:one')
      set('2026-03-03')
      await store.keys.revokeKey('key', 5, 'cli:one')
      const actions = async (query: Partial<Parameters<StorageEngine['audit']['read']>[0]>) => {
        const rows = await store.audit.read({ first: 'oldest', limit: 100, ...query })
        assert(rows !== 'unknownRow')
        return rows.map(({ action }) => action)
      }
      assert.deepEqual(await actions({ tenant: tenantB }), ['tenant.created', 'key.created', 'key.revoked'])
      assert.deepEqual(await actions({ action: 'key.revoked' }), ['key.revoked', 'key.revoked'])
      assert.deepEqual(await actions({ target: 'key', tenant: tenantA }), ['key.created', 'key.revoked'])
      const [second, third] = ['2026-03-02', '2026-03-03'].map((day) => Date.parse(day))
      assert.deepEqual(await actions({ tenant: tenantA, fromMs: second, toMs: third }), ['key.created'])
      assert.deepEqual(await actions({ fromMs: third, first: 'newest' }), ['key.revoked', 'key.revoked'])
      assert.deepEqual(await actions({ tenant: uuid('nobody') }), [])
    })

    it('is copied from another store once, and is part of a backup', async () => {
      await using store = await withTenants(await factory.create())
      await using other = await factory.create()
      const rows = await rowsOf(store)
      await other.audit.take(rows)
      await other.tenants.createTenant(
        { tenantId: tenantA, name: 'A', createdMs: 0, suspended: false },
        'cli:copy',
      )
      await other.audit.take(rows)
      assert.deepEqual((await rowsOf(other)).slice(0, -1), rows)
      assert.equal((await rowsOf(other)).at(-1)?.actor, 'cli:copy')
      await using backup = await factory.copy(other)
      assert.deepEqual(await rowsOf(backup), await rowsOf(other))
      await backup.tenants.changeTenant(tenantA, { suspended: true }, 'cli:after')
      assert.equal((await rowsOf(backup)).at(-1)?.action, 'tenant.suspended')
    })

    it('loses older rows by pruning alone, which it records', async () => {
      const { clock, set } = testClock('2020-01-01')
      await using store = await withTenants(await factory.create({ clock }))
      set('2026-01-01')
      await store.tenants.changeTenant(tenantA, { suspended: true }, 'cli:one')
      assert.equal(await store.audit.prune(Date.parse('2019-12-31'), 'cli:one'), 0)
      assert.equal((await rowsOf(store)).length, 3)
      const beforeMs = Date.parse('2021-01-01')
      assert.equal(await store.audit.prune(beforeMs, 'cli:one'), 2)
      assert.deepEqual((await rowsOf(store)).map(plain), [
        ['cli:one', 'tenant.suspended', tenantA, tenantA, {}],
        ['cli:one', 'audit.pruned', null, null, { beforeMs, rows: 2 }],
      ])
    })
  })
}
