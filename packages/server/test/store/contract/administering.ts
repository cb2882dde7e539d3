import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AuditRow } from '../../../src/audit/audit.ts'
import type { FreshKey, KeyRecord } from '../../../src/keys/key.ts'
import type { ImportedTenant } from '../../../src/tenants/tenant.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { draft, feedKey, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

const actor = 'cli:test'

function key(keyId: string, changes: Partial<KeyRecord> = {}): KeyRecord {
  return {
    keyId,
    secretHash: Uint8Array.from({ length: 32 }, (_, index) => index * 5),
    pepperId: 'pepper-1',
    label: 'Website',
    operator: false,
    grants: [{ tenantId: tenantA, scopes: ['property:read'] }],
    createdMs: 1_000,
    expiresMs: undefined,
    revokedMs: undefined,
    lastUsedMs: undefined,
    rate: undefined,
    ...changes,
  }
}

function operator(keyId: string): KeyRecord {
  return key(keyId, { operator: true, grants: [], adminScopes: ['admin:inspect', 'admin:audit'] })
}

function fresh(keyId: string, changes: Partial<FreshKey> = {}): FreshKey {
  const secretHash = Uint8Array.from({ length: 32 }, () => 9)
  return { keyId, secretHash, pepperId: 'pepper-2', createdMs: 5_000, oldEndsMs: 6_000, ...changes }
}

async function recordOf({ keys }: StorageEngine, keyId: string): Promise<KeyRecord | undefined> {
  const record = (await keys.findKey(keyId))?.record
  return record && { ...record, secretHash: new Uint8Array(record.secretHash) }
}

/** Since a number of rows. */
async function rowsAfter(store: StorageEngine, before: number): Promise<readonly AuditRow[]> {
  const rows = await store.audit.read({ first: 'oldest', limit: 1_000 })
  assert(rows !== 'unknownRow')
  return rows.slice(before)
}

async function actionsOf(store: StorageEngine, before: number): Promise<readonly unknown[]> {
  return (await rowsAfter(store, before)).map(({ action, tenant, target }) => [action, tenant, target])
}

function imported(name: string, keys: readonly KeyRecord[] = []): ImportedTenant {
  const tenant = { tenantId: uuid(name), name, createdMs: 7, suspended: false, reference: `ref-${name}` }
  return { tenant, keys }
}

export function administeringContract(factory: StoreFactory): void {
  describe('administration: keys', () => keysCases(factory))
  describe('administration: tenants', () => tenantsCases(factory))
  describe('administration: imports', () => importCases(factory))
}

