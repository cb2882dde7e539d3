import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { batch, draft, tenantA, uuid } from '../support/drafts.ts'
import { headOf, list, numbers, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { testClock, ticks } from '../support/test-clock.ts'
import { publishMixture } from './reading.ts'

const maintenance = { sinceMs: 1_790_000_000_123, retryAfterSeconds: 30 }

/** A node lives, somebody is signed in, somebody else has a link, and maintenance is on. */
async function beServed(store: StorageEngine): Promise<void> {
  const nowMs = Date.now()
  await store.nodes.announce({
    nodeId: uuid('node'),
    place: 'tŷ, process 1',
    pepperIds: ['p'],
    ignoresProxy: false,
  })
  const times = { begunMs: nowMs, endsMs: nowMs + 3_600_000, usedMs: nowMs }
  const session = { cookieHash: 'cookie', halfHash: 'half', keyId: 'key', ...times }
  await store.consoleSessions.begin(session, { by: 'link', tenantIds: [] }, 'service')
  await store.consoleSessions.addLink({ linkHash: 'link', keyId: 'key', expiresMs: nowMs + 3_600_000 })
  await store.setMaintenance(maintenance, 'cli:test')
}

/** The keys of the session and of the link. */
async function signedIn(store: StorageEngine): Promise<readonly (string | undefined)[]> {
  const { consoleSessions: sessions } = store
  return [(await sessions.find('cookie'))?.keyId, await sessions.spendLink('link', Date.now())]
}

export function copyingContract(factory: StoreFactory): void {
  describe('a copy of the store', () => {
    it('opens as a store with the same events, tenants and settings (P9)', async () => {
      await using store = await withTenants(await factory.create({ startSequence: 7 }))
      await publishMixture(store, 150)
      await using copy = await factory.copy(store)
      await publishMixture(store, 1)
      assert.deepEqual(copy.settings, store.settings)
      assert.deepEqual(await copy.tenants.tenants(), await store.tenants.tenants())
      const kept = (await list(store)).slice(0, 150)
      assert.deepEqual(await list(copy), kept)
      assert.equal((await headOf(copy)).epoch, (await headOf(store)).epoch)
    })

    it('publishes nothing until a new epoch carries it past numbers it does not hold (D13, P2)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'a' })])
      await using copy = await factory.copy(store)
      // The store that was copied goes on as before.
      await publish(store, [draft({ subject: 'b' })])
      const asked = batch([draft({ subject: 'c' })])
      assert.deepEqual(await copy.events.append([asked]), [{ kind: 'epochRequired' }])
      assert.deepEqual(await copy.events.preview(asked), { kind: 'epochRequired' })
      assert.deepEqual([await store.epochNeed(), await copy.epochNeed()], ['none', 'all'])
      await copy.startEpoch((await headOf(store)).sequenceNumber, 'cli:test')
      assert.equal(await copy.epochNeed(), 'none')
      await copy.events.append([asked])
      assert.deepEqual(numbers(await list(copy)), [1, 3])
    })

    it('stamps nothing before a window that was answered before it was made, though the clock was set back (P3)', async () => {
      const { clock, set } = testClock('2025-01-31T12:00:00')
      await using store = await withTenants(await factory.create({ clock }))
      await publish(store, [draft({ subject: 'a' })])
      set('2025-01-31T12:00:30')
      const asked = { from: ticks('2025-01-31T12:00:30') }
      assert.deepEqual(await list(store, asked), [])
      await using copy = await factory.copy(store, { clock })
      set('2025-01-31T12:00:10')
      await copy.startEpoch(1, 'cli:test')
      await publish(copy, [draft({ subject: 'b' })])
      assert.deepEqual(numbers(await list(copy, asked)), [2])
    })

    it('holds a whole prefix of the feed, whatever is published meanwhile (P2, P6)', async () => {
      await using store = await withTenants(await factory.create())
      await publishMixture(store, 200)
      const stop = new AbortController()
      const publishing = (async () => {
        for (let n = 0; !stop.signal.aborted; n += 1) {
          await publish(store, [draft({ subject: 'x', id: `${n} a` }), draft({ subject: 'y', id: `${n} b` })])
          await new Promise((resolve) => setImmediate(resolve))
        }
      })()
      await using copy = await factory.copy(store)
      stop.abort()
      await publishing
      const kept = await list(copy)
      assert.equal(kept.length % 2, 0, 'no half of a batch')
      assert.deepEqual(kept, (await list(store)).slice(0, kept.length))
    })

    it('begins its first new epoch without the nodes, the people who were signed in and the maintenance of the store that was copied (D13, PROTOCOL §15.3)', async () => {
      await using store = await withTenants(await factory.create())
      await beServed(store)
      const one = [{ tenantId: tenantA, feed: 'property' }] as const
      for (const feeds of [undefined, one]) {
        await using copy = await factory.copy(store)
        assert.deepEqual(await copy.maintenance(), maintenance)
        await copy.startEpoch(100, 'cli:test', feeds)
        assert.deepEqual(await copy.nodes.live(), [])
        assert.equal(await copy.maintenance(), undefined)
        assert.deepEqual(await signedIn(copy), [undefined, undefined])
        const rows = await copy.audit.read({ first: 'newest', limit: 2 })
        assert(rows !== 'unknownRow')
        assert.deepEqual(
          rows.map(({ action }) => action),
          ['epoch.started', 'maintenance.ended'],
        )
      }
      assert.equal((await store.nodes.live()).length, 1)
      assert.deepEqual(await store.maintenance(), maintenance)
      assert.deepEqual(await signedIn(store), ['key', 'key'])
    })

    it('is not what a store is that begins another epoch: its nodes and its maintenance stay, and people sign in again (D13)', async () => {
      await using store = await withTenants(await factory.create())
      await beServed(store)
      await store.startEpoch(100, 'cli:test', [{ tenantId: tenantA, feed: 'property' }])
      assert.notEqual(await store.consoleSessions.find('cookie'), undefined, 'an epoch in one feed')
      await store.startEpoch(200, 'cli:test')
      assert.equal((await store.nodes.live()).length, 1)
      assert.deepEqual(await store.maintenance(), maintenance)
      assert.deepEqual(await signedIn(store), [undefined, undefined])
    })
  })
}
