import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { batch, draft, feedKey, removal, uuid } from '../support/drafts.ts'
import { headOf, publish, receipt } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

export function previewContract(factory: StoreFactory): void {
  describe('previewing', () => {
    it('answers as append would, without numbers and times, and stores nothing (P2)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'p', id: 'old', category: 'sales', text: 'a' })])
      const asked = batch(
        [
          draft({ subject: 'p', id: 'old', category: 'sales', text: 'a' }),
          draft({ subject: 'p', id: 'same', text: 'a' }),
          draft({ subject: 'p', id: 'move', category: 'lettings' }),
          removal({ subject: 'p', id: 'gone' }),
        ],
        { unchanged: 'skip' },
      )
      const before = await headOf(store)
      const preview = receipt(await store.events.preview(asked))
      assert.deepEqual(await headOf(store), before)
      const lines = receipt((await store.events.append([asked]))[0])
      assert.deepEqual(
        preview.map(({ stored, ...line }) => [line, stored?.sequenceNumber]),
        lines.map(({ stored, ...line }) => [
          line,
          line.status === 'repeated' || line.status === 'unchanged' ? stored?.sequenceNumber : undefined,
        ]),
      )
    })

    it('reserves no id: a previewed event can be stored with other content (D14)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'p' })])
      await store.events.preview(batch([draft({ subject: 'q', id: 'e', text: 'a' })]))
      await store.events.preview(batch([draft({ subject: 'p', id: 'f' })], { unchanged: 'skip' }))
      const lines = await publish(store, [
        draft({ subject: 'q', id: 'e', text: 'b' }),
        draft({ subject: 'q', id: 'f', text: 'c' }),
      ])
      assert.deepEqual(
        lines.map((line) => line.status),
        ['appended', 'appended'],
      )
    })

    it('refuses what append would refuse', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'p', id: 'e' })])
      assert.deepEqual(await store.events.preview(batch([draft({ subject: 'q', id: 'e' })])), {
        kind: 'idConflict',
        index: 0,
        id: uuid('e'),
      })
      assert.deepEqual(await store.events.preview(batch([removal({ subject: 'x' })])), {
        kind: 'unknownSubject',
        index: 0,
        subjectId: uuid('x'),
      })
      const nowhere = batch([draft({ subject: 'p' })], { key: feedKey(uuid('nobody')) })
      assert.deepEqual(await store.events.preview(nowhere), { kind: 'unknownFeed' })
    })
  })
}
