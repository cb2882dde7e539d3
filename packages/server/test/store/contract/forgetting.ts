import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { skippedIdsPerStep } from '../../../src/events/skipped-ids.ts'
import { draft, feedKey, tenantB } from '../support/drafts.ts'
import { publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { testClock } from '../support/test-clock.ts'
import { transfer } from './transferring.ts'

const skip = { unchanged: 'skip' } as const
const skippedOn = '2026-01-01T09:30:00'
/** 30 days later, to the tick. */
const keptUntil = '2026-01-31T09:30:00'
const goneFrom = '2026-01-31T09:30:00.0000001'

async function forgetAll(store: StorageEngine): Promise<number> {
  for (let removed = 0; ;) {
    const step = await store.forgetSkippedIds()
    if (step === 0) return removed
    removed += step
  }
}

/** `p` is at `a`, and `skipped` came with the same again. */
async function skipOne(store: StorageEngine): Promise<StorageEngine> {
  await withTenants(store)
  await publish(store, [draft({ subject: 'p', id: 'own', text: 'a' })])
  const [line] = await publish(store, [draft({ subject: 'p', id: 'skipped', text: 'a' })], skip)
  assert.equal(line?.status, 'unchanged')
  return store
}

async function statusOf(store: StorageEngine, id: string): Promise<string | undefined> {
  return (await publish(store, [draft({ subject: 'p', id, text: 'a' })], skip)).at(-1)?.status
}

export function forgettingContract(factory: StoreFactory): void {
  describe('forgetting ids that came with an unchanged payload', () => {
    it('keeps them for 30 days, and no longer (PROTOCOL §4.6, D14)', async () => {
      const { clock, set } = testClock(skippedOn)
      await using store = await skipOne(await factory.create({ clock }))
      set(keptUntil)
      assert.equal(await store.forgetSkippedIds(), 0)
      assert.equal(await statusOf(store, 'skipped'), 'repeated')
      set(goneFrom)
      assert.equal(await store.forgetSkippedIds(), 1)
      assert.equal(await store.forgetSkippedIds(), 0)
      // As if it came for the first time: here skipped again, and kept for 30 days again.
      assert.equal(await statusOf(store, 'skipped'), 'unchanged')
      assert.equal(await store.forgetSkippedIds(), 0)
      assert.equal(await statusOf(store, 'skipped'), 'repeated')
    })

    it("keeps an event's own id for ever, and those of derived events (P6)", async () => {
      const { clock, set } = testClock(skippedOn)
      await using store = await skipOne(await factory.create({ clock }))
      const moved = draft({ subject: 'p', id: 'moved', text: 'b', category: 'lettings' })
      await publish(store, [moved])
      set('2046-01-01')
      assert.equal(await forgetAll(store), 1)
      assert.equal(await statusOf(store, 'own'), 'repeated')
      const statuses = (await publish(store, [moved])).map(({ status }) => status)
      assert.deepEqual(statuses, ['repeated', 'repeated'])
    })

    it('counts from the first time: sending it again does not prolong it', async () => {
      const { clock, set } = testClock(skippedOn)
      await using store = await skipOne(await factory.create({ clock }))
      set('2026-01-20')
      assert.equal(await statusOf(store, 'skipped'), 'repeated')
      set(goneFrom)
      assert.equal(await forgetAll(store), 1)
    })

    it('goes in bounded steps through all feeds, also with several callers at once', async () => {
      const { clock, set } = testClock(skippedOn)
      await using store = await skipOne(await factory.create({ clock }))
      set('2026-01-02')
      const key = feedKey(tenantB)
      await publish(store, [draft({ subject: 'q', text: 'a' })], { key })
      const many = Array.from({ length: skippedIdsPerStep * 3 }, (_, n) =>
        draft({ subject: 'q', id: `skipped ${n}`, text: 'a' }),
      )
      await publish(store, many, { key, ...skip })
      set(goneFrom)
      assert.equal(await store.forgetSkippedIds(), 1)
      assert.equal(await statusOf(store, 'skipped'), 'unchanged')
      set('2026-02-02T00:00:00')
      const first = await store.forgetSkippedIds()
      assert.equal(first, skippedIdsPerStep)
      const rest = await Promise.all([forgetAll(store), forgetAll(store), forgetAll(store)])
      assert.equal(first + rest.reduce((sum, removed) => sum + removed), many.length)
      assert.deepEqual(await publish(store, [many[7] ?? assert.fail()], { key, ...skip }), [
        { ...(await publish(store, [draft({ subject: 'q', text: 'a' })], { key, ...skip }))[0] },
      ])
    })

    it('continues to count in another store, and in a restored backup (D13)', async () => {
      const { clock, set } = testClock(skippedOn)
      await using store = await skipOne(await factory.create({ clock }))
      set('2026-01-15')
      await using other = await withTenants(await factory.create({ clock }))
      await transfer(store, other)
      await using restored = await factory.copy(store, { clock })
      await restored.startEpoch(100, 'cli:test')
      for (const copy of [other, restored]) {
        set(keptUntil)
        assert.equal(await forgetAll(copy), 0)
        assert.equal(await statusOf(copy, 'skipped'), 'repeated')
        set(goneFrom)
        assert.equal(await forgetAll(copy), 1)
        assert.equal(await statusOf(copy, 'own'), 'repeated')
      }
    })
  })
}
