import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseWindowBound } from '@property-events/protocol'
import type { Ticks } from '@property-events/protocol'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { draft } from '../support/drafts.ts'
import { list, located, numbers, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { testClock, ticks } from '../support/test-clock.ts'

const times = [
  '2025-01-30T10:00:00',
  '2025-01-31T00:00:00',
  '2025-01-31T23:59:59.9899999',
  '2025-01-31T23:59:59.9999999',
  '2025-02-01T00:00:00',
  '2025-02-01T09:30:00.1234567',
]

/** One event per time; odd ones to let. */
async function withTimes(factory: StoreFactory): Promise<StorageEngine> {
  const store = await withTenants(await factory.create())
  for (const [index, time] of times.entries()) {
    const category = index % 2 === 0 ? 'sales' : 'lettings'
    await publish(store, [draft({ subject: `p${index}`, category, requestedCreated: ticks(time) })])
  }
  return store
}

function to(text: string): Ticks {
  return parseWindowBound('to', text) ?? 0n
}

export function windowsContract(factory: StoreFactory): void {
  describe('windows', () => {
    it('starts at the instant written and ends behind the interval of the last digit (D5)', async () => {
      await using store = await withTimes(factory)
      const inside = async (from: string | undefined, until: string | undefined) =>
        numbers(
          await list(store, {
            ...(from === undefined ? {} : { from: ticks(from) }),
            ...(until === undefined ? {} : { to: to(until) }),
          }),
        )
      assert.deepEqual(await inside('2025-01-31', '2025-01-31'), [2, 3, 4])
      assert.deepEqual(await inside('2025-01-31T23:59:59.99', undefined), [4, 5, 6])
      assert.deepEqual(await inside(undefined, '2025-01-31T23:59:59.98'), [1, 2, 3])
      assert.deepEqual(await inside(undefined, '2025-01-31T23:59:59.9899998'), [1, 2])
      assert.deepEqual(await inside('2025-02-01T09:30:00.1234567', '2025-02-01T09:30:00.1234567'), [6])
      assert.deepEqual(await inside('2025-02-01T09:30:00.1234568', undefined), [])
      assert.deepEqual(await inside(undefined, undefined), [1, 2, 3, 4, 5, 6])
    })

    it('counts and lists a view inside a window (P4, D5)', async () => {
      await using store = await withTimes(factory)
      const window = { from: ticks('2025-01-31'), to: to('2025-02-01T00:00:00') }
      assert.deepEqual(numbers(await list(store, { view: 'sales', ...window })), [3, 5])
      assert.deepEqual(numbers(await list(store, { view: 'lettings', ...window })), [2, 4])
      const { range } = await located(store, { view: 'sales', ...window })
      assert.deepEqual([range.first, range.count], [2, 2])
    })

    it('skips nothing between windows laid end to end, whatever the page size (P4, D5)', async () => {
      await using store = await withTimes(factory)
      const days = ['2025-01-30', '2025-01-31', '2025-02-01']
      for (const pageSize of [1, 7, 100]) {
        const found: number[] = []
        for (const day of days) {
          found.push(...numbers(await list(store, { from: ticks(day), to: to(day) }, pageSize)))
        }
        assert.deepEqual(found, [1, 2, 3, 4, 5, 6])
      }
    })

    it('finds nothing in a window that is empty, turned round, before or behind everything', async () => {
      await using store = await withTimes(factory)
      const empty: readonly { readonly from?: Ticks; readonly to?: Ticks }[] = [
        { from: ticks('2025-01-31T00:00:01'), to: ticks('2025-01-31T00:00:02') },
        { from: ticks('2025-02-01'), to: ticks('2025-01-31') },
        { to: ticks('1999-01-01') },
        { from: ticks('2099-01-01') },
      ]
      for (const window of empty) {
        const { range } = await located(store, window)
        assert.equal(range.count, 0)
        assert.deepEqual(await store.events.readRange(range), [])
      }
    })

    it('stamps behind the moment at which an open window was answered (P3)', async () => {
      const { clock } = testClock('2025-01-31T12:00:00.0010000')
      await using store = await withTenants(await factory.create({ clock }))
      await publish(store, [draft({ subject: 'a' })])
      await located(store, { from: ticks('2025-01-01') })
      // The clock has not moved on: without a floor this stamp would lie one tick behind the first one, before a poll
      // that noted its time more finely than in milliseconds.
      const [line] = await publish(store, [draft({ subject: 'b' })])
      const created = ticks(line?.stored?.createdDate ?? '')
      assert.ok(created >= ticks('2025-01-31T12:00:00.0020000'), `stamped ${created}`)
    })

    it('leaves stamps alone after a window that was closed already (P3)', async () => {
      const { clock } = testClock('2025-01-31T12:00:00.0010000')
      await using store = await withTenants(await factory.create({ clock }))
      await publish(store, [draft({ subject: 'a' }), draft({ subject: 'b' })])
      await located(store, { to: ticks('2025-01-31T12:00:00.0010001') })
      await located(store)
      const [line] = await publish(store, [draft({ subject: 'c' })])
      assert.equal(line?.stored?.createdDate, '2025-01-31T12:00:00.0010002')
    })
  })
}
