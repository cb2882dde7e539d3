import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { batch, draft, feedKey, tenantB } from '../support/drafts.ts'
import { headOf, list, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { testClock, ticks } from '../support/test-clock.ts'

export function stampingContract(factory: StoreFactory): void {
  describe('stamping', () => {
    it('gives the time of the clock, then one tick per event (D25)', async () => {
      const { clock, set } = testClock('2025-01-31T12:00:00')
      await using store = await withTenants(await factory.create({ clock }))
      await publish(store, [draft({ subject: 'a' }), draft({ subject: 'b' })])
      await publish(store, [draft({ subject: 'c' })])
      set('2025-01-31T12:00:00.5')
      await publish(store, [draft({ subject: 'd' })])
      assert.deepEqual(
        (await list(store)).map((event) => event.createdDate),
        [
          '2025-01-31T12:00:00.0000000',
          '2025-01-31T12:00:00.0000001',
          '2025-01-31T12:00:00.0000002',
          '2025-01-31T12:00:00.5000000',
        ],
      )
    })

    it('never steps back with the clock (P3, D25)', async () => {
      const { clock, set } = testClock('2025-01-31T12:00:00')
      await using store = await withTenants(await factory.create({ clock }))
      await publish(store, [draft({ subject: 'a' })])
      set('2025-01-31T11:56:00')
      await publish(store, [draft({ subject: 'b' })])
      assert.equal((await list(store))[1]?.createdDate, '2025-01-31T12:00:00.0000001')
    })

    it('refuses to publish while the head is more than 5 minutes ahead of the clock (D25)', async () => {
      const { clock, set } = testClock('2025-01-31T12:00:00')
      await using store = await withTenants(await factory.create({ clock }))
      const sent = draft({ subject: 'a', id: 'e' })
      await publish(store, [sent])
      set('2025-01-31T11:54:59')
      const refused = {
        kind: 'clockBehind',
        headCreated: ticks('2025-01-31T12:00:00'),
        now: ticks('2025-01-31T11:54:59'),
      }
      assert.deepEqual(await store.events.append([batch([draft({ subject: 'b' })])]), [refused])
      assert.deepEqual(await store.events.preview(batch([draft({ subject: 'b' })])), refused)
      assert.equal((await headOf(store)).position, 1)
      // Neither a repeat nor another feed needs a new stamp behind this head.
      assert.equal((await publish(store, [sent]))[0]?.status, 'repeated')
      await publish(store, [draft({ subject: 'b' })], { key: feedKey(tenantB) })
      set('2025-01-31T11:55:00')
      await publish(store, [draft({ subject: 'b' })])
    })

    it('publishes ahead of the clock when an operator overrides the check (D25)', async () => {
      const { clock, set } = testClock('2025-01-31T12:00:00')
      await using store = await withTenants(await factory.create({ clock, overrideClockCheck: true }))
      await publish(store, [draft({ subject: 'a' })])
      set('2024-01-31')
      await publish(store, [draft({ subject: 'b' })])
      assert.equal((await list(store))[1]?.createdDate, '2025-01-31T12:00:00.0000001')
    })

    it('gives internal loading the time it wishes for, or the last one plus a tick (D25)', async () => {
      const { clock } = testClock('2025-01-31T12:00:00')
      await using store = await withTenants(await factory.create({ clock }))
      const wishes = ['2020-05-01T08:00:00', '2019-01-01', '2020-05-02']
      await publish(
        store,
        wishes.map((wish, n) => draft({ subject: `p${n}`, requestedCreated: ticks(wish) })),
      )
      await publish(store, [draft({ subject: 'now' })])
      assert.deepEqual(
        (await list(store)).map((event) => event.createdDate),
        [
          '2020-05-01T08:00:00.0000000',
          '2020-05-01T08:00:00.0000001',
          '2020-05-02T00:00:00.0000000',
          '2025-01-31T12:00:00.0000000',
        ],
      )
    })

    it('gives a derived event a time of its own, before its cause (D23, P3)', async () => {
      const { clock } = testClock('2025-01-31T12:00:00')
      await using store = await withTenants(await factory.create({ clock }))
      const requestedCreated = ticks('2020-05-01')
      await publish(store, [draft({ subject: 'p', category: 'sales', requestedCreated })])
      const moved = draft({ subject: 'p', category: 'lettings', requestedCreated: ticks('2020-06-01') })
      const lines = await publish(store, [moved])
      assert.deepEqual(
        lines.map((line) => line.stored?.createdDate),
        ['2020-06-01T00:00:00.0000000', '2020-06-01T00:00:00.0000001'],
      )
    })
  })
}
