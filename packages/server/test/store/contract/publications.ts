import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  placesPerWarning,
  publicationDaysKept,
  publicationsPerCommit,
  refusalsPerHour,
} from '../../../src/publishing/history/publication.ts'
import type {
  KeptMinute,
  PublicationQuery,
  PublicationRefusal,
  PublishedMinute,
} from '../../../src/publishing/history/publication.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { feedKey, tenantA, tenantB } from '../support/drafts.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

/** The first of an hour. */
const minute = 480_000 * 60

function published(changes: Partial<PublishedMinute> = {}): PublishedMinute {
  return {
    key: feedKey(tenantA),
    keyId: 'key',
    minute,
    requests: 1,
    stored: 2,
    repeated: 0,
    unchanged: 1,
    numbers: [5, 6],
    warnings: { too_long: 1 },
    warningPlaces: { too_long: ['/payload/b'] },
    refused: 0,
    ...changes,
  }
}

function refusal(changes: Partial<PublicationRefusal> = {}): PublicationRefusal {
  return {
    key: feedKey(tenantA),
    keyId: 'key',
    minute,
    atMs: minute * 60_000 + 7,
    requestId: 'request-1',
    code: 'invalid_body',
    faults: [{ pointer: '/0/payload/published', code: 'wrong_type' }],
    ...changes,
  }
}

function list(store: StorageEngine, changes: Partial<PublicationQuery> = {}): Promise<readonly KeptMinute[]> {
  const query = {
    tenantId: tenantA,
    keyId: undefined,
    fromMinute: 0,
    toMinute: 2 ** 31 - 1,
    before: undefined,
  }
  return store.publications.list({ ...query, limit: 100, ...changes })
}