function keysCases(factory: StoreFactory): void {
  it('returns an operator key with its scopes, and any key with its networks and the key it replaces (D11)', async () => {
    await using store = await withTenants(await factory.create())
    const limited = key('limited', {
      networks: ['192.0.2.0/24', '2001:db8::/32'],
      replaces: 'earlier',
      grants: [{ tenantId: tenantA, scopes: ['tenant:inspect', 'tenant:manage', 'contact:erase'] }],
    })
    for (const record of [operator('op'), limited]) {
      assert.equal(await store.keys.insertKey(record, actor), 'created')
      assert.deepEqual(await recordOf(store, record.keyId), record)
    }
  })

  it('lists keys by place, all of them or those of one tenant, each once (D11)', async () => {
    await using store = await withTenants(await factory.create())
    const ids = ['z', 'a', 'm', 'b', 'y']
    for (const id of ids) {
      const tenantId = ids.indexOf(id) % 2 === 0 ? tenantA : tenantB
      await store.keys.insertKey(key(id, { grants: [{ tenantId, scopes: ['contact:read'] }] }), actor)
    }
    await store.keys.insertKey(operator('op'), actor)
    const listed = async (limit: number, tenantId?: string): Promise<readonly string[]> => {
      const found: string[] = []
      for (let after = 0; ;) {
        const page = await store.keys.keysAfter({ after, limit, tenantId })
        assert(page.length <= limit)
        found.push(...page.map(({ record }) => record.keyId))
        const last = page.at(-1)
        if (last === undefined) return found
        after = last.place
      }
    }
    assert.deepEqual(await listed(2), [...ids, 'op'])
    assert.deepEqual(await listed(1, tenantA), ['z', 'm', 'y'])
    assert.deepEqual(await listed(9, tenantB), ['a', 'b'])
    assert.deepEqual(await listed(9, uuid('nobody')), [])
  })

  it('changes several members of a key at once, and records each that was different before (D11)', async () => {
    await using store = await withTenants(await factory.create())
    await store.keys.insertKey(key('k'), actor)
    const before = (await rowsAfter(store, 0)).length
    const version = await store.keys.keysVersion()
    const change = {
      label: 'Portal',
      expiresMs: 9_000,
      rate: { perSecond: 3, burst: 4 },
      networks: ['192.0.2.7/32'],
    }
    const outcome = await store.keys.changeKey('k', change, actor)
    assert(outcome.kind === 'changed')
    assert.deepEqual(await recordOf(store, 'k'), key('k', change))
    assert.notEqual(await store.keys.keysVersion(), version)
    const row = (action: string) => [action, tenantA, 'k']
    const rows = ['key.labelled', 'key.expiry_set', 'key.rate_set', 'key.networks_set'].map(row)
    assert.deepEqual(await actionsOf(store, before), rows)
    await store.keys.changeKey('k', change, actor)
    assert.equal((await rowsAfter(store, before)).length, 4)
    await store.keys.changeKey('k', { expiresMs: null, rate: null, networks: null }, actor)
    assert.deepEqual(await recordOf(store, 'k'), key('k', { label: 'Portal' }))
    assert.deepEqual(await store.keys.changeKey('nobody', change, actor), { kind: 'unknownKey' })
    await store.keys.revokeKey('k', 2_000, actor)
    assert.deepEqual(await store.keys.changeKey('k', change, actor), { kind: 'ended' })
  })

  it('rotates a key: the new one has all that the old one had, which ends (D11)', async () => {
    await using store = await withTenants(await factory.create())
    const rate = { perSecond: 3, burst: 4 }
    const grants = [tenantB, tenantA].map((tenantId) => ({ tenantId, scopes: ['contact:read'] as const }))
    const old = key('old', { rate, grants, networks: ['192.0.2.0/24'], lastUsedMs: 4_000 })
    await store.keys.insertKey(old, actor)
    const before = (await rowsAfter(store, 0)).length
    const outcome = await store.keys.rotateKey('old', fresh('new'), actor)
    assert(outcome.kind === 'rotated')
    const { oldEndsMs, ...own } = fresh('new')
    const expected = { ...old, ...own, lastUsedMs: undefined, replaces: 'old' }
    assert.deepEqual(await recordOf(store, 'new'), expected)
    assert.deepEqual(await recordOf(store, 'old'), { ...old, expiresMs: oldEndsMs })
    const rows = await rowsAfter(store, before)
    assert.deepEqual(
      rows.map(({ action, tenant, target }) => [action, tenant, target]),
      [
        ['key.rotated', tenantB, 'old'],
        ['key.rotated', tenantA, 'old'],
        ['key.created', tenantB, 'new'],
        ['key.created', tenantA, 'new'],
        ['key.rate_set', tenantB, 'new'],
        ['key.rate_set', tenantA, 'new'],
        ['key.networks_set', tenantB, 'new'],
        ['key.networks_set', tenantA, 'new'],
      ],
    )
    assert.deepEqual(rows[0]?.detail, { by: 'new', endsMs: oldEndsMs })
  })

  it('ends a rotated key no later than it would have ended, and gives the new one a life as long (D11)', async () => {
    await using store = await withTenants(await factory.create())
    await store.keys.insertKey(key('old', { expiresMs: 5_500 }), actor)
    assert.equal((await store.keys.rotateKey('old', fresh('new'), actor)).kind, 'rotated')
    assert.equal((await recordOf(store, 'old'))?.expiresMs, 5_500)
    assert.equal((await recordOf(store, 'new'))?.expiresMs, 5_000 + 4_500)
  })

  it('rotates no key that has ended, and uses no id twice; nothing is changed or recorded then (D11)', async () => {
    await using store = await withTenants(await factory.create())
    await store.keys.insertKey(key('expired', { expiresMs: 5_000 }), actor)
    await store.keys.insertKey(key('revoked', { revokedMs: 2_000 }), actor)
    await store.keys.insertKey(key('live'), actor)
    const before = (await rowsAfter(store, 0)).length
    assert.deepEqual(await store.keys.rotateKey('expired', fresh('n'), actor), { kind: 'ended' })
    assert.deepEqual(await store.keys.rotateKey('revoked', fresh('n'), actor), { kind: 'ended' })
    assert.deepEqual(await store.keys.rotateKey('nobody', fresh('n'), actor), { kind: 'unknownKey' })
    assert.deepEqual(await store.keys.rotateKey('live', fresh('revoked'), actor), { kind: 'exists' })
    assert.deepEqual(await recordOf(store, 'live'), key('live'))
    assert.equal(await recordOf(store, 'n'), undefined)
    assert.equal((await rowsAfter(store, before)).length, 0)
  })
}

