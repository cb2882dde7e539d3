import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { feedNames } from '@property-events/protocol'
import type { StorageEngine } from '../../../src/store/storage.ts'
import type { StoreRecord } from '../../../src/store/store-records.ts'
import { batch, draft, feedKey, removal, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { codes, headOf, list, numbers, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { testClock, ticks } from '../support/test-clock.ts'
import { publishMixture } from './reading.ts'

/** All records of a store behind what another one holds, put into that one. */
export async function transfer(from: StorageEngine, to: StorageEngine): Promise<void> {
  const held = new Map<string, number>()
  for (const { tenantId } of await from.tenants.tenants()) {
    for (const feed of feedNames) {
      held.set(`${tenantId} ${feed}`, (await headOf(to, { tenantId, feed })).position)
    }
  }
  const after = ({ tenantId, feed }: { tenantId: string; feed: string }) =>
    held.get(`${tenantId} ${feed}`) ?? 0
  await from.exportRecords(after, (records) => to.importRecords(records, 'cli:test'))
}

/** Everything the port shows of two stores is the same. */
export async function assertSameContent(one: StorageEngine, other: StorageEngine): Promise<void> {
  for (const tenantId of [tenantA, tenantB]) {
    for (const feed of feedNames) {
      const key = { tenantId, feed }
      assert.deepEqual(await headOf(other, key), await headOf(one, key))
      for (const view of ['all', 'sales', 'lettings'] as const) {
        assert.deepEqual(await list(other, { key, view }), await list(one, { key, view }))
        const query = { key, view, after: 0, limit: 1000, latestOnly: true } as const
        const [here, there] = [await one.events.readAfter(query), await other.events.readAfter(query)]
        assert.deepEqual(numbers(there), numbers(here))
      }
    }
  }
}

/** A store with a history: categories, removals, a repeat, a skipped id, two epochs, both feeds of two tenants. */
export async function storeWithHistory(store: StorageEngine): Promise<StorageEngine> {
  await withTenants(store)
  await publishMixture(store, 120)
  await publish(store, [draft({ subject: 'p', id: 'first', text: 'a', category: 'sales' })])
  await publish(store, [draft({ subject: 'p', id: 'skipped', text: 'a' })], { unchanged: 'skip' })
  await publish(store, [draft({ subject: 'p', category: 'lettings', branch: 'north' })])
  await store.startEpoch(5_000, 'cli:test')
  await publish(store, [removal({ subject: 'p' }), draft({ subject: 'q', text: 'a "£" 🏡' })])
  await publish(store, [draft({ subject: 'c' })], { key: feedKey(tenantB, 'contact') })
  return store
}

export function transferringContract(factory: StoreFactory): void {
  describe('transferring', () => {
    it('fills another store with the same events, numbers, times and bytes (P9)', async () => {
      await using from = await storeWithHistory(await factory.create())
      await using to = await withTenants(await factory.create())
      await transfer(from, to)
      await assertSameContent(from, to)
    })

    it('keeps what publishing depends on: taken ids, latest states, the next numbers (D12, D13, D14)', async () => {
      await using from = await storeWithHistory(await factory.create())
      await using to = await withTenants(await factory.create())
      await transfer(from, to)
      for (const store of [from, to]) {
        const repeat = draft({ subject: 'p', id: 'first', text: 'a', category: 'sales' })
        assert.equal((await publish(store, [repeat]))[0]?.status, 'repeated')
        const clash = draft({ subject: 'p', id: 'skipped', text: 'other' })
        assert.equal((await store.events.append([batch([clash])]))[0]?.kind, 'idConflict')
        await publish(store, [draft({ subject: 'q', category: 'lettings' }), draft({ subject: 'p' })])
        await store.tenants.createTenant(
          { tenantId: uuid('late'), name: '', createdMs: 0, suspended: false },
          'cli:test',
        )
        await publish(store, [draft({ subject: 'n' })], { key: feedKey(uuid('late')) })
      }
      assert.deepEqual(numbers(await list(to)), numbers(await list(from)))
      assert.deepEqual(codes(await list(to)), codes(await list(from)))
      const late = { key: feedKey(uuid('late')) }
      assert.deepEqual(numbers(await list(to, late)), numbers(await list(from, late)))
    })

    it('leaves out no id and no subject, the one of nothing but zeros included (D14, D16)', async () => {
      await using from = await withTenants(await factory.create())
      await using to = await withTenants(await factory.create())
      const nil = '00000000-0000-0000-0000-000000000000'
      const zeros = { ...draft({ subject: 'p', text: 'a' }), id: nil, subjectId: nil }
      await publish(from, [zeros, draft({ subject: 'q' })])
      await transfer(from, to)
      for (const store of [from, to]) {
        assert.equal((await store.events.readLatest(feedKey(), nil))?.sequenceNumber, 1)
        assert.equal((await publish(store, [zeros]))[0]?.status, 'repeated')
        const again = { ...draft({ subject: 'p', text: 'b' }), subjectId: nil }
        assert.equal((await publish(store, [again]))[0]?.eventTypeShortCode, 'PropertyUpdated')
      }
    })

    it('continues where it stopped, and includes what has come since (P9)', async () => {
      await using from = await storeWithHistory(await factory.create())
      await using to = await withTenants(await factory.create())
      let pieces = 0
      const stopped = from.exportRecords(
        () => 0,
        async (records) => {
          pieces += 1
          if (pieces > 1) throw new Error('stopped')
          await to.importRecords(records.slice(0, 70), 'cli:test')
        },
      )
      await stopped.catch(() => undefined)
      await publishMixture(from, 10)
      await transfer(from, to)
      await transfer(from, to)
      await assertSameContent(from, to)
    })

    it('stamps nothing before a window that the source has answered, though its own clock is behind (P3)', async () => {
      const [there, here] = [testClock('2025-01-31T12:00:30'), testClock('2025-01-31T12:00:00')]
      await using from = await withTenants(await factory.create({ clock: there.clock }))
      await using to = await withTenants(await factory.create({ clock: here.clock }))
      const asked = { from: ticks('2025-01-31T12:00:30') }
      assert.deepEqual(await list(from, asked), [])
      // Whoever fills it may look at it meanwhile.
      assert.deepEqual(await list(to, asked), [])
      await transfer(from, to)
      await publish(to, [draft({ subject: 'a' })])
      assert.deepEqual(numbers(await list(to, asked)), [1])
    })

    it('changes nothing if records do not follow the existing ones (P1)', async () => {
      await using from = await storeWithHistory(await factory.create())
      await using to = await withTenants(await factory.create())
      const records: StoreRecord[] = []
      await from.exportRecords(
        () => 0,
        async (piece) => void records.push(...piece),
      )
      const ofOneFeed = (record: StoreRecord) =>
        record.kind === 'event' && record.key.tenantId === tenantA && record.key.feed === 'property'
      const events = records.filter(ofOneFeed)
      const wrong = [...events.slice(0, 3), ...events.slice(4, 6)]
      await assert.rejects(to.importRecords(wrong, 'cli:test'), { name: 'StorageFailure' })
      await assert.rejects(to.importRecords(events.slice(1, 2), 'cli:test'), { name: 'StorageFailure' })
      assert.equal((await headOf(to)).position, 0)
    })

    it('keeps publishers out of a store that is being filled (D13)', async () => {
      await using to = await withTenants(await factory.create())
      await to.importRecords([{ kind: 'whole', firstOffset: 0, needsEpoch: true }], 'cli:test')
      assert.deepEqual(await to.events.append([batch([draft({ subject: 'p' })])]), [
        { kind: 'epochRequired' },
      ])
    })
  })
}
