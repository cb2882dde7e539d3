import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { FeedName } from '@property-events/protocol'
import { endpointsPerTenant, secretsPerEndpoint } from '../../../src/webhooks/endpoint.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import type { KeyRecord } from '../../../src/keys/key.ts'
import { tenantA, tenantB } from '../support/drafts.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import {
  eventNamed,
  givenUpOf,
  leaseOf,
  madeMs,
  newEndpoint,
  progressOf,
  recordOf,
  secretNamed,
  stored,
  withEndpoint,
} from '../support/webhooks.ts'

const none = '11111111-1111-4111-8111-111111111111'

async function auditOf(store: StorageEngine, target: string) {
  const rows = await store.audit.read({ first: 'oldest', limit: 100, target })
  assert.ok(rows !== 'unknownRow')
  return rows.map(({ actor, action, tenant, detail }) => {
    assert.equal(tenant, tenantA)
    return [actor, action, detail]
  })
}

export function webhooksContract(factory: StoreFactory): void {
  describe('endpoints of webhooks', () => {
    it('are kept as they were made, and listed by tenant and feed in the order of their ids (PROTOCOL §16)', async () => {
      await using store = await withTenants(await factory.create())
      const { webhooks } = store
      const given = [
        await withEndpoint(store),
        await withEndpoint(store, {
          settings: { feed: 'contact', maxPerSecond: 5, view: 'all', events: 'operations', changes: false },
          rights: { contact: { roles: ['vendor', 'landlord'], fields: ['last_name'] } },
        }),
        await withEndpoint(store, { tenantId: tenantB }),
      ]
      for (const endpoint of given)
        assert.deepEqual(await stored(store, endpoint.endpointId), recordOf(endpoint))
      const idsOf = async (feed: FeedName | undefined, after?: string, limit = 50) => {
        const found = await webhooks.list({ tenantId: tenantA, ...(feed && { feed }), after, limit })
        return found.map(({ endpointId }) => endpointId)
      }
      const own = given.slice(0, 2).map(({ endpointId }) => endpointId)
      const inOrder = own.toSorted()
      assert.deepEqual(await idsOf(undefined), inOrder)
      assert.deepEqual(await idsOf('contact'), own.slice(1))
      assert.deepEqual(await idsOf(undefined, inOrder[0], 1), inOrder.slice(1))
      assert.deepEqual(await idsOf(undefined, undefined, 1), inOrder.slice(0, 1))
      assert.equal(await webhooks.find(none), undefined)
      assert.equal(await webhooks.create(newEndpoint({ tenantId: none }), 'cli:test'), 'unknownTenant')
    })

    it('are 50 of a tenant at most, however many are made at the same time, until one is removed (PROTOCOL §16)', async () => {
      await using store = await withTenants(await factory.create())
      const { webhooks } = store
      await withEndpoint(store, { tenantId: tenantB })
      const given = Array.from({ length: endpointsPerTenant + 3 }, () => newEndpoint())
      const made = await Promise.all(given.map((endpoint) => webhooks.create(endpoint, 'cli:test')))
      assert.equal(made.filter((outcome) => outcome === 'created').length, endpointsPerTenant)
      assert.equal(made.filter((outcome) => outcome === 'limit').length, 3)
      const [one] = await webhooks.list({ tenantId: tenantA, after: undefined, limit: 1 })
      assert.ok(one)
      assert.equal(await webhooks.remove(one.endpointId, 'cli:test'), 'removed')
      await withEndpoint(store)
    })

    it('change in what is given, take the lease from whoever sends, and leave a row in the audit (PROTOCOL §16, W5)', async () => {
      await using store = await withTenants(await factory.create())
      const { webhooks } = store
      const endpoint = await withEndpoint(store)
      const { endpointId } = endpoint
      const former = await leaseOf(store, endpointId)
      const paused = { kind: 'paused', reason: 'asked', sinceMs: madeMs } as const
      const changed = await webhooks.change(
        endpointId,
        { settings: { url: 'https://arall.example/', maxPerSecond: 9 }, state: paused },
        'key:one',
      )
      const record = recordOf(endpoint)
      const expected = {
        ...record,
        settings: { ...record.settings, url: 'https://arall.example/', maxPerSecond: 9 },
        state: paused,
      }
      assert.deepEqual(changed, { kind: 'changed', endpoint: expected })
      assert.deepEqual(await webhooks.save([progressOf(former, { settled: 120 })]), [endpointId])
      assert.deepEqual(await stored(store, endpointId), expected)
      assert.deepEqual(await webhooks.claim(randomUUID(), 10, 1_000), [])
      await webhooks.change(endpointId, { state: { kind: 'enabled' } }, 'key:one')
      await webhooks.change(endpointId, { state: { kind: 'enabled' } }, 'key:one')
      assert.deepEqual(await webhooks.change(none, {}, 'key:one'), { kind: 'unknown' })
      assert.deepEqual(await auditOf(store, endpointId), [
        ['cli:test', 'webhook.created', { feed: 'property', events: 'feed' }],
        ['key:one', 'webhook.changed', { settings: ['url', 'maxPerSecond'] }],
        ['key:one', 'webhook.paused', { reason: 'asked' }],
        ['key:one', 'webhook.enabled', {}],
      ])
    })

    it('begin as working ones when they are enabled, where they stood (PROTOCOL §16)', async () => {
      await using store = await withTenants(await factory.create())
      const { webhooks } = store
      const { endpointId } = await withEndpoint(store)
      const lease = await leaseOf(store, endpointId)
      const waiting = { ...eventNamed('Tŷ Gwyn', 101), tries: 3, nextTryMs: madeMs }
      await webhooks.save([
        progressOf(lease, {
          settled: 120,
          failingSinceMs: madeMs,
          rows: { waiting: [waiting] },
          disable: 'failing',
        }),
      ])
      const { state } = await stored(store, endpointId)
      assert.ok(state.kind === 'disabled' && state.reason === 'failing' && state.sinceMs > madeMs)
      await webhooks.change(endpointId, { state: { kind: 'enabled' } }, 'cli:test')
      const again = await leaseOf(store, endpointId)
      assert.deepEqual(again.waiting, [waiting])
      assert.deepEqual(again.endpoint.progress, {
        settled: 120,
        epoch: 'epoch-1',
        failingSinceMs: undefined,
        waiting: 1,
        givenUp: 0,
        acknowledged: undefined,
      })
    })

    it('sign with a new secret and, until it ends, with the former one; with five at most (PROTOCOL §16)', async () => {
      await using store = await withTenants(await factory.create())
      const { webhooks } = store
      const { endpointId, secret: first } = await withEndpoint(store)
      const laterMs = Date.now() + 3_600_000
      const second = secretNamed('second', { createdMs: madeMs + 1 })
      await webhooks.change(endpointId, { secret: { added: second, presentEndMs: laterMs } }, 'key:one')
      assert.deepEqual((await stored(store, endpointId)).secrets, [second, { ...first, endsMs: laterMs }])
      // One that ends earlier stays so.
      for (let made = 2; made < 7; made += 1) {
        const added = secretNamed(`${made}`, { createdMs: madeMs + made })
        await webhooks.change(endpointId, { secret: { added, presentEndMs: laterMs + made } }, 'key:one')
      }
      const { secrets } = await stored(store, endpointId)
      assert.equal(secrets.length, secretsPerEndpoint)
      assert.deepEqual(
        secrets.map(({ endsMs }) => endsMs),
        [undefined, laterMs + 6, laterMs + 5, laterMs + 4, laterMs + 3],
      )
      const last = secretNamed('last', { createdMs: madeMs + 9 })
      await webhooks.change(endpointId, { secret: { added: last, presentEndMs: Date.now() - 1 } }, 'key:one')
      assert.deepEqual((await stored(store, endpointId)).secrets, [last])
      const rows = await auditOf(store, endpointId)
      assert.deepEqual(rows[1], ['key:one', 'webhook.secret_added', { formerEndMs: laterMs }])
    })

    it('go on after another number: what waits up to it is given up, and what comes later is sent anew (PROTOCOL §16, W1)', async () => {
      await using store = await withTenants(await factory.create())
      const { webhooks } = store
      const { endpointId } = await withEndpoint(store)
      const [low, high] = [eventNamed('Tŷ Gwyn', 101), eventNamed('Plas Coch', 119)]
      const waiting = [low, high].map((event) => ({ ...event, tries: 1, nextTryMs: madeMs }))
      const givenUp = [eventNamed('Fferm', 90), eventNamed('Fferm', 115)]
      const former = await leaseOf(store, endpointId)
      await webhooks.save([progressOf(former, { settled: 120, rows: { waiting, givenUp } })])
      const cursor = { after: 110, epoch: 'epoch-2' }
      const changed = await webhooks.change(endpointId, { cursor }, 'key:one')
      assert.ok(changed.kind === 'changed')
      const { settled, epoch } = changed.endpoint.progress
      assert.deepEqual({ settled, epoch }, { settled: 110, epoch: 'epoch-2' })
      assert.deepEqual(await webhooks.waiting(endpointId, 10), [])
      const left = await givenUpOf(store, endpointId)
      assert.deepEqual(left, [givenUp[0], low])
      assert.deepEqual(await webhooks.save([progressOf(former, { settled: 130 })]), [endpointId])
      assert.deepEqual((await auditOf(store, endpointId)).at(-1), [
        'key:one',
        'webhook.moved',
        { after: 110 },
      ])
      await webhooks.change(endpointId, { cursor: { after: 100, epoch: undefined } }, 'key:one')
      assert.equal((await stored(store, endpointId)).progress.epoch, 'epoch-2')
    })

    it('have one event sent again, unless its property waits, or the first of each that was given up (PROTOCOL §16, W1, W2)', async () => {
      await using store = await withTenants(await factory.create())
      const { webhooks } = store
      const { endpointId } = await withEndpoint(store)
      const former = await leaseOf(store, endpointId)
      const waiting = { ...eventNamed('Plas Coch', 119), tries: 2, nextTryMs: madeMs }
      const givenUp = [
        eventNamed('Tŷ Gwyn', 103),
        eventNamed('Fferm', 104),
        eventNamed('Tŷ Gwyn', 108),
        eventNamed('Plas Coch', 109),
      ]
      await webhooks.save([progressOf(former, { settled: 120, rows: { waiting: [waiting], givenUp } })])
      const resent = (event: ReturnType<typeof eventNamed>) => ({ ...event, tries: 0, nextTryMs: 0 })
      const again = eventNamed('Fferm', 102)
      assert.deepEqual(await webhooks.resend(endpointId, again, 'key:one'), { kind: 'resent', properties: 1 })
      assert.deepEqual(await webhooks.save([progressOf(former, { settled: 130 })]), [endpointId])
      assert.deepEqual(await webhooks.waiting(endpointId, 10), [resent(again), waiting])
      assert.deepEqual(await webhooks.resend(endpointId, again, 'key:one'), { kind: 'waiting' })
      assert.deepEqual(await webhooks.resend(endpointId, 'givenUp', 'key:one'), {
        kind: 'resent',
        properties: 1,
      })
      const first = eventNamed('Tŷ Gwyn', 103)
      assert.deepEqual(await webhooks.waiting(endpointId, 10), [resent(again), resent(first), waiting])
      // What stands behind a row is found there; what was given up in front of one stays.
      const left = await givenUpOf(store, endpointId)
      assert.deepEqual(left, [eventNamed('Plas Coch', 109)])
      assert.deepEqual(await webhooks.resend(endpointId, 'givenUp', 'key:one'), {
        kind: 'resent',
        properties: 0,
      })
      assert.deepEqual(await webhooks.resend(none, again, 'key:one'), { kind: 'unknown' })
      const rows = (await auditOf(store, endpointId)).slice(1)
      assert.deepEqual(
        rows,
        [1, 1].map((properties) => ['key:one', 'webhook.resent', { properties }]),
      )
    })

    it('go with their secrets, what waits and their log, also a long one (PROTOCOL §16)', async () => {
      await using store = await withTenants(await factory.create())
      const { webhooks } = store
      const { endpointId } = await withEndpoint(store)
      const lease = await leaseOf(store, endpointId)
      const event = eventNamed('Tŷ Gwyn', 101)
      await webhooks.save([
        progressOf(lease, {
          rows: { waiting: [{ ...event, tries: 1, nextTryMs: 0 }], givenUp: [event] },
          versions: [event],
          deliveries: Array.from({ length: 1_500 }, () => ({})),
        }),
      ])
      assert.equal(await webhooks.remove(endpointId, 'key:one'), 'removed')
      assert.equal(await webhooks.remove(endpointId, 'key:one'), 'unknown')
      assert.equal(await webhooks.find(endpointId), undefined)
      assert.deepEqual(await webhooks.deliveries({ endpointId, before: undefined, limit: 10 }), [])
      assert.deepEqual(await webhooks.secrets('', 10), [])
      assert.deepEqual(await webhooks.save([progressOf(lease, { settled: 102 })]), [endpointId])
      assert.deepEqual((await auditOf(store, endpointId)).at(-1), ['key:one', 'webhook.removed', {}])
    })

    it("are their key's successor's in the commit of its rotation, and whoever sends begins anew (PROTOCOL §16, W5)", async () => {
      await using store = await withTenants(await factory.create())
      const { webhooks } = store
      await store.keys.insertKey(keyNamed('key'), 'cli:test')
      const [own, other] = [await withEndpoint(store), await withEndpoint(store, { keyId: 'another' })]
      const former = await leaseOf(store, own.endpointId)
      const { keyId, secretHash, pepperId, createdMs } = keyNamed('successor')
      const fresh = { keyId, secretHash, pepperId, createdMs, oldEndsMs: madeMs + 1 }
      const rotated = await store.keys.rotateKey('key', fresh, 'cli:test')
      assert.equal(rotated.kind, 'rotated')
      assert.equal((await stored(store, own.endpointId)).keyId, 'successor')
      assert.equal((await stored(store, other.endpointId)).keyId, 'another')
      assert.deepEqual(await webhooks.save([progressOf(former, { settled: 130 })]), [own.endpointId])
    })
  })
}

function keyNamed(keyId: string): KeyRecord {
  return {
    keyId,
    secretHash: new Uint8Array(32),
    pepperId: 'pepper',
    label: 'Gwefan – £ 🏡',
    operator: false,
    grants: [{ tenantId: tenantA, scopes: ['property:read'] }],
    createdMs: madeMs,
    expiresMs: undefined,
    revokedMs: undefined,
    lastUsedMs: undefined,
    rate: undefined,
  }
}
