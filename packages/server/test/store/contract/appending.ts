import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { batch, draft, feedKey, removal, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { headOf, list, numbers, publish, receipt } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

export function appendingContract(factory: StoreFactory): void {
  describe('appending', () => {
    it('stores an event with exactly the members of the contract (spec §2.1)', async () => {
      await using store = await withTenants(await factory.create())
      const sent = draft({ subject: 'p', id: 'e', text: 'a "quoted" £ € 🏡 \u2028 text', category: 'sales' })
      const [line] = await publish(store, [sent])
      const [event] = await list(store)
      assert.deepEqual(event, {
        tenantId: tenantA,
        sequenceNumber: 1,
        eventType: 2,
        eventTypeShortCode: 'PropertyPublished',
        payload: sent.content.kind === 'payload' ? sent.content.text : '',
        transactionId: uuid('p'),
        id: uuid('e'),
        createdDate: line?.stored?.createdDate,
      })
      assert.match(event.createdDate, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}$/)
      assert.deepEqual(line, {
        index: 0,
        status: 'appended',
        id: uuid('e'),
        eventType: 2,
        eventTypeShortCode: 'PropertyPublished',
        transactionId: uuid('p'),
        stored: { sequenceNumber: 1, createdDate: event.createdDate },
      })
    })

    it('numbers from 1 without holes, each batch in its own order, batches in theirs (P1)', async () => {
      await using store = await withTenants(await factory.create())
      const first = Array.from({ length: 3 }, (_, n) => draft({ subject: `a${n}` }))
      const second = Array.from({ length: 2 }, (_, n) => draft({ subject: `b${n}` }))
      const outcomes = await store.events.append([batch(first), batch(second)])
      assert.deepEqual(
        outcomes.map((outcome) => receipt(outcome).map((line) => line.stored?.sequenceNumber)),
        [
          [1, 2, 3],
          [4, 5],
        ],
      )
      const events = await list(store)
      assert.deepEqual(numbers(events), [1, 2, 3, 4, 5])
      assert.deepEqual(
        events.map((event) => event.id),
        [...first, ...second].map((sent) => sent.id),
      )
    })

    it('performs appends to a feed in the order of the calls, with others beside them, with locks or without (P1)', async () => {
      await using store = await withTenants(await factory.create())
      const keys = [feedKey(tenantA), feedKey(tenantB), feedKey(tenantA, 'contact')]
      const sent = Array.from({ length: 24 }, (_, n) => {
        const own = keys[n % 3] ?? feedKey()
        const drafts = [draft({ subject: `p${n}` })]
        const shared = n % 5 === 0 ? [batch([draft({ subject: `q${n}` })], { key: feedKey(tenantB) })] : []
        return [batch(drafts, { key: own }), ...shared]
      })
      await Promise.all(
        sent.map((batches, n) => store.events.append(batches, n % 2 === 0 ? 5_000 : undefined)),
      )
      for (const key of keys) {
        const ids = sent
          .flat()
          .filter((one) => one.key.tenantId === key.tenantId && one.key.feed === key.feed)
          .flatMap(({ drafts }) => drafts.map(({ id }) => id))
        const events = await list(store, { key })
        assert.deepEqual(
          events.map(({ id }) => id),
          ids,
        )
      }
    })

    it('lets time rise with the number, within a batch and across batches (P3)', async () => {
      await using store = await withTenants(await factory.create())
      for (let n = 0; n < 5; n += 1) {
        await publish(store, [draft({ subject: `a${n}` }), draft({ subject: `b${n}` })])
      }
      const times = (await list(store)).map((event) => event.createdDate)
      assert.deepEqual(times, [...new Set(times)].toSorted())
    })

    it('numbers concurrent requests one after another, each a run without gaps (P1, P6)', async () => {
      await using store = await withTenants(await factory.create())
      const outcomes = await Promise.all(
        Array.from({ length: 24 }, (_, n) =>
          publish(
            store,
            Array.from({ length: (n % 3) + 1 }, (_, m) => draft({ subject: `${n} ${m}` })),
          ),
        ),
      )
      const given = outcomes.map((lines) => lines.map((line) => line.stored?.sequenceNumber ?? 0))
      for (const run of given) {
        assert.deepEqual(
          run,
          run.map((_, index) => (run[0] ?? 0) + index),
        )
      }
      const all = given.flat().toSorted((a, b) => a - b)
      assert.deepEqual(
        all,
        all.map((_, index) => index + 1),
      )
      assert.deepEqual(numbers(await list(store)), all)
    })

    it('numbers a request behind every request acknowledged before it began (P1)', async () => {
      await using store = await withTenants(await factory.create())
      let acknowledged = 0
      const publisher = async (name: string): Promise<void> => {
        for (let n = 0; n < 10; n += 1) {
          const before = acknowledged
          const [line] = await publish(store, [draft({ subject: `${name} ${n}` })])
          const number = line?.stored?.sequenceNumber ?? 0
          assert.ok(number > before, `${number} is behind ${before}`)
          acknowledged = Math.max(acknowledged, number)
        }
      }
      await Promise.all(['a', 'b', 'c', 'd'].map(publisher))
    })

    it('shows an event to every read after its acknowledgement (P8)', async () => {
      await using store = await withTenants(await factory.create())
      for (let n = 1; n <= 5; n += 1) {
        const sent = draft({ subject: 'p', text: String(n) })
        await publish(store, [sent])
        assert.equal((await headOf(store)).sequenceNumber, n)
        assert.equal((await store.events.readEvent(feedKey(), sent.id))?.sequenceNumber, n)
      }
    })

    it('keeps tenants and feeds apart: each counts for itself (P10)', async () => {
      await using store = await withTenants(await factory.create())
      const contact = feedKey(tenantA, 'contact')
      await store.events.append([
        batch([draft({ subject: 'p' }), draft({ subject: 'q' })]),
        batch([draft({ subject: 'p' })], { key: feedKey(tenantB) }),
        batch([draft({ subject: 'p' })], { key: contact }),
      ])
      assert.equal((await headOf(store)).position, 2)
      assert.equal((await headOf(store, feedKey(tenantB))).position, 1)
      assert.equal((await headOf(store, feedKey(tenantB, 'contact'))).position, 0)
      const [event] = await list(store, { key: contact })
      assert.deepEqual([event?.eventTypeShortCode, event?.eventType], ['ContactCreated', 0])
    })

    it('refuses one batch alone, and leaves no trace of it (P6)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'p', id: 'taken', text: 'first' })])
      const clash = draft({ subject: 'p', id: 'taken', text: 'other' })
      const outcomes = await store.events.append([
        batch([draft({ subject: 'a' })]),
        batch([draft({ subject: 'b', id: 'never' }), clash]),
        batch([draft({ subject: 'c' }), removal({ subject: 'nobody' })]),
        batch([draft({ subject: 'd' })], { key: feedKey(uuid('no such tenant')) }),
        batch([draft({ subject: 'e' })]),
      ])
      assert.deepEqual(outcomes.slice(1, 4), [
        { kind: 'idConflict', index: 1, id: uuid('taken') },
        { kind: 'unknownSubject', index: 1, subjectId: uuid('nobody') },
        { kind: 'unknownFeed' },
      ])
      assert.deepEqual(
        (await list(store)).map((event) => event.transactionId),
        ['p', 'a', 'e'].map(uuid),
      )
      assert.equal(await store.events.readEvent(feedKey(), uuid('never')), undefined)
      assert.equal(
        receipt((await store.events.append([batch([draft({ subject: 'b', id: 'never' })])]))[0]).length,
        1,
      )
    })

    it('keeps payloads of 256 KiB, byte for byte (spec §2.1, D22)', async () => {
      await using store = await withTenants(await factory.create())
      // Quotes and backslashes are escaped twice on their way: in the payload, and in the event around it.
      const text = '"\\£🏡'.repeat(262_144 / 10 - 20)
      const sent = [0, 1, 2].map((n) => draft({ subject: `p${n}`, text: text + n }))
      await publish(store, sent)
      const events = await list(store)
      for (const [index, event] of events.entries()) {
        const content = sent[index]?.content
        assert.ok(content?.kind === 'payload' && event.payload === content.text, 'the same text')
        assert.ok(Buffer.byteLength(event.payload) > 262_000, 'as long as a payload may be')
      }
    })

    it('stores nothing for an empty batch, and for no batches', async () => {
      await using store = await withTenants(await factory.create())
      assert.deepEqual(await store.events.append([batch([])]), [{ kind: 'stored', events: [] }])
      assert.deepEqual(await store.events.append([]), [])
      assert.equal((await headOf(store)).position, 0)
    })
  })
}