function tenantsCases(factory: StoreFactory): void {
  it('finds a tenant by its id, and lists tenants by place (D11)', async () => {
    await using store = await withTenants(await factory.create())
    const third = { tenantId: uuid('c'), name: 'C', createdMs: 3, suspended: true, reference: '4711' }
    assert.equal(await store.tenants.createTenant(third, actor), 'created')
    assert.deepEqual(await store.tenants.findTenant(uuid('c')), third)
    assert.equal(await store.tenants.findTenant(uuid('nobody')), undefined)
    const [first, second] = await store.tenants.tenantsAfter(0, 2)
    assert.deepEqual([first?.tenant.tenantId, second?.tenant.tenantId], [tenantA, tenantB])
    const rest = await store.tenants.tenantsAfter(second?.place ?? 0, 2)
    assert.deepEqual(
      rest.map(({ tenant }) => tenant),
      [third],
    )
    assert.deepEqual(await store.tenants.tenantsAfter(rest[0]?.place ?? 0, 2), [])
  })

  it('keeps that receipts say nothing of duties by law, for the keys of the tenant and in the audit (PROTOCOL §12.2, D11)', async () => {
    await using store = await withTenants(await factory.create())
    const before = (await rowsAfter(store, 0)).length
    const version = await store.keys.keysVersion()
    const off = await store.tenants.changeTenant(tenantA, { duties: false }, actor)
    assert.equal(off.kind === 'changed' && off.tenant.withoutDuties, true)
    assert.equal((await store.tenants.findTenant(tenantA))?.withoutDuties, true)
    assert.notEqual(await store.keys.keysVersion(), version)
    // Another change leaves it as it is.
    await store.tenants.changeTenant(tenantA, { name: 'Tŷ & Co' }, actor)
    assert.equal((await store.tenants.findTenant(tenantA))?.withoutDuties, true)
    await store.tenants.changeTenant(tenantA, { duties: false }, actor)
    await store.tenants.changeTenant(tenantA, { duties: true }, actor)
    assert.equal((await store.tenants.findTenant(tenantA))?.withoutDuties, undefined)
    const rows = await rowsAfter(store, before)
    const set = rows.filter(({ action }) => action === 'tenant.duties_set')
    assert.deepEqual(
      set.map(({ detail }) => detail),
      [{ advised: false }, { advised: true }],
    )
  })

  it('changes name, reference and suspension at once, and records what changed without the words (D11)', async () => {
    await using store = await withTenants(await factory.create())
    const before = (await rowsAfter(store, 0)).length
    const change = { name: 'Hill & Sons', reference: 'crm-1', suspended: true }
    const outcome = await store.tenants.changeTenant(tenantA, change, actor)
    const tenant = { tenantId: tenantA, createdMs: 1_700_000_000_000, ...change }
    assert.deepEqual(outcome, { kind: 'changed', tenant })
    assert.deepEqual(await store.tenants.findTenant(tenantA), tenant)
    const rows = await rowsAfter(store, before)
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['tenant.renamed', 'tenant.referenced', 'tenant.suspended'],
    )
    assert(!JSON.stringify(rows).includes('Hill') && !JSON.stringify(rows).includes('crm-1'))
    await store.tenants.changeTenant(tenantA, change, actor)
    assert.equal((await rowsAfter(store, before)).length, 3)
    await store.tenants.changeTenant(tenantA, { reference: null }, actor)
    assert.equal((await store.tenants.findTenant(tenantA))?.reference, undefined)
    assert.deepEqual(await store.tenants.changeTenant(uuid('nobody'), change, actor), {
      kind: 'unknownTenant',
    })
  })

  it('gives a name and a reference to one tenant, however many ask at the same time (D11)', async () => {
    await using store = await withTenants(await factory.create())
    const names = [tenantA, tenantB].map((id) => store.tenants.changeTenant(id, { name: 'Hill' }, actor))
    const kinds = (await Promise.all(names)).map(({ kind }) => kind)
    assert.deepEqual(kinds.toSorted(), ['changed', 'nameTaken'])
    const references = [tenantA, tenantB].map((id) =>
      store.tenants.changeTenant(id, { reference: '1' }, actor),
    )
    const taken = (await Promise.all(references)).map(({ kind }) => kind)
    assert.deepEqual(taken.toSorted(), ['changed', 'referenceTaken'])
    const another = { tenantId: uuid('c'), name: 'C', createdMs: 3, suspended: false, reference: '1' }
    assert.equal(await store.tenants.createTenant(another, actor), 'referenceTaken')
    assert.equal(await store.tenants.findTenant(another.tenantId), undefined)
  })
}

