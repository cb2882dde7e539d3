import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { usageDaysKept, usageHoursKept, usagePerCommit } from '../../../src/usage/usage.ts'
import type { UsageCount } from '../../../src/usage/usage.ts'
import type { StoreFactory } from '../support/stores.ts'

const hour = 480_000
const day = hour / 24

function count(changes: Partial<UsageCount> = {}): UsageCount {
  return {
    keyId: 'key',
    hour,
    operation: 'listPropertyEvents',
    status: 200,
    requests: 1,
    bytes: 10,
    ...changes,
  }
}

export function usageContract(factory: StoreFactory): void {
  describe('usage', () => {
    it('sums exactly what several nodes add at the same time, by key, hour, operation and status (PROTOCOL §14)', async () => {
      await using store = await factory.create()
      const { usage } = store
      await Promise.all([
        ...Array.from({ length: 7 }, () => usage.add([count(), count({ keyId: 'other' })])),
        usage.add([count({ status: 304, bytes: 0 }), count({ operation: 'getPropertyEvent', status: 404 })]),
        usage.add([count({ hour: hour + 1, requests: 2 ** 40, bytes: 2 ** 50 })]),
      ])
      await usage.add([])
      assert.deepEqual(await usage.hours('key', hour, hour + 1), [
        count({ operation: 'getPropertyEvent', status: 404 }),
        count({ requests: 7, bytes: 70 }),
        count({ status: 304, bytes: 0 }),
        count({ hour: hour + 1, requests: 2 ** 40, bytes: 2 ** 50 }),
      ])
      assert.deepEqual(await usage.hours('other', 0, hour - 1), [])
      assert.deepEqual(await usage.hours('other', hour, hour), [
        count({ keyId: 'other', requests: 7, bytes: 70 }),
      ])
      assert.deepEqual(await usage.hours('nobody', hour, hour + 1), [])
      assert.deepEqual(await usage.hours('key', hour + 1, hour), [])
    })

    it('keeps hours for 48 hours and days for 400 days, and loses nothing on the way (PROTOCOL §14)', async () => {
      await using store = await factory.create()
      const { usage } = store
      // More than one step, over two days.
      const counts = Array.from({ length: usagePerCommit + 150 }, (_, index) => {
        return count({ hour: hour + (index % 30), status: 200 + Math.floor(index / 30), requests: index + 1 })
      })
      for (let from = 0; from < counts.length; from += usagePerCommit) {
        await usage.add(counts.slice(from, from + usagePerCommit))
      }
      const before = await usage.days('key', day, day + 1)
      const requestsOf = (found: readonly { readonly requests: number }[]) =>
        found.reduce((sum, { requests }) => sum + requests, 0)
      assert.equal(requestsOf(before), (counts.length * (counts.length + 1)) / 2)
      assert.equal(new Set(before.map((one) => one.day)).size, 2)

      // The first hours are too old, the last are not.
      const nowMs = (hour + 10 + usageHoursKept) * 3_600_000
      await Promise.all([usage.age(nowMs), usage.age(nowMs)])
      while ((await usage.age(nowMs)) > 0);
      assert.deepEqual(await usage.days('key', day, day + 1), before)
      const kept = await usage.hours('key', hour, hour + 29)
      assert.equal(Math.min(...kept.map((one) => one.hour)), hour + 10)

      // A node that was cut off adds to an hour that has gone into its day.
      await usage.add([count({ keyId: 'late', requests: 3 })])
      await usage.age(nowMs)
      await usage.add([count({ keyId: 'late', requests: 4 })])
      assert.equal(requestsOf(await usage.days('late', day, day)), 7)
      await usage.age(nowMs)
      assert.equal(requestsOf(await usage.days('late', day, day)), 7)

      const lastMs = (day + usageDaysKept + 1) * 86_400_000
      while ((await usage.age(lastMs)) > 0);
      const left = await usage.days('key', day, day + 1)
      assert.deepEqual(
        left,
        before.filter((one) => one.day === day + 1),
      )
      while ((await usage.age(lastMs + 86_400_000)) > 0);
      assert.deepEqual(await usage.days('key', day, day + 1), [])
    })

    it('goes with a backup (PROTOCOL §14)', async () => {
      await using store = await factory.create()
      await store.usage.add([count(), count({ hour: hour - 100 })])
      await store.usage.age((hour + 1) * 3_600_000)
      await using backup = await factory.copy(store)
      assert.deepEqual(
        await backup.usage.days('key', day - 10, day),
        await store.usage.days('key', day - 10, day),
      )
      assert.equal((await backup.usage.days('key', day - 10, day)).length, 2)
    })
  })
}
