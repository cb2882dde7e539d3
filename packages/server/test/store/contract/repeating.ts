import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { batch, draft, feedKey, tenantB, uuid } from '../support/drafts.ts'
import { headOf, list, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

export function repeatingContract(factory: StoreFactory): void {
  describe('repeating', () => {
    it('answers the same id with the same content by its first result, and stores nothing (P6, D14)', async () => {
      await using store = await withTenants(await factory.create())
      const sent = draft({ subject: 'p', id: 'e' })
      const [first] = await publish(store, [sent])
      await publish(store, [draft({ subject: 'p', text: 'later' })])
      const [second] = await publish(store, [sent])
      assert.deepEqual(second, { ...first, status: 'repeated' })
      assert.equal((await headOf(store)).position, 2)
    })

    it('stores the rest of a batch that is partly repeated (D14)', async () => {
      await using store = await withTenants(await factory.create())
      const sent = ['a', 'b', 'c'].map((name) => draft({ subject: name, id: name }))
      await publish(store, sent.slice(0, 2))
      const lines = await publish(store, sent)
      assert.deepEqual(
        lines.map((line) => [line.status, line.stored?.sequenceNumber]),
        [
          ['repeated', 1],
          ['repeated', 2],
          ['appended', 3],
        ],
      )
    })

    it('refuses the id for other content, type, transaction or category (D14)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'p', id: 'e' })])
      for (const other of [
        { text: 'other' },
        { type: 'PropertyUpdated' },
        { transactionId: uuid('t') },
        { category: 'sales' as const },
      ]) {
        assert.deepEqual(await store.events.append([batch([draft({ subject: 'p', id: 'e', ...other })])]), [
          { kind: 'idConflict', index: 0, id: uuid('e') },
        ])
      }
      assert.equal((await headOf(store)).position, 1)
    })

    it('refuses one id for two events of a batch (D14)', async () => {
      await using store = await withTenants(await factory.create())
      const drafts = [draft({ subject: 'p', id: 'e' }), draft({ subject: 'q', id: 'e' })]
      assert.deepEqual(await store.events.append([batch(drafts)]), [
        { kind: 'idConflict', index: 1, id: uuid('e') },
      ])
      assert.equal((await headOf(store)).position, 0)
    })

    it('answers a repeat in a later batch of the same commit (P6)', async () => {
      await using store = await withTenants(await factory.create())
      const sent = batch([draft({ subject: 'p', id: 'e' })])
      const outcomes = await store.events.append([sent, sent])
      assert.deepEqual(
        outcomes.map((outcome) => (outcome.kind === 'stored' ? outcome.events[0]?.status : outcome.kind)),
        ['appended', 'repeated'],
      )
      assert.equal((await list(store)).length, 1)
    })

    it('makes one event of one request that is sent many times at the same time (P6)', async () => {
      await using store = await withTenants(await factory.create())
      const drafts = [draft({ subject: 'p', id: 'e' }), draft({ subject: 'q', id: 'f' })]
      const receipts = await Promise.all(Array.from({ length: 8 }, () => publish(store, drafts)))
      const stored = receipts.map((lines) => lines.map((line) => line.stored))
      for (const one of stored) assert.deepEqual(one, stored[0])
      assert.equal((await headOf(store)).position, 2)
    })

    it('repeats the derived event too (D14, D23)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'p', category: 'sales' })])
      const sent = draft({ subject: 'p', id: 'e', category: 'lettings' })
      const first = await publish(store, [sent])
      const second = await publish(store, [sent])
      assert.deepEqual(
        second,
        first.map((line) => ({ ...line, status: 'repeated' })),
      )
      assert.equal(first.length, 2)
    })

    it('does not allow the id of a derived event to be used (D14, D23)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'p', category: 'sales' })])
      const [derived] = await publish(store, [draft({ subject: 'p', id: 'e', category: 'lettings' })])
      const taken = { ...draft({ subject: 'q' }), id: derived?.id ?? '' }
      const [outcome] = await store.events.append([batch([taken])])
      assert.equal(outcome?.kind, 'idConflict')
    })

    it('lets another tenant use the same id (D14, P10)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'p', id: 'e', text: 'ours' })])
      const [line] = await publish(store, [draft({ subject: 'p', id: 'e', text: 'theirs' })], {
        key: feedKey(tenantB),
      })
      assert.equal(line?.status, 'appended')
    })
  })
}
