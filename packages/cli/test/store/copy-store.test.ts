/** A copy of a store that is in use: what comes in while it is made. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { StorageEngine } from '@property-events/server'
import { batch, draft, feedKey, tenantA, tenantB, uuid } from '../../../server/test/store/support/drafts.ts'
import { list, publish } from '../../../server/test/store/support/read-back.ts'
import { sqliteStores } from '../../../server/test/store/support/stores.ts'
import { copyStore } from '@property-events/server'

const stores = sqliteStores()
after(() => stores.clean())

async function addTenant(store: StorageEngine, tenantId: string): Promise<void> {
  await store.tenants.createTenant(
    { tenantId, name: 'An agency', createdMs: 1, suspended: false },
    'cli:test',
    {
      sameName: 'allowed',
    },
  )
  const grants = [{ tenantId, scopes: ['property:read'] }] as const
  await store.keys.insertKey(
    {
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
      rate: { perSecond: 7, burst: 70 },
    },
    'cli:test',
  )
}

async function addTenantWithEvent(store: StorageEngine, tenantId: string): Promise<void> {
  await addTenant(store, tenantId)
  await publish(store, [draft({ subject: tenantId })], { key: feedKey(tenantId) })
}

function copy(from: StorageEngine, to: StorageEngine) {
  return copyStore({
    from,
    to,
    actor: 'cli:test',
    onProgress: () => undefined,
    signal: new AbortController().signal,
  })
}

describe('a copy of a store that is in use', () => {
  it('includes tenants that are created meanwhile, with their keys and what they had published at its moment (P9)', async () => {
    await using source = await stores.create()
    await using target = await stores.create()
    await addTenantWithEvent(source, tenantA)
    const lateTenant = uuid('made after the moment of the copy')
    const from: StorageEngine = {
      ...source,
      async exportRecords(position, take) {
        await addTenantWithEvent(source, tenantB)
        await source.exportRecords(position, async (records) => {
          if ((await source.tenants.tenants()).length === 2) await addTenantWithEvent(source, lateTenant)
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
    assert.deepEqual(await target.tenants.tenants(), await source.tenants.tenants())
    assert.deepEqual(await target.keys.keys(), await source.keys.keys())
    await copy(source, target)
    for (const tenantId of [tenantA, tenantB, lateTenant]) {
      const key = feedKey(tenantId)
      assert.deepEqual(await list(target, { key }), await list(source, { key }))
      assert.deepEqual(await target.events.head(key), await source.events.head(key))
    }
  })
})

describe('a copy that reads back otherwise than the source', () => {
  type Read = StorageEngine['events']['readAfter']
  /** What the target gives back of its events, once all are copied. */
  const readings: Readonly<Record<string, (events: Awaited<ReturnType<Read>>) => Awaited<ReturnType<Read>>>> =
    {
      'with one byte of one event changed': (events) =>
        events.map((event) => {
          if (event.sequenceNumber !== 700) return event
          const json = Buffer.from(event.json)
          json.writeUInt8(json.readUInt8(20) ^ 1, 20)
          return { ...event, json }
        }),
      'with another number': (events) =>
        events.map((event) => (event.sequenceNumber === 700 ? { ...event, sequenceNumber: 701 } : event)),
      'without its last event': (events) => events.filter(({ sequenceNumber }) => sequenceNumber < 801),
      'without an event in the middle': (events) =>
        events.filter(({ sequenceNumber }) => sequenceNumber !== 700),
    }

  for (const [how, reading] of Object.entries(readings)) {
    it(`${how} is refused, and nobody can publish to it (P9)`, async () => {
      await using source = await stores.create()
      await using target = await stores.create()
      await addTenant(source, tenantA)
      const drafts = Array.from({ length: 801 }, (_, index) => draft({ subject: `home ${index}` }))
      await publish(source, drafts, { key: feedKey() })
      const events = {
        ...target.events,
        readAfter: async (query: Parameters<Read>[0]) => reading(await target.events.readAfter(query)),
      }
      await assert.rejects(copy(source, { ...target, events }), {
        name: 'CopyRefusal',
        message: /property events of tenant .* differs from the source/,
      })
      const append = () => target.events.append([batch([draft({ subject: 'one more' })])])
      assert.deepEqual(await append(), [{ kind: 'epochRequired' }])
      // It was the reading alone: compared again, the copy is right, and open.
      assert.equal((await copy(source, target))[0]?.events, 801)
      assert.equal((await append())[0]?.kind, 'stored')
    })
  }
})

describe('a copy made again', () => {
  it('includes later changes of tenants and keys: revoked, given another end or rate, suspended, used', async () => {
    await using source = await stores.create()
    await using target = await stores.create()
    await addTenantWithEvent(source, tenantA)
    await addTenantWithEvent(source, tenantB)
    await copy(source, target)
    await source.keys.revokeKey(`key ${tenantA}`, 2_000, 'cli:test')
    await source.keys.changeKey(`key ${tenantB}`, { expiresMs: 3_000 }, 'cli:test')
    await source.keys.changeKey(`key ${tenantA}`, { rate: null }, 'cli:test')
    await source.keys.changeKey(`key ${tenantB}`, { rate: { perSecond: 8, burst: 8 } }, 'cli:test')
    await source.keys.recordKeyUses([{ keyId: `key ${tenantB}`, usedMs: 2_500 }])
    await source.tenants.changeTenant(tenantB, { suspended: true }, 'cli:test')
    await source.leaving.begin({ tenantId: tenantA, sinceMs: 4_000, readingEndsMs: 5_000 }, 'cli:test')
    await source.leaving.noteUnpublished({ tenantId: tenantA, sinceMs: 4_000 }, 4_500, 'service')
    await target.leaving.begin({ tenantId: tenantB, sinceMs: 4_000, readingEndsMs: 5_000 }, 'cli:test')
    await copy(source, target)
    assert.deepEqual(await target.leaving.list(), await source.leaving.list())
    assert.equal((await target.leaving.list()).length, 1)
    const [keys, tenants] = [await target.keys.keys(), await target.tenants.tenants()]
    assert.deepEqual(keys, await source.keys.keys())
    assert.deepEqual(tenants, await source.tenants.tenants())
    assert.equal(keys.find(({ keyId }) => keyId === `key ${tenantA}`)?.revokedMs, 2_000)
    assert.equal(tenants.find(({ tenantId }) => tenantId === tenantB)?.suspended, true)
  })
})
