import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { uuidV7 } from '@property-events/protocol'
import { countMissing, replayErasures } from '../../../src/privacy/erasure/replay-erasures.ts'
import { draft, feedKey, tenantA, uuid } from '../support/drafts.ts'
import { erase, erasureOf, subject, wholeText } from '../support/erasing.ts'
import { list, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

const canary = 'canary-4e19'

export function replayingContract(factory: StoreFactory): void {
  describe('erasing again what a restore has brought back', () => {
    it('leaves nothing in a restored backup of what was erased since, under the old receipts (D17)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [
        draft({ subject: 'p', text: canary }),
        draft({ subject: 'p', text: `${canary} 2` }),
        draft({ subject: 'q', text: canary, id: 'faulty' }),
        draft({ subject: 'r', text: 'stays' }),
      ])
      await using copy = await factory.copy(store)
      await publish(store, [draft({ subject: 'q', text: 'put right' }), draft({ subject: 's' })])
      const listed = [
        await erase(store, subject('p')),
        await erase(store, { kind: 'event', eventId: uuid('faulty') }),
        await erase(store, subject('s')),
      ]
      assert.ok((await wholeText(copy)).includes(canary))
      assert.equal(await countMissing(copy, listed), 2)
      await assert.rejects(replayErasures(copy, listed, 'cli:test'), 'before a new epoch')
      await copy.startEpoch(100, 'cli:test')
      const replay = await replayErasures(copy, listed, 'cli:test')
      const wanted = { begun: 2, widened: [uuid('q')], endedHolds: [], known: 0, absent: 1, moved: 0 }
      assert.deepEqual(replay, wanted)
      assert.equal((await wholeText(copy)).includes(canary), false)
      assert.ok((await wholeText(copy)).includes('stays'))
      assert.equal(await countMissing(copy, listed), 0)
      for (const { erasureId } of listed.slice(0, 2)) {
        const receipt = await copy.erasures.find(tenantA, erasureId)
        assert.deepEqual([receipt?.state, receipt?.reason], ['unreachable', 'replayed'])
      }
    })

    it('removes what is from before, and neither what is erased already nor what was published later (D17)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'p', text: 'old' }), draft({ subject: 'q', text: 'old' })])
      const [one, two, three] = [erasureOf(subject('p')), erasureOf(subject('q')), erasureOf(subject('r'))]
      const nowMs = Date.now()
      // A copy of a store that has carried it out has no receipt of it.
      await erase(store, subject('p'))
      await publish(store, [draft({ subject: 'p', text: 'new' })])
      const before = await list(store)
      const lines = [one, two, three].map((erasure) => ({ ...erasure, begunMs: nowMs - 60_000 }))
      assert.equal(await countMissing(store, lines), 0, 'all of it is younger than the erasure')
      const later = lines.map((line) => ({ ...line, begunMs: nowMs }))
      assert.equal(
        await countMissing(store, [{ ...one, key: feedKey(uuid('elsewhere')), begunMs: nowMs }]),
        0,
        'of tenants that are not here',
      )
      assert.equal(await countMissing(store, later), 2, 'where stamps leave it open, it is erased')
      const holdId = uuidV7(nowMs)
      const hold = {
        holdId,
        key: two.key,
        subjectId: uuid('q'),
        ground: 'complaint',
        caseRef: undefined,
      } as const
      await store.holds.add({ ...hold, untilMs: nowMs + 86_400_000, actor: 'cli:test' })
      const youngest = later.filter((line) => line !== later[0])
      const replay = await replayErasures(store, youngest, 'cli:test')
      assert.deepEqual(replay, { begun: 1, widened: [], endedHolds: [holdId], known: 0, absent: 1, moved: 0 })
      const after = await list(store)
      assert.deepEqual(after.slice(2, before.length), before.slice(2), 'what is new is as it was')
      assert.ok(after.filter(({ payload }) => payload.includes('old')).length === 0)
      const again = await replayErasures(store, youngest, 'cli:test')
      assert.deepEqual(again, { begun: 0, widened: [], endedHolds: [], known: 1, absent: 1, moved: 0 })
      const receipt = await store.erasures.find(tenantA, two.erasureId)
      assert.deepEqual([receipt?.state, receipt?.reason], ['unreachable', 'replayed'])
    })

    it('distinguishes old from new in every time zone of the machine (D17)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'p', text: 'old' })])
      const line = erasureOf(subject('p'))
      const zone = process.env['TZ']
      try {
        for (const name of ['America/New_York', 'Asia/Tokyo', 'UTC']) {
          process.env['TZ'] = name
          const nowMs = Date.now()
          assert.equal(await countMissing(store, [{ ...line, begunMs: nowMs + 1_000 }]), 1, name)
          assert.equal(await countMissing(store, [{ ...line, begunMs: nowMs - 60_000 }]), 0, name)
        }
      } finally {
        if (zone === undefined) delete process.env['TZ']
        else process.env['TZ'] = zone
      }
    })

    it('does not wait for tenants that are moved to another store (D17)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'p', text: canary })])
      const { erasureId, ...request } = erasureOf(subject('p'))
      await store.erasures.begin({ ...request, erasureId })
      assert.equal(await store.moves.change(tenantA, 'open', 'leaving', 'cli:test'), 'done')
      const replay = replayErasures(store, [], 'cli:test').then(() => 'done')
      const outcome = await Promise.race([replay, delay(10_000, 'still waiting', { ref: false })])
      assert.equal(outcome, 'done')
      assert.equal((await store.erasures.find(tenantA, erasureId))?.state, 'reducing')
      await store.moves.change(tenantA, 'leaving', 'open', 'cli:test')
      await replayErasures(store, [], 'cli:test')
      assert.equal((await store.erasures.find(tenantA, erasureId))?.state, 'unreachable')
    })
  })
}
