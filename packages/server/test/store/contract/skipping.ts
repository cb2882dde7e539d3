import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { batch, draft, feedKey, removal, uuid } from '../support/drafts.ts'
import { headOf, list, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

const skip = { unchanged: 'skip' } as const

export function skippingContract(factory: StoreFactory): void {
  describe('skipping unchanged payloads', () => {
    it("stores nothing for a payload equal to its subject's latest, and shows that event (D14)", async () => {
      await using store = await withTenants(await factory.create())
      const [first] = await publish(store, [draft({ subject: 'p', text: 'a' })])
      const lines = await publish(
        store,
        [draft({ subject: 'p', text: 'a' }), draft({ subject: 'q' }), draft({ subject: 'q' })],
        skip,
      )
      assert.deepEqual(lines[0], { ...first, status: 'unchanged' })
      assert.deepEqual(
        lines.map((line) => [line.index, line.status, line.stored?.sequenceNumber]),
        [
          [0, 'unchanged', 1],
          [1, 'appended', 2],
          [2, 'unchanged', 2],
        ],
      )
      assert.equal((await headOf(store)).position, 2)
    })

    it('stores the same payload again when asked to store', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'p' }), draft({ subject: 'p' })])
      assert.equal((await headOf(store)).position, 2)
    })

    it('stores what changed: payload, category, type, or published again after a named removal (D12, D23)', async () => {
      await using store = await withTenants(await factory.create())
      const events = [
        { text: 'a' },
        { text: 'b' },
        { text: 'b', category: 'lettings' as const },
        { text: 'b', type: 'PropertyUnpublished' },
        { text: 'b' },
      ]
      for (const event of events) {
        const lines = await publish(store, [draft({ subject: 'p', ...event })], skip)
        assert.equal(lines.at(-1)?.status, 'appended', JSON.stringify(event))
      }
    })

    it('does not remove twice (D26)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'p' }), removal({ subject: 'p' })])
      const [line] = await publish(store, [removal({ subject: 'p' })], skip)
      assert.deepEqual([line?.status, line?.stored?.sequenceNumber], ['unchanged', 2])
      assert.equal((await headOf(store)).position, 2)
    })

    it('keeps the id of a skipped event taken: sent again it has no effect, with other content it is refused (D14)', async () => {
      await using store = await withTenants(await factory.create())
      const [first] = await publish(store, [draft({ subject: 'p', id: 'first', text: 'a' })])
      const skipped = draft({ subject: 'p', id: 'second', text: 'a' })
      await publish(store, [skipped], skip)
      await publish(store, [draft({ subject: 'p', text: 'b' })])
      assert.deepEqual(await publish(store, [skipped]), [{ ...first, status: 'repeated' }])
      const other = draft({ subject: 'p', id: 'second', text: 'c' })
      assert.deepEqual(await store.events.append([batch([other])]), [
        { kind: 'idConflict', index: 0, id: uuid('second') },
      ])
      assert.equal(await store.events.readEvent(feedKey(), uuid('second')), undefined)
      assert.equal(await store.events.positionOf(feedKey(), uuid('second')), 1)
      assert.equal((await list(store)).length, 2)
    })

    it('refuses the id of a skipped event for another event of the same batch (D14)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'p' })])
      const drafts = [draft({ subject: 'p', id: 'e' }), draft({ subject: 'q', id: 'e' })]
      assert.deepEqual(await store.events.append([batch(drafts, skip)]), [
        { kind: 'idConflict', index: 1, id: uuid('e') },
      ])
    })
  })
}
