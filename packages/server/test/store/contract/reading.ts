import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { freeBytes } from '../../../src/runtime/memory/free-bytes.ts'
import { epochWeight } from '../../../src/events/epochs.ts'
import { feedName } from '../../../src/events/feed-key.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { draft, feedKey, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { headOf, list, located, numbers, parseEvent, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

export function readingContract(factory: StoreFactory): void {
  describe('reading', () => {
    it('knows an empty feed: position 0, nothing to list (D3)', async () => {
      await using store = await withTenants(await factory.create({ startSequence: 40 }))
      const head = await headOf(store)
      assert.deepEqual({ ...head, epoch: '' }, emptyHead(40))
      assert.match(head.epoch, /^[0-9A-Za-z]{10}$/)
      const { range } = await located(store)
      assert.deepEqual([range.first, range.count], [1, 0])
      assert.deepEqual(await store.events.readRange(range), [])
      assert.deepEqual(await store.events.readRange({ ...range, view: 'lettings' }), [])
    })

    it('knows no feed of a tenant that is not there (P10)', async () => {
      await using store = await withTenants(await factory.create())
      const key = feedKey(uuid('nobody'))
      const query = { key, view: 'all' as const }
      assert.equal(await store.events.head(key), undefined)
      assert.equal(await store.events.locate(query), undefined)
      assert.equal(await store.events.locate({ ...query, from: 0n }), undefined)
      assert.equal(await store.events.readEvent(key, uuid('e')), undefined)
      assert.deepEqual(await store.events.readRange({ ...query, first: 1, count: 5 }), [])
      assert.deepEqual(await store.events.readAfter({ ...query, after: 0, limit: 5, latestOnly: false }), [])
    })

    it('gives every feed a version, with a count that rises with every change, and gives many heads at once (PROTOCOL §11)', async () => {
      await using store = await withTenants(await factory.create())
      const keys = [tenantA, tenantB].flatMap((id) => [feedKey(id), feedKey(id, 'contact')])
      const versions = async () =>
        new Map((await store.events.versions()).map((version) => [feedName(version.key), version]))
      const before = await versions()
      assert.deepEqual([...before.keys()].toSorted(), keys.map(feedName).toSorted())
      await publish(store, [draft({ subject: 'a' }), draft({ subject: 'b' })])
      const after = await versions()
      const moved = [...after].filter(([name, { count }]) => count !== before.get(name)?.count)
      assert.deepEqual(
        moved.map(([name]) => name),
        [feedName(feedKey())],
      )
      assert.equal(after.get(feedName(feedKey()))?.count, (before.get(feedName(feedKey()))?.count ?? 0) + 2)
      await store.startEpoch(100, 'service', [feedKey()])
      const began = (await versions()).get(feedName(feedKey()))
      assert.notEqual(began?.epoch, after.get(feedName(feedKey()))?.epoch)
      assert.ok((began?.count ?? 0) > (after.get(feedName(feedKey()))?.count ?? 0))
      const nobody = feedKey(uuid('nobody'))
      const ofAll = await store.events.versions()
      assert.deepEqual(
        await store.events.versions([feedKey(), nobody]),
        ofAll.filter(({ key }) => feedName(key) === feedName(feedKey())),
      )
      assert.deepEqual(await store.events.versions([]), [])
      assert.deepEqual(await store.events.versionsTotal(), {
        feeds: ofAll.length,
        total: ofAll.reduce((sum, { count }) => sum + BigInt(count), 0n),
        epochs: ofAll.reduce((sum, { epoch }) => sum + epochWeight(epoch), 0),
      })
      const asked = [...keys.toReversed(), nobody]
      const one = await Promise.all(asked.map((key) => store.events.head(key)))
      assert.deepEqual(await store.events.heads(asked), one)
      assert.deepEqual(await store.events.heads([]), [])
    })

    it('lists every event once, in order, whatever the page size, in every view (P4, D4)', async () => {
      await using store = await withTenants(await factory.create())
      await publishMixture(store, 237)
      const all = await list(store)
      assert.deepEqual(
        numbers(all),
        all.map((_, index) => index + 1),
      )
      const parts = new Map<string, readonly number[]>()
      for (const view of ['all', 'sales', 'lettings'] as const) {
        const whole = await list(store, { view })
        for (const pageSize of [1, 7, 100]) assert.deepEqual(await list(store, { view }, pageSize), whole)
        parts.set(view, numbers(whole))
      }
      const both = [...(parts.get('sales') ?? []), ...(parts.get('lettings') ?? [])]
      assert.deepEqual(
        both.toSorted((a, b) => a - b),
        numbers(all),
      )
    })

    it('gives a page as the exact bytes of its events, joined by commas, the same as by id (P9)', async () => {
      await using store = await withTenants(await factory.create())
      await publishMixture(store, 230)
      for (const view of ['all', 'sales'] as const) {
        const { range } = await located(store, { view })
        for (const [first, count] of [
          [1, range.count],
          [3, 1],
          [99, 3],
          [1, 100],
        ] as const) {
          const joined = Buffer.concat(await store.events.readRange({ ...range, first, count }))
          const events = (await list(store, { view })).slice(first - 1, first - 1 + count)
          const single = await Promise.all(events.map(({ id }) => store.events.readEvent(feedKey(), id)))
          const expected = single.map((event) => Buffer.from(event?.json ?? []).toString())
          assert.equal(joined.toString(), expected.join(','))
          // The same with a limit, and the lengths without the events.
          const part = { ...range, first, count }
          const lengths = expected.map((text) => Buffer.byteLength(text))
          assert.deepEqual(await store.events.measureRange(part), lengths)
          if (count > 100) continue
          const bytes = lengths.reduce((sum, length) => sum + length, 0)
          const within = await store.events.readRangeWithin(part, bytes)
          assert.equal(Buffer.concat(within ?? []).toString(), expected.join(','))
          assert.equal(await store.events.readRangeWithin(part, bytes - 1), undefined)
        }
      }
    })

    it('gives an event by its id, and by no other tenant or feed (D8, P10)', async () => {
      await using store = await withTenants(await factory.create())
      const [, sent] = [draft({ subject: 'p' }), draft({ subject: 'q', id: 'e' })]
      await publish(store, [draft({ subject: 'p' }), sent])
      const found = await store.events.readEvent(feedKey(), uuid('e'))
      assert.ok(found)
      assert.equal(found.sequenceNumber, 2)
      assert.deepEqual(parseEvent(found.json), (await list(store))[1])
      assert.equal(await store.events.readEvent(feedKey(tenantB), uuid('e')), undefined)
      assert.equal(await store.events.readEvent(feedKey(tenantA, 'contact'), uuid('e')), undefined)
      assert.equal(await store.events.readEvent(feedKey(), uuid('unknown')), undefined)
    })

    it('gives the place of an event by its id, in no other tenant or feed (D8, P10)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'p' }), draft({ subject: 'q', id: 'e' })])
      assert.equal(await store.events.positionOf(feedKey(), uuid('e')), 2)
      assert.equal(await store.events.positionOf(feedKey(tenantB), uuid('e')), undefined)
      assert.equal(await store.events.positionOf(feedKey(tenantA, 'contact'), uuid('e')), undefined)
      assert.equal(await store.events.positionOf(feedKey(), uuid('unknown')), undefined)
    })

    it('never changes an event that was shown (P9)', async () => {
      await using store = await withTenants(await factory.create())
      await publishMixture(store, 30)
      const before = Buffer.concat(await store.events.readRange((await located(store)).range))
      const { range } = await located(store)
      await publishMixture(store, 30)
      assert.deepEqual(Buffer.concat(await store.events.readRange(range)), before)
    })

    it('gives bytes that belong to the reader: after they are freed, they can be read again (P9)', async () => {
      await using store = await withTenants(await factory.create())
      await publishMixture(store, 230)
      for (const view of ['all', 'sales'] as const) {
        const { range } = await located(store, { view })
        const pieces = await store.events.readRange(range)
        const before = Buffer.concat(pieces)
        pieces.forEach(freeBytes)
        assert.deepEqual(Buffer.concat(await store.events.readRange(range)), before)
      }
    })

    it('says with every range which state of the feed it belongs to (P4)', async () => {
      await using store = await withTenants(await factory.create())
      await publishMixture(store, 20)
      const found = await located(store, { view: 'sales' })
      assert.deepEqual(found.head, await headOf(store))
      const last = (await list(store)).at(-1)
      assert.equal(found.head.sequenceNumber, last?.sequenceNumber)
    })

    it('has no view of categories in the contact feed (D18)', async () => {
      await using store = await withTenants(await factory.create())
      const key = feedKey(tenantA, 'contact')
      await publish(store, [draft({ subject: 'c' })], { key })
      assert.equal((await located(store, { key, view: 'sales' })).range.count, 0)
      assert.equal((await located(store, { key })).range.count, 1)
    })
  })
}

function emptyHead(sequenceNumber: number) {
  return { position: 0, sequenceNumber, created: undefined, epoch: '', revision: 0, thinned: 0 }
}

/** Sales and lettings in an uneven mixture, several events a subject, some removals of published subjects. */
export async function publishMixture(store: StorageEngine, count: number): Promise<void> {
  const drafts = Array.from({ length: count }, (_, n) =>
    draft({
      subject: `mixed ${n % 41}`,
      category: (n % 41) % 3 === 0 ? 'lettings' : 'sales',
      published: n % 5 !== 4,
      text: `${n}`,
    }),
  )
  await publish(store, drafts)
}
