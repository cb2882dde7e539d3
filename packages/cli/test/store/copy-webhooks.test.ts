/** Webhooks go with a copy of a store, and with a tenant that moves: paused and without secrets, because their receivers are real (PROTOCOL §16). */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { copyStore, moveTenant } from '@property-events/server'
import type { KeyRecord, StorageEngine } from '@property-events/server'
import { draft, feedKey, tenantA, tenantB } from '../../../server/test/store/support/drafts.ts'
import { publish } from '../../../server/test/store/support/read-back.ts'
import {
  eventNamed,
  givenUpOf,
  leaseOf,
  madeMs,
  progressOf,
  recordOf,
  secretNamed,
  stored,
  withEndpoint,
} from '../../../server/test/store/support/webhooks.ts'
import { postgresStores } from '../../../server/test/postgres/postgres-stores.ts'
import { sqliteStores, withTenants } from '../../../server/test/store/support/stores.ts'

const engines = { sqlite: sqliteStores('thisThread'), postgres: postgresStores() } as const
after(async () => {
  for (const stores of Object.values(engines)) await stores.clean()
})

const pairs = [
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
] as const

const waiting = { ...eventNamed('Tŷ Gwyn', 1), tries: 3, nextTryMs: madeMs }
const givenUp = eventNamed('Plas Coch', 2)
const acknowledged = { sequenceNumber: 3, atMs: madeMs }

function keyOf(tenantId: string): KeyRecord {
  return {
    keyId: `key ${tenantId}`,
    secretHash: new Uint8Array(32),
    pepperId: 'pepper',
    label: 'Gwefan – £ 🏡',
    operator: false,
    grants: [{ tenantId, scopes: ['property:read'] }],
    createdMs: madeMs,
    expiresMs: undefined,
    revokedMs: undefined,
    lastUsedMs: undefined,
    rate: undefined,
  }
}

/** Two agencies with an endpoint each, of which something waits. */
async function filled(store: StorageEngine): Promise<Readonly<Record<'own' | 'other', string>>> {
  await withTenants(store)
  const made = []
  for (const tenantId of [tenantA, tenantB]) {
    const key = keyOf(tenantId)
    await store.keys.insertKey(key, 'cli:test')
    await publish(
      store,
      ['Tŷ Gwyn', 'Plas Coch', 'Fferm'].map((name) => draft({ subject: name })),
      {
        key: feedKey(tenantId),
      },
    )
    const { endpointId } = await withEndpoint(store, { tenantId, keyId: key.keyId, after: 0 })
    const lease = await leaseOf(store, endpointId)
    await store.webhooks.save([
      progressOf(lease, { settled: 3, acknowledged, rows: { waiting: [waiting], givenUp: [givenUp] } }),
    ])
    made.push(endpointId)
  }
  const [own = '', other = ''] = made
  return { own, other }
}

const signal = new AbortController().signal
const copy = (from: StorageEngine, to: StorageEngine) =>
  copyStore({ from, to, actor: 'cli:copy', onProgress: () => undefined, signal })

async function move(from: StorageEngine, to: StorageEngine, tenantId: string, withoutKeys: boolean) {
  const tenant = (await from.tenants.tenants()).find((one) => one.tenantId === tenantId)
  assert.ok(tenant)
  const given = { actor: 'cli:move', peppers: undefined, onProgress: () => undefined, signal } as const
  await moveTenant({ from, to, tenant, withoutKeys, ...given })
}

async function provesTaken(from: StorageEngine, to: StorageEngine, endpointId: string): Promise<void> {
  const [source, taken] = [await stored(from, endpointId), await stored(to, endpointId)]
  assert.ok(taken.state.kind === 'paused' && taken.state.reason === 'copied')
  assert.deepEqual(taken, { ...source, state: taken.state, secrets: [] })
  assert.deepEqual(taken.progress.acknowledged, acknowledged)
  assert.deepEqual(await to.webhooks.waiting(endpointId, 9), [waiting])
  assert.deepEqual(await givenUpOf(to, endpointId), [givenUp])
}

describe('webhooks', () => {
  for (const [one, other] of pairs) {
    it(`go with a copy from ${one} to ${other}, again while nobody has enabled them there (PROTOCOL §16)`, async () => {
      await using source = await engines[one].create()
      await using target = await engines[other].create()
      const ids = await filled(source)
      await copy(source, target)
      for (const endpointId of Object.values(ids)) await provesTaken(source, target, endpointId)
      const gone = await withEndpoint(source, { keyId: `key ${tenantA}` })
      await source.webhooks.change(ids.own, { settings: { label: 'Gwefan newydd 🏡' } }, 'cli:test')
      await copy(source, target)
      await provesTaken(source, target, ids.own)
      const secret = { added: secretNamed('new'), presentEndMs: madeMs }
      await target.webhooks.change(ids.other, { state: { kind: 'enabled' }, secret }, 'cli:test')
      const enabled = await stored(target, ids.other)
      await source.webhooks.remove(gone.endpointId, 'cli:test')
      await copy(source, target)
      assert.equal(await target.webhooks.find(gone.endpointId), undefined)
      assert.deepEqual(await stored(target, ids.other), enabled)
    })

    it(`move with a tenant from ${one} to ${other}, if their keys do; an operator's pause stays one (PROTOCOL §16)`, async () => {
      await using source = await engines[one].create()
      await using target = await engines[other].create()
      const ids = await filled(source)
      const blocked = await withEndpoint(source, { keyId: `key ${tenantA}`, after: 0 })
      const state = { kind: 'paused', reason: 'operator', sinceMs: madeMs } as const
      await source.webhooks.change(blocked.endpointId, { state }, 'cli:test')
      await move(source, target, tenantA, false)
      await provesTaken(source, target, ids.own)
      const taken = await stored(target, blocked.endpointId)
      assert.ok(taken.state.kind === 'paused' && taken.state.reason === 'operator')
      assert.deepEqual(taken, { ...recordOf(blocked), state: taken.state, secrets: [] })
      await move(source, target, tenantB, true)
      assert.equal(await target.webhooks.find(ids.other), undefined)
      const rows = await target.audit.read({ first: 'oldest', limit: 9, target: ids.own, tenant: tenantA })
      assert.ok(rows !== 'unknownRow')
      assert.deepEqual(
        rows.filter(({ actor }) => actor === 'cli:move').map(({ action, detail }) => [action, detail]),
        [
          ['webhook.created', { feed: 'property', events: 'feed' }],
          ['webhook.paused', { reason: 'copied' }],
        ],
      )
    })
  }
})
