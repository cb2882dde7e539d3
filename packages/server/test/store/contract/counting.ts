import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { feedNames, ticksPerSecond } from '@property-events/protocol'
import { batch, draft, feedKey, removal, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { erase, subject } from '../support/erasing.ts'
import { headOf, list, located, parseEvent, publish } from '../support/read-back.ts'
import { assertCounted, liveCount } from '../support/recount.ts'
import { contacts, lift, restrict } from '../support/restricting.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { testClock, ticks } from '../support/test-clock.ts'
import { publishMixture } from './reading.ts'
import { storeWithHistory, transfer } from './transferring.ts'

const views = ['all', 'sales', 'lettings'] as const

export function countingContract(factory: StoreFactory): void {
  describe('counting', () => {
    it('counts the events before any time as a window does, in every view and of one state (P4)', async () => {
      const { clock, set } = testClock('2026-01-01T00:00:00')
      await using store = await withTenants(await factory.create({ clock }))
      for (const minute of ['01', '02', '05']) {
        set(`2026-01-01T00:${minute}:00`)
        await publishMixture(store, 20)
      }
      const key = feedKey()
      const start = ticks('2026-01-01T00:00:00')
      const times = [6, 0, 1, 2, 2, 3, 5, -90].map(
        (minutes) => start + BigInt(minutes) * 60n * ticksPerSecond,
      )
      for (const view of views) {
        const tally = await store.events.tally({ key, view, times })
        const windows = await Promise.all(times.map((to) => located(store, { view, to })))
        assert.deepEqual(
          tally?.before,
          windows.map(({ range }) => range.count),
        )
        assert.equal(tally?.total, (await located(store, { view })).range.count)
        assert.deepEqual(await store.events.tally({ key, view, times: [] }), {
          total: tally?.total,
          before: [],
        })
      }
    })

    it('counts nothing in an empty feed, and reports a tenant that does not exist (P10)', async () => {
      await using store = await withTenants(await factory.create())
      const times = [0n, ticks('2026-01-01T00:00:00')]
      const empty = { total: 0, before: [0, 0] }
      assert.deepEqual(await store.events.tally({ key: feedKey(), view: 'sales', times }), empty)
      assert.equal(await store.events.tally({ key: feedKey(uuid('nobody')), view: 'all', times }), undefined)
      assert.deepEqual(await store.events.counts(uuid('nobody')), [])
      const counts = await store.events.counts()
      assert.deepEqual(
        new Set(counts.map(({ key: { tenantId, feed } }) => `${tenantId} ${feed}`)),
        new Set([tenantA, tenantB].flatMap((tenantId) => feedNames.map((feed) => `${tenantId} ${feed}`))),
      )
      assert.deepEqual(
        new Set(counts.map(({ created, live }) => `${created} ${live}`)),
        new Set(['undefined 0']),
      )
    })

    it('knows the number of live subjects after each publication, one by one and many at once (D12, D23)', async () => {
      await using store = await withTenants(await factory.create())
      const steps = [
        [draft({ subject: 'p' })],
        [draft({ subject: 'p', text: 'changed' })],
        [draft({ subject: 'hidden', published: false })],
        [draft({ subject: 'p', category: 'lettings' })],
        [removal({ subject: 'p' })],
        [removal({ subject: 'p' })],
        [draft({ subject: 'p' }), removal({ subject: 'p' }), draft({ subject: 'p', text: 'again' })],
        [draft({ subject: 'q' }), draft({ subject: 'r' }), draft({ subject: 'q', published: false })],
        [draft({ subject: 'hidden' }), removal({ subject: 'r' })],
      ]
      const lives = []
      for (const drafts of steps) {
        await publish(store, drafts)
        lives.push(await liveCount(store, feedKey()))
        await assertCounted(store, feedKey())
      }
      assert.deepEqual(lives, [1, 1, 1, 1, 0, 0, 1, 2, 2])
      const last = await headOf(store)
      const [count] = (await store.events.counts(tenantA)).filter(({ key: { feed } }) => feed === 'property')
      assert.equal(count?.created, last.created)
      assert.equal(await liveCount(store, feedKey(tenantB)), 0)
    })

    it('counts each feed of a commit separately, and nothing for what is refused or skipped (D14)', async () => {
      await using store = await withTenants(await factory.create())
      const other = feedKey(tenantB)
      const one = draft({ subject: 'p', id: 'one' })
      await store.events.append([
        batch([one, draft({ subject: 'q' })]),
        batch([draft({ subject: 'p' }), draft({ subject: 'c' }), draft({ subject: 'd' })], { key: other }),
        batch([draft({ subject: 'c' })], { key: contacts }),
      ])
      await store.events.append([
        batch([one]),
        batch([draft({ subject: 'x', id: 'one', text: 'other' })]),
        batch([removal({ subject: 'never' })]),
        batch([draft({ subject: 'd' })], { key: other, unchanged: 'skip' }),
      ])
      assert.deepEqual(
        await Promise.all([feedKey(), other, contacts].map((key) => liveCount(store, key))),
        [2, 3, 1],
      )
    })

    it('counts on while contacts are restricted, given back and erased (D17)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'c' }), draft({ subject: 'd' })], { key: contacts })
      const restriction = await restrict(store, 'c')
      await assertCounted(store, contacts)
      assert.equal(await liveCount(store, contacts), 1)
      await publish(store, [draft({ subject: 'c', text: 'hidden' })], { key: contacts })
      assert.equal(await liveCount(store, contacts), 1)
      await lift(store, restriction.restrictionId)
      assert.equal(await liveCount(store, contacts), 2)
      await erase(store, subject('d'), { key: contacts })
      assert.equal(await liveCount(store, contacts), 1)
      await assertCounted(store, contacts)
    })

    it('counts what is copied from another store, at once and in rounds (P9)', async () => {
      await using from = await storeWithHistory(await factory.create())
      await using to = await withTenants(await factory.create())
      await transfer(from, to)
      await publish(from, [draft({ subject: 'late' }), removal({ subject: 'q' })])
      await transfer(from, to)
      for (const { key, live } of await from.events.counts()) {
        await assertCounted(to, key)
        assert.equal(await liveCount(to, key), live)
      }
    })

    it('keeps the counts in a backup (D13)', async () => {
      await using store = await storeWithHistory(await factory.create())
      const live = await liveCount(store, feedKey())
      assert.ok(live !== undefined && live > 0)
      await using copy = await factory.copy(store)
      assert.equal(await liveCount(copy, feedKey()), live)
      await assertCounted(copy, feedKey())
    })

    it('reads the latest events of subjects from the newest on, in steps of any size, in every view', async () => {
      await using store = await withTenants(await factory.create())
      await publishMixture(store, 90)
      await publish(store, [draft({ subject: 'mixed 1', category: 'lettings' }), draft({ subject: 'new' })])
      const key = feedKey()
      for (const view of views) {
        const latest = await store.events.readAfter({ key, view, after: 0, limit: 1_000, latestOnly: true })
        const expected = latest.map(({ json }) => parseEvent(json)).toReversed()
        for (const limit of [1, 7, 1_000]) {
          const found = []
          for (let before: number | undefined; ;) {
            const step = await store.events.readNewest({ key, view, before, limit })
            assert.ok(step.length <= limit)
            found.push(...step.map(({ json }) => parseEvent(json)))
            before = step.at(-1)?.position
            if (step.length < limit) break
          }
          assert.deepEqual(found, expected, `${view} by ${limit}`)
        }
      }
      await publish(store, [draft({ subject: 'c' })], { key: contacts })
      const [contact] = await store.events.readNewest({
        key: contacts,
        view: 'all',
        before: undefined,
        limit: 5,
      })
      const { position, sequenceNumber, live } = contact ?? {}
      assert.deepEqual({ position, sequenceNumber, live }, { position: 1, sequenceNumber: 1, live: true })
      const elsewhere = { key: feedKey(tenantB), view: 'all', before: undefined, limit: 5 } as const
      assert.deepEqual(await store.events.readNewest(elsewhere), [])
      assert.equal((await list(store)).length, (await headOf(store)).position)
    })
  })
}
