import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FeedKey } from '../../../src/events/feed-key.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { batch, draft, feedKey, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { headOf, list, numbers, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

const contacts = feedKey(tenantA, 'contact')

/** As a node that finds numbers missing does it, or a copy of a store in which a feed waits. */
async function stopFeed(store: StorageEngine, key: FeedKey): Promise<void> {
  const { position, sequenceNumber, epoch, revision } = await headOf(store, key)
  const offset = sequenceNumber - position
  await store.importRecords(
    [{ kind: 'feed', key, epoch, offset, revision, lastPosition: position, needsEpoch: true }],
    'cli:test',
  )
}

async function outcomeOf(store: StorageEngine, key: FeedKey): Promise<string | undefined> {
  const [outcome] = await store.events.append([batch([draft({ subject: 'p' })], { key })])
  return outcome?.kind
}

export function waitingFeedsContract(factory: StoreFactory): void {
  describe('feeds that wait for a new epoch', () => {
    it('wait alone: the others are published to, in the same commit too (D13)', async () => {
      await using store = await withTenants(await factory.create())
      const other = feedKey(tenantB)
      await publish(store, [draft({ subject: 'a' }), draft({ subject: 'b' })])
      await publish(store, [draft({ subject: 'a' })], { key: other })
      await stopFeed(store, feedKey())
      const batches = [batch([draft({ subject: 'c' })]), batch([draft({ subject: 'c' })], { key: other })]
      for (let round = 0; round < 3; round += 1) {
        const outcomes = await store.events.append(batches)
        assert.deepEqual(
          outcomes.map(({ kind }) => kind),
          ['epochRequired', 'stored'],
        )
      }
      const [waiting] = batches
      assert(waiting !== undefined)
      assert.deepEqual(await store.events.preview(waiting), { kind: 'epochRequired' })
      assert.equal(await store.epochNeed(), 'some')
      assert.deepEqual(await store.waitingFeeds(), [
        { key: feedKey(), heldNumber: 2, shownNumber: undefined },
      ])
      assert.deepEqual(numbers(await list(store)), [1, 2], 'reading goes on')
    })

    it('continue after a new epoch of their own, which no other feed notices (D13)', async () => {
      await using store = await withTenants(await factory.create())
      const other = feedKey(tenantB)
      for (const key of [feedKey(), other]) await publish(store, [draft({ subject: 'a' })], { key })
      await stopFeed(store, feedKey())
      await stopFeed(store, contacts)
      const before = await headOf(store, other)
      const epoch = (await headOf(store)).epoch
      await store.startEpoch(100, 'cli:test', [feedKey(), feedKey()])
      assert.deepEqual(await headOf(store, other), before)
      assert.notEqual((await headOf(store)).epoch, epoch)
      assert.equal(await outcomeOf(store, feedKey()), 'stored')
      assert.equal(await outcomeOf(store, contacts), 'epochRequired')
      assert.equal(await outcomeOf(store, other), 'stored')
      assert.deepEqual(numbers(await list(store)), [1, 101])
      assert.deepEqual(numbers(await list(store, { key: other })), [1, 2])
      await store.startEpoch(0, 'cli:test', [contacts])
      assert.equal(await store.epochNeed(), 'none')
      assert.equal((await headOf(store, contacts)).sequenceNumber, 0, 'nothing was shown of it')
      await store.startEpoch(50, 'cli:test', [feedKey()])
      await publish(store, [draft({ subject: 'z' })])
      assert.deepEqual(numbers(await list(store)), [1, 101, 102], 'never back')
      // A tenant made later begins where it would have begun.
      const tenantId = uuid('tenant C')
      await store.tenants.createTenant({ tenantId, name: 'C', createdMs: 1, suspended: false }, 'cli:test')
      assert.equal((await headOf(store, feedKey(tenantId))).sequenceNumber, 0)
    })

    it('are one after the other those of a restored store, until none is left (D13)', async () => {
      await using store = await withTenants(await factory.create())
      for (const key of [feedKey(), feedKey(tenantB)])
        await publish(store, [draft({ subject: 'a' })], { key })
      await using copy = await factory.copy(store)
      assert.equal((await copy.waitingFeeds()).length, 4)
      await copy.startEpoch(10, 'cli:test', [feedKey(), contacts])
      assert.equal(await copy.epochNeed(), 'some')
      assert.equal(await outcomeOf(copy, feedKey()), 'stored')
      assert.equal(await outcomeOf(copy, feedKey(tenantB)), 'epochRequired')
      assert.deepEqual(
        (await copy.waitingFeeds()).map(({ key }) => key),
        [feedKey(tenantB), feedKey(tenantB, 'contact')],
      )
      await copy.startEpoch(20, 'cli:test')
      assert.equal(await copy.epochNeed(), 'none')
      assert.deepEqual(await copy.waitingFeeds(), [])
      assert.equal(await outcomeOf(copy, feedKey(tenantB)), 'stored')
      assert.deepEqual(numbers(await list(copy, { key: feedKey(tenantB) })), [1, 21])
    })

    it('continue in their epoch when an operator accepts that nothing is missing (D13)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'a' })])
      const before = await headOf(store)
      await using copy = await factory.copy(store)
      assert.equal(await copy.acceptHistory('cli:test'), 'accepted')
      assert.equal(await copy.epochNeed(), 'none')
      assert.equal(await outcomeOf(copy, feedKey()), 'stored')
      assert.deepEqual(numbers(await list(copy)), [1, 2])
      assert.equal((await headOf(copy)).epoch, before.epoch)
      await stopFeed(copy, contacts)
      assert.equal(await copy.acceptHistory('cli:test'), 'accepted')
      assert.equal(await outcomeOf(copy, contacts), 'stored')
    })

    it('still wait in a backup, and in a copy (D13)', async () => {
      await using store = await withTenants(await factory.create())
      await stopFeed(store, contacts)
      await using copy = await factory.copy(store)
      await copy.startEpoch(0, 'cli:test', [feedKey(), feedKey(tenantB), feedKey(tenantB, 'contact')])
      assert.equal(await outcomeOf(copy, contacts), 'epochRequired')
      await using other = await withTenants(await factory.create())
      await store.exportRecords(
        () => 0,
        (records) => other.importRecords(records, 'cli:test'),
      )
      assert.equal(await outcomeOf(other, contacts), 'epochRequired')
      assert.equal(await outcomeOf(other, feedKey()), 'stored')
    })
  })
}
