import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { unreported } from '../../../src/runtime/background-task.ts'
import { waitForHead } from '../../../src/reading/min-sequence.ts'
import { createLiveTail } from '../../../src/live/tail.ts'
import type { FeedKey } from '../../../src/events/feed-key.ts'
import { batch, draft, feedKey, removal, tenantB, uuid } from '../support/drafts.ts'
import { headOf, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

export function watchingContract(factory: StoreFactory): void {
  describe('watching', () => {
    it('reports every feed that was appended to, before the acknowledgement is acted on (P8)', async () => {
      await using store = await withTenants(await factory.create())
      const told: (FeedKey | undefined)[] = []
      const stop = store.events.watch((key) => told.push(key))
      await publish(store, [draft({ subject: 'p' }), draft({ subject: 'q' })])
      await publish(store, [draft({ subject: 'p' })], { key: feedKey(tenantB) })
      const named = new Set(told.flatMap((key) => (key === undefined ? [] : [key.tenantId])))
      assert.deepEqual([...named], [feedKey().tenantId, tenantB])
      stop()
    })

    it('is silent after it was stopped, and about what stored nothing', async () => {
      await using store = await withTenants(await factory.create())
      const [kept, stopped] = [[], []] as [unknown[], unknown[]]
      const stopOne = store.events.watch((key) => stopped.push(key))
      const stopOther = store.events.watch((key) => key !== undefined && kept.push(key))
      stopOne()
      const before = stopped.length
      await store.events.append([batch([removal({ subject: 'nobody' })])])
      assert.equal(kept.length, 0)
      await publish(store, [draft({ subject: 'p' })])
      assert.ok(kept.length > 0)
      assert.equal(stopped.length, before)
      stopOther()
    })

    it('lets a read wait for a number until it exists or the time is over (P8)', async () => {
      await using store = await withTenants(await factory.create({ startSequence: 10 }))
      const parts = {
        events: store.events,
        tail: createLiveTail({ events: store.events, report: unreported }),
      }
      const wait = (key: FeedKey, number: number, timeoutMs: number) =>
        waitForHead(parts, key, number, timeoutMs, new AbortController().signal)
      const waiting = wait(feedKey(), 12, 10_000)
      await publish(store, [draft({ subject: 'p' })])
      assert.equal((await wait(feedKey(), 11, 0)).kind, 'reached')
      assert.equal((await wait(feedKey(), 12, 20)).kind, 'behind')
      await publish(store, [draft({ subject: 'q' })])
      assert.deepEqual(await waiting, { kind: 'reached', head: await headOf(store) })
      const nobody = feedKey(uuid('no such tenant'))
      assert.equal((await wait(nobody, 1, 1_000)).kind, 'unknownFeed')
    })
  })
}