export function publicationsContract(factory: StoreFactory): void {
  describe('what was published', () => {
    it('sums exactly what several nodes add at the same time, by tenant, feed, key and minute (PROTOCOL §14)', async () => {
      await using store = await withTenants(await factory.create())
      const { publications } = store
      await Promise.all([
        publications.add([published()], []),
        publications.add(
          [
            published({
              numbers: [9, 12],
              warnings: { too_long: 2, bad_url: 1 },
              warningPlaces: { too_long: ['/payload/A', '/payload/b'], bad_url: ['/payload/*'] },
            }),
          ],
          [],
        ),
        publications.add(
          [published({ numbers: undefined, stored: 0, warnings: {}, warningPlaces: {}, repeated: 4 })],
          [],
        ),
        publications.add(
          [published({ key: feedKey(tenantA, 'contact') }), published({ minute: minute + 1 })],
          [],
        ),
        publications.add([published({ key: feedKey(tenantB) }), published({ keyId: 'other' })], []),
      ])
      await publications.add([], [])
      const kept = await list(store)
      const own = kept.find(
        (one) => one.keyId === 'key' && one.minute === minute && one.key.feed === 'property',
      )
      const sums = {
        requests: 3,
        stored: 4,
        repeated: 4,
        unchanged: 3,
        numbers: [5, 12] as const,
        refusals: [],
      }
      const warned = {
        warnings: { too_long: 3, bad_url: 1 },
        warningPlaces: { too_long: ['/payload/A', '/payload/b'], bad_url: ['/payload/*'] },
      }
      assert.deepEqual(own, { ...published(), ...sums, ...warned })
      assert.equal(kept.length, 4)
      assert.equal(kept[0]?.minute, minute + 1)
      assert.deepEqual(
        (await list(store, { keyId: 'other' })).map(({ keyId }) => keyId),
        ['other'],
      )
      assert.equal((await list(store, { tenantId: tenantB })).length, 1)
      assert.deepEqual(await list(store, { fromMinute: minute + 2 }), [])
      assert.deepEqual(await list(store, { toMinute: minute - 1 }), [])
    })

    it('lists refusals of all tenants from a minute on, those of the newest minutes (PROTOCOL §12.11)', async () => {
      await using store = await withTenants(await factory.create())
      const { publications } = store
      const [second, third] = [
        { minute: minute + 1, atMs: (minute + 1) * 60_000 },
        { key: feedKey(tenantB, 'contact'), keyId: 'other', minute: minute + 2, atMs: (minute + 2) * 60_000 },
      ]
      await publications.add(
        [published(), published({ minute: minute + 1 }), published({ ...third })].map(({ ...one }) => ({
          ...one,
          refused: 1,
        })),
        [refusal(), refusal(second), refusal({ ...third, code: 'body_too_large' })],
      )
      const newest = {
        key: feedKey(tenantB, 'contact'),
        keyId: 'other',
        atMs: third.atMs,
        code: 'body_too_large',
      }
      const before = { key: feedKey(tenantA), keyId: 'key', atMs: second.atMs, code: 'invalid_body' }
      assert.deepEqual(await publications.refusedSince(minute + 1, 10), [newest, before])
      assert.deepEqual(await publications.refusedSince(minute, 1), [newest])
      assert.equal((await publications.refusedSince(minute, 10)).length, 3)
      assert.deepEqual(await publications.refusedSince(minute + 3, 10), [])
    })

    it('keeps the same few examples of places of a warning, in whatever order they are added (PROTOCOL §14.2)', async () => {
      const places = Array.from(
        { length: 3 * placesPerWarning },
        (_, n) => `/payload/media/${(n * 7) % 15}/url`,
      )
      const expected = places.toSorted().slice(0, placesPerWarning)
      for (const order of [places, places.toReversed()]) {
        await using store = await withTenants(await factory.create())
        const parts = [0, 3, 6, 9, 12].map((from) => order.slice(from, from + 3))
        await Promise.all(
          parts.map((some) =>
            store.publications.add([published({ warningPlaces: { bad_url: some.toSorted() } })], []),
          ),
        )
        assert.deepEqual((await list(store))[0]?.warningPlaces, { bad_url: expected })
      }
    })

    it('is handed over page by page, the newest first (PROTOCOL §14)', async () => {
      await using store = await withTenants(await factory.create())
      const minutes = Array.from({ length: 7 }, (_, index) => minute + index).flatMap((at) =>
        ['a', 'b'].flatMap((keyId) =>
          (['property', 'contact'] as const).map((feed) =>
            published({ minute: at, keyId, key: feedKey(tenantA, feed) }),
          ),
        ),
      )
      await store.publications.add(minutes, [])
      const read: KeptMinute[] = []
      for (;;) {
        const next = await list(store, { before: read.at(-1), limit: 5 })
        read.push(...next)
        if (next.length < 5) break
      }
      const name = (one: PublishedMinute): string => `${one.minute} ${one.key.feed} ${one.keyId}`
      assert.deepEqual(read.map(name).toSorted(), minutes.map(name).toSorted())
      const order = read.map((one) => one.minute)
      assert.deepEqual(
        order,
        order.toSorted((a, b) => b - a),
      )
    })

    it('keeps the first 100 refusals of a key and hour singly, and counts the others (PROTOCOL §14)', async () => {
      await using store = await withTenants(await factory.create())
      const many = (at: number, count: number) => {
        const refusals = Array.from({ length: count }, (_, index) => {
          return refusal({ minute: at, requestId: `r-${at}-${index}`, atMs: at * 60_000 + index })
        })
        return [[published({ minute: at, refused: count, requests: count })], refusals] as const
      }
      await store.publications.add(...many(minute, 60))
      // Two nodes.
      await Promise.all([1, 1].map(() => store.publications.add(...many(minute + 1, 30))))
      await store.publications.add(
        [published({ minute, keyId: 'other', refused: 1 })],
        [refusal({ keyId: 'other' })],
      )
      await store.publications.add(...many(minute + 60, 1))
      const kept = await list(store)
      const singly = kept.map(({ keyId, refused, refusals }) => [keyId, refused, refusals.length] as const)
      const order = ([keyId, refused, count]: (typeof singly)[number]) => `${keyId} ${refused} ${count}`
      assert.deepEqual(singly.map(order).toSorted(), ['key 1 1', 'key 60 40', 'key 60 60', 'other 1 1'])
      assert.equal(
        singly.reduce((sum, [, , count]) => sum + count, 0),
        refusalsPerHour + 2,
      )
      const [own] = await list(store, { keyId: 'other' })
      assert.deepEqual(own?.refusals, [refusal({ keyId: 'other' })])
      const ids = kept.find((one) => one.minute === minute && one.keyId === 'key')?.refusals
      assert.deepEqual(
        ids?.map(({ atMs }) => atMs),
        ids?.map((_, index) => minute * 60_000 + index),
      )
    })

    it('is kept for 14 days (PROTOCOL §14)', async () => {
      await using store = await withTenants(await factory.create())
      const { publications } = store
      const minutes = Array.from({ length: publicationsPerCommit }, (_, index) =>
        published({ minute: minute + index, refused: 1 }),
      )
      await publications.add(minutes, [refusal()])
      await publications.add(
        minutes.map((one) => ({ ...one, keyId: 'other' })),
        [],
      )
      const laterMs = (minute + publicationDaysKept * 1_440 + 10) * 60_000
      await Promise.all([publications.age(laterMs), publications.age(laterMs)])
      while ((await publications.age(laterMs)) > 0);
      const kept = await list(store, { limit: 2_000 })
      assert.equal(kept.length, 2 * (publicationsPerCommit - 10))
      assert.equal(kept.at(-1)?.minute, minute + 10)
      while ((await publications.age(laterMs + 86_400_000)) > 0);
      assert.deepEqual(await list(store), [])
    })

    it('goes with a backup (PROTOCOL §14)', async () => {
      await using store = await withTenants(await factory.create())
      await store.publications.add([published({ refused: 1 })], [refusal()])
      await using backup = await factory.copy(store)
      assert.deepEqual(await list(backup), await list(store))
      assert.equal((await list(backup))[0]?.refusals.length, 1)
    })
  })
}