function importCases(factory: StoreFactory): void {
  it('brings tenants and their keys in, once for each reference (D11)', async () => {
    await using store = await withTenants(await factory.create())
    const keyOf = (name: string) =>
      key(`k-${name}`, { grants: [{ tenantId: uuid(name), scopes: ['property:publish'] }] })
    const one = imported('One', [keyOf('One'), key('other', { grants: keyOf('One').grants })])
    const outcomes = await store.tenants.importTenants([one, imported('Two')], actor)
    assert.deepEqual(outcomes, [{ kind: 'created' }, { kind: 'created' }])
    assert.deepEqual(await store.tenants.findTenant(uuid('One')), one.tenant)
    assert.deepEqual(await recordOf(store, 'k-One'), keyOf('One'))
    const [line] = await publish(store, [draft({ subject: 'p' })], { key: feedKey(uuid('One')) })
    assert.equal(line?.stored?.sequenceNumber, 1)
    const before = (await rowsAfter(store, 0)).length
    const again = {
      ...imported('Other', [keyOf('Other')]),
      tenant: { ...one.tenant, tenantId: uuid('Other') },
    }
    const repeated = await store.tenants.importTenants([again, imported('Three')], actor)
    assert.deepEqual(repeated, [{ kind: 'known', tenant: one.tenant }, { kind: 'created' }])
    assert.equal(await recordOf(store, 'k-Other'), undefined)
    assert.deepEqual(await actionsOf(store, before), [['tenant.created', uuid('Three'), uuid('Three')]])
  })

  it('refuses a name that another tenant has, and lets the rest of the file pass (D11)', async () => {
    await using store = await withTenants(await factory.create())
    const twice = imported('Twice')
    const outcomes = await store.tenants.importTenants(
      [
        { ...imported('x'), tenant: { ...imported('x').tenant, name: 'Agency 1' } },
        twice,
        { ...imported('y'), tenant: { ...imported('y').tenant, name: 'Twice' } },
        { ...imported('z'), tenant: { ...imported('z').tenant, reference: twice.tenant.reference } },
      ],
      actor,
    )
    assert.deepEqual(outcomes, [
      { kind: 'nameTaken' },
      { kind: 'created' },
      { kind: 'nameTaken' },
      { kind: 'known', tenant: twice.tenant },
    ])
    assert.equal((await store.tenants.tenants()).length, 3)
  })

  it('imports the same file from two places at once, and makes each tenant once (D11)', async () => {
    await using store = await withTenants(await factory.create())
    const file = (run: string) =>
      Array.from({ length: 20 }, (_, n) => {
        const { tenant } = imported(`T${n}`)
        return { tenant: { ...tenant, tenantId: uuid(`${run} ${n}`) }, keys: [] }
      })
    const runs = await Promise.all(['a', 'b'].map((run) => store.tenants.importTenants(file(run), actor)))
    const kinds = runs.flat().map(({ kind }) => kind)
    assert.equal(kinds.filter((kind) => kind === 'created').length, 20)
    assert.equal(kinds.filter((kind) => kind === 'known').length, 20)
    assert.equal((await store.tenants.tenants()).length, 22)
  })
}
