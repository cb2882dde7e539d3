import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { batch, draft, feedKey, removal, tenantA, uuid } from '../support/drafts.ts'
import type { DraftWords } from '../support/drafts.ts'
import { codes, list, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { uuidV5 } from '../../../src/runtime/hashes.ts'

/** What one subject's events become, one request each, and all in one. */
const histories: readonly { says: string; events: readonly Omit<DraftWords, 'subject'>[]; codes: string }[] =
  [
    { says: 'published first', events: [{}], codes: 'Published' },
    { says: 'never published', events: [{ published: false }], codes: 'Unpublished' },
    { says: 'published, published', events: [{}, { text: 'b' }], codes: 'Published Updated' },
    {
      says: 'published, not, published',
      events: [{}, { published: false }, { text: 'b' }],
      codes: 'Published Unpublished Published',
    },
    {
      says: 'not, not',
      events: [{ published: false }, { published: false }],
      codes: 'Unpublished Unpublished',
    },
    {
      says: 'the type named decides what comes after',
      events: [{ type: 'PropertyUnpublished' }, { text: 'b' }, { type: 'PropertyPublished', text: 'c' }, {}],
      codes: 'Unpublished Published Published Updated',
    },
    {
      says: 'without a word in the payload the state stays',
      events: [{}, { published: undefined, type: 'PropertyUpdated' }, { text: 'b' }],
      codes: 'Published Updated Updated',
    },
  ]

export function derivingContract(factory: StoreFactory): void {
  describe('deriving types and categories', () => {
    for (const { says, events, codes: expected } of histories) {
      it(`derives the type from the previous state: ${says} (D12)`, async () => {
        await using store = await withTenants(await factory.create())
        const wanted = expected.split(' ').map((word) => `Property${word}`)
        for (const event of events) await publish(store, [draft({ subject: 'one by one', ...event })])
        assert.deepEqual(codes(await list(store)), wanted)
        await publish(
          store,
          events.map((event) => draft({ subject: 'in one batch', ...event })),
        )
        assert.deepEqual(codes(await list(store)).slice(wanted.length), wanted)
      })
    }

    it('never finds "not published yet" twice, however many publish at the same time (D12)', async () => {
      await using store = await withTenants(await factory.create())
      await Promise.all(
        Array.from({ length: 12 }, (_, n) => publish(store, [draft({ subject: 'p', text: String(n) })])),
      )
      const given = codes(await list(store))
      assert.deepEqual(given, ['PropertyPublished', ...Array.from({ length: 11 }, () => 'PropertyUpdated')])
    })

    it('derives contact types: created, updated, erased by removal (D12)', async () => {
      await using store = await withTenants(await factory.create())
      const key = feedKey(tenantA, 'contact')
      const words = { subject: 'c', published: undefined }
      await publish(store, [draft(words), draft({ ...words, text: 'b' }), removal(words), draft(words)], {
        key,
      })
      assert.deepEqual(codes(await list(store, { key })), [
        'ContactCreated',
        'ContactUpdated',
        'ContactErased',
        'ContactCreated',
      ])
    })

    it("numbers types by the store's own catalogue (D12)", async () => {
      await using store = await withTenants(await factory.create({ catalogue: catalogues['published-0'] }))
      await publish(store, [
        draft({ subject: 'p' }),
        draft({ subject: 'p', text: 'b' }),
        removal({ subject: 'p' }),
      ])
      assert.deepEqual(
        (await list(store)).map((event) => event.eventType),
        [0, 0, 1],
      )
    })

    it('takes the category as sent, else from the payload, else as before, else sales (D23)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'sent', category: 'lettings' })])
      await publish(store, [draft({ subject: 'sent over implied', category: 'sales', implied: 'lettings' })])
      await publish(store, [draft({ subject: 'implied', implied: 'lettings' })])
      await publish(store, [draft({ subject: 'implied', text: 'still' })])
      await publish(store, [draft({ subject: 'nothing' })])
      const subjects = async (view: 'sales' | 'lettings') =>
        (await list(store, { view })).map((event) => event.transactionId)
      assert.deepEqual(await subjects('lettings'), ['sent', 'implied', 'implied'].map(uuid))
      assert.deepEqual(await subjects('sales'), ['sent over implied', 'nothing'].map(uuid))
    })

    it('never gives two events one id, although a publisher sends the id that a departure will have (D14, D23)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'Tŷ Gwyn', category: 'sales' })])
      const moving = draft({
        subject: 'Tŷ Gwyn',
        id: 'moving',
        category: 'lettings',
        text: 'Ar osod, £950 🏡',
      })
      const taking = { ...draft({ subject: 'q', id: 'taking' }), id: uuidV5(moving.id, 'derived') }
      for (const [drafts, index] of [
        [[moving, taking], 1],
        [[taking, moving], 1],
        [[moving, draft({ subject: 'r' }), taking], 2],
      ] as const) {
        const refusal = [{ kind: 'idConflict', index, id: drafts[index]?.id }]
        assert.deepEqual(await store.events.append([batch(drafts)]), refusal)
        assert.deepEqual(await store.events.preview(batch(drafts)), refusal[0])
        assert.equal((await list(store)).length, 1, 'a batch is stored whole or not at all')
      }
      // In one commit, and after it.
      const outcomes = await store.events.append([batch([moving]), batch([taking])])
      assert.deepEqual(
        outcomes.map(({ kind }) => kind),
        ['stored', 'idConflict'],
      )
      const [later] = await store.events.append([batch([taking])])
      assert.equal(later?.kind, 'idConflict')
      const ids = (await list(store)).map(({ id }) => id)
      assert.deepEqual(ids.slice(1), [taking.id, moving.id])
    })

    it('first tells readers of the old category that a published subject leaves it (D23)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'p', category: 'sales', text: 'house' })])
      const lines = await publish(store, [
        draft({ subject: 'p', id: 'e', category: 'lettings', text: 'let' }),
      ])
      assert.deepEqual(
        lines.map((line) => [line.index, line.status, line.eventTypeShortCode]),
        [
          [0, 'derived', 'PropertyUnpublished'],
          [0, 'appended', 'PropertyPublished'],
        ],
      )
      // The same for ever, so that a repeat finds it.
      assert.equal(lines[0]?.id, uuidV5(uuid('e'), 'derived'))
      const sales = await list(store, { view: 'sales' })
      assert.deepEqual(codes(sales), ['PropertyPublished', 'PropertyUnpublished'])
      const goodbye: unknown = JSON.parse(sales[1]?.payload ?? '')
      assert.deepEqual(goodbye, { agent_ref: uuid('p'), published: false, text: 'house' })
      assert.deepEqual(codes(await list(store, { view: 'lettings' })), ['PropertyPublished'])
    })

    it('does the same for a branch, and in one batch (D23)', async () => {
      await using store = await withTenants(await factory.create())
      const lines = await publish(store, [
        draft({ subject: 'p', branch: 'north' }),
        draft({ subject: 'p', branch: 'south', text: 'b' }),
        draft({ subject: 'p', branch: 'south', text: 'c' }),
      ])
      assert.deepEqual(
        lines.map((line) => [line.index, line.status, line.eventTypeShortCode]),
        [
          [0, 'appended', 'PropertyPublished'],
          [1, 'derived', 'PropertyUnpublished'],
          [1, 'appended', 'PropertyPublished'],
          [2, 'appended', 'PropertyUpdated'],
        ],
      )
    })

    it('keeps a subject published that moves under a named type, without a word in its payload (D12, D23)', async () => {
      await using store = await withTenants(await factory.create())
      const named = { type: 'PropertyUpdated', published: undefined }
      await publish(store, [draft({ subject: 'p', category: 'sales' })])
      await publish(store, [draft({ subject: 'p', category: 'lettings', ...named })])
      await publish(store, [draft({ subject: 'p', text: 'b' })])
      assert.deepEqual(codes(await list(store, { view: 'lettings' })), ['PropertyUpdated', 'PropertyUpdated'])
    })

    it('derives nothing for a subject that was not published, or that gets its first branch (D23)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'p', published: false, category: 'sales' })])
      await publish(store, [draft({ subject: 'p', category: 'lettings' })])
      await publish(store, [draft({ subject: 'q' })])
      await publish(store, [draft({ subject: 'q', branch: 'north' })])
      assert.equal((await list(store)).length, 4)
    })
  })
}
