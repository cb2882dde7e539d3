import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { forgetSkippedIds, skippedIdsPerStep } from '../../src/events/skipped-ids.ts'
import { draft, feedKey, uuid } from '../store/support/drafts.ts'
import { publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { testClock } from '../store/support/test-clock.ts'
import { temporaryStore } from '../support/temporary-store.ts'
import { until } from '../support/until.ts'

const skip = { unchanged: 'skip' } as const

describe('forgetting ids while the service runs', () => {
  it('removes all that are old enough, by itself, and keeps doing so (PROTOCOL §4.6)', async () => {
    const { clock, set } = testClock('2026-01-01')
    await using store = await withTenants(await temporaryStore({ clock }))
    await publish(store, [draft({ subject: 'p' })])
    const many = Array.from({ length: skippedIdsPerStep + 1 }, (_, n) =>
      draft({ subject: 'p', id: `skipped ${n}` }),
    )
    await publish(store, many, skip)
    const isTaken = async (id: string): Promise<boolean> =>
      (await store.events.positionOf(feedKey(), uuid(id))) !== undefined
    const forgetting = forgetSkippedIds(store, 1)
    try {
      set('2026-01-30')
      await publish(store, [draft({ subject: 'p', id: 'younger' })], skip)
      set('2026-02-01')
      for (const { id } of many) {
        await until(async () => (await store.events.positionOf(feedKey(), id)) === undefined)
      }
      assert.ok(await isTaken('younger'))
      set('2026-03-03')
      await until(async () => !(await isTaken('younger')))
    } finally {
      await forgetting.close()
    }
  })

  it('outlives a store that fails for a while, and ends on request', async () => {
    let asked = 0
    const forgetting = forgetSkippedIds(
      {
        forgetSkippedIds: async () => {
          asked += 1
          throw new Error('no')
        },
      },
      1,
    )
    await until(() => asked > 2)
    await forgetting.close()
    const before = asked
    // Twenty times as long as until the next look, were there one.
    await delay(20)
    assert.equal(asked, before)
  })
})
