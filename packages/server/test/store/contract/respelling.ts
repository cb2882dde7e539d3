import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { batch, draft, removal, uuid } from '../support/drafts.ts'
import { headOf, list, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

const skip = { unchanged: 'skip' } as const

/** One payload of the subject in three spellings, and another one. */
function spellings(subject: string): readonly [string, string, string, string] {
  const ref = uuid(subject)
  return [
    `{"agent_ref":"${ref}","published":true,"price":450000,"text":"Tŷ – £5/m 🏡","rooms":[1.50,2]}`,
    `{"rooms":[1.5,2e0],"text":"T\\u0177 \\u2013 \\u00a35\\/m \\ud83c\\udfe1","price":4.5e5,"published":true,"agent_ref":"${ref}"}`,
    `{ "price" : 450000.00, "agent_ref":"${ref}","text":"Tŷ – £5\\/m 🏡","published":true,"rooms":[15e-1,2.0] }`,
    `{"agent_ref":"${ref}","published":true,"price":450000,"text":"Tŷ – £5/m 🏡","rooms":[2,1.50]}`,
  ]
}

export function respellingContract(factory: StoreFactory): void {
  describe('the same by value', () => {
    it('skips a payload in another spelling, and keeps the bytes of the first (D14)', async () => {
      await using store = await withTenants(await factory.create())
      const [first, second, third, other] = spellings('p')
      const [stored] = await publish(store, [draft({ subject: 'p', json: first })], skip)
      const lines = await publish(
        store,
        [second, third, first].map((json) => draft({ subject: 'p', json })),
        skip,
      )
      for (const line of lines) assert.deepEqual([line.status, line.stored], ['unchanged', stored?.stored])
      assert.deepEqual(
        (await list(store)).map(({ payload }) => payload),
        [first],
      )
      const [changed] = await publish(store, [draft({ subject: 'p', json: other })], skip)
      assert.equal(changed?.status, 'appended')
    })

    it('compares with what the same batch, and one before it in the commit, has stored (D14)', async () => {
      await using store = await withTenants(await factory.create())
      const [p, q] = [spellings('p'), spellings('q')]
      const drafts = [p[0], p[1], p[3], p[2]].map((json) => draft({ subject: 'p', json }))
      const outcomes = await store.events.append([
        batch([draft({ subject: 'q', json: q[0], id: 'q' })], skip),
        batch(drafts, skip),
        batch([draft({ subject: 'q', json: q[2] })], skip),
        batch([draft({ subject: 'q', json: q[1], id: 'q' })]),
      ])
      assert.deepEqual(
        outcomes.map((one) => (one.kind === 'stored' ? one.events.map(({ status }) => status) : one.kind)),
        [['appended'], ['appended', 'unchanged', 'appended', 'appended'], ['unchanged'], ['repeated']],
      )
      assert.equal((await headOf(store)).position, 4)
    })

    it('takes an id with the content in another spelling for a repeat, one at a time and among others (P6, D14)', async () => {
      await using store = await withTenants(await factory.create())
      const [first, second, third, other] = spellings('p')
      const words = { subject: 'p', id: 'e', type: 'PropertyUpdated', category: 'lettings' as const }
      const [stored] = await publish(store, [draft({ ...words, json: first })])
      for (const json of [second, third, first]) {
        const [line, more] = await publish(store, [draft({ ...words, json }), draft({ subject: json })])
        assert.deepEqual(line, { ...stored, status: 'repeated' })
        assert.equal(more?.status, 'appended')
        assert.deepEqual((await publish(store, [draft({ ...words, json })]))[0], {
          ...stored,
          status: 'repeated',
        })
      }
      for (const changed of [
        { json: other },
        { json: second, type: 'PropertyPublished' },
        { json: second, category: 'sales' as const },
        { json: second, transactionId: uuid('t') },
      ]) {
        assert.deepEqual(await store.events.append([batch([draft({ ...words, ...changed })])]), [
          { kind: 'idConflict', index: 0, id: uuid('e') },
        ])
      }
    })

    it('repeats the id of a skipped event in any spelling, and in no other content (D14)', async () => {
      await using store = await withTenants(await factory.create())
      const [first, second, third, other] = spellings('p')
      await publish(store, [draft({ subject: 'p', json: first })])
      const words = { subject: 'p', id: 'e' }
      assert.equal((await publish(store, [draft({ ...words, json: second })], skip))[0]?.status, 'unchanged')
      for (const json of [second, third, first]) {
        for (const unchanged of ['skip', 'store'] as const) {
          const [line] = await publish(store, [draft({ ...words, json })], { unchanged })
          assert.deepEqual([line?.status, line?.stored?.sequenceNumber], ['repeated', 1])
        }
      }
      const [outcome] = await store.events.append([batch([draft({ ...words, json: other })])])
      assert.equal(outcome?.kind, 'idConflict')
      assert.equal((await headOf(store)).position, 1)
    })

    it('previews what it would do (PROTOCOL §4)', async () => {
      await using store = await withTenants(await factory.create())
      const [first, second, , other] = spellings('p')
      await publish(store, [draft({ subject: 'p', id: 'e', json: first })])
      const sent = [draft({ subject: 'p', id: 'e', json: second }), draft({ subject: 'p', json: second })]
      const outcome = await store.events.preview(batch([...sent, draft({ subject: 'p', json: other })], skip))
      assert.ok(outcome.kind === 'stored')
      assert.deepEqual(
        outcome.events.map(({ status }) => status),
        ['repeated', 'unchanged', 'appended'],
      )
    })

    it('stores what was removed and comes back in another spelling (D12, D26)', async () => {
      await using store = await withTenants(await factory.create())
      const [first, second] = spellings('p')
      await publish(store, [draft({ subject: 'p', json: first }), removal({ subject: 'p' })])
      const [line] = await publish(store, [draft({ subject: 'p', json: second })], skip)
      assert.deepEqual([line?.status, line?.eventTypeShortCode], ['appended', 'PropertyPublished'])
    })
  })
}
