import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  checkEveryMs,
  mostClockStepMs,
  mostUnwatchedMs,
  newPresence,
  presenceText,
  setConsumersPerKey,
} from '../../../src/consumers/silence/silence.ts'
import type { KeyRecord } from '../../../src/keys/key.ts'
import type {
  LastAsked,
  Presence,
  PresenceName,
  SilenceTurn,
} from '../../../src/consumers/silence/silence.ts'
import type { NewRead } from '../../../src/consumers/consumer.ts'
import type { PublishedMinute } from '../../../src/publishing/history/publication.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { feedKey, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

const nowMs = 1_790_000_000_000
const minute = Math.floor(nowMs / 60_000)

const publisher = (tenantId = tenantA, feed: 'property' | 'contact' = 'property'): PresenceName => ({
  kind: 'publisher',
  tenantId,
  feed,
})
const consumer = (keyId: string, name = 'default'): PresenceName => ({ kind: 'consumer', keyId, name })

function presence(name: PresenceName, changes: Partial<Presence> = {}): Presence {
  return { ...newPresence(name), ...changes }
}

async function turnOf(store: StorageEngine, ms = nowMs): Promise<SilenceTurn> {
  const turn = await store.silence.takeTurn(ms)
  assert(turn !== undefined)
  return turn
}

function key(changes: Partial<KeyRecord> = {}): KeyRecord {
  return {
    keyId: 'keyaaaaaaaaa',
    secretHash: new Uint8Array(32),
    pepperId: 'p',
    label: '',
    operator: false,
    grants: [{ tenantId: tenantA, scopes: ['property:read'] }],
    createdMs: 0,
    expiresMs: undefined,
    revokedMs: undefined,
    lastUsedMs: undefined,
    rate: undefined,
    ...changes,
  }
}

function reading(changes: Partial<NewRead>): NewRead {
  const part = { view: 'all', space: 'ordinals', epoch: 'e1' } as const
  const answer = { askedMs: nowMs, quietMs: undefined, status: 200, route: 'list' } as const
  return { key: feedKey(tenantA), keyId: 'key', name: 'default', ...part, ...answer, minutes: [], ...changes }
}

function published(changes: Partial<PublishedMinute> = {}): PublishedMinute {
  const counts = { requests: 2, stored: 1, repeated: 0, unchanged: 0, refused: 1 }
  return {
    key: feedKey(tenantA),
    keyId: 'key',
    minute,
    ...counts,
    numbers: [1, 1],
    warnings: {},
    warningPlaces: {},
    ...changes,
  }
}

const byText = (all: readonly Presence[]): readonly Presence[] =>
  all.toSorted((a, b) => (presenceText(a.name) < presenceText(b.name) ? -1 : 1))

export function silenceContract(factory: StoreFactory): void {
  describe('silence', () => {
    it('gives the turn to look to one of all nodes that ask, once a minute (PROTOCOL §14.7)', async () => {
      await using store = await factory.create()
      const { silence } = store
      const turns = await Promise.all(Array.from({ length: 8 }, () => silence.takeTurn(nowMs)))
      const [first, ...others] = turns.filter((turn) => turn !== undefined)
      assert(first !== undefined)
      assert.deepEqual(others, [])
      assert.equal(first.watchedMs, nowMs, 'nobody has looked before')
      assert.equal(first.minute, 0)

      assert.equal(await silence.takeTurn(nowMs + checkEveryMs / 2), undefined)
      const second = await turnOf(store, nowMs + checkEveryMs)
      assert.equal(second.watchedMs, nowMs)
      // A step moves the next turn on, and the turn of before is not any more.
      assert.equal(await silence.put(second, nowMs + 1.5 * checkEveryMs, [], []), true)
      assert.equal(await silence.put(first, nowMs + 3 * checkEveryMs, [presence(publisher())], []), false)
      await silence.endTurn(first, 5)
      assert.deepEqual(await silence.presences(undefined, 10), [])
      assert.equal(await silence.takeTurn(nowMs + 2 * checkEveryMs), undefined)
      await silence.endTurn(second, minute)
      assert.equal((await turnOf(store, nowMs + 2.5 * checkEveryMs)).minute, minute)
    })

    it('counts everything as seen after a gap between two looks, and after a clock was set back far (PROTOCOL §14.7)', async () => {
      await using store = await factory.create()
      await turnOf(store)
      const later = nowMs + mostUnwatchedMs
      assert.equal((await turnOf(store, later)).watchedMs, nowMs)
      const muchLater = later + mostUnwatchedMs + 1
      assert.equal((await turnOf(store, muchLater)).watchedMs, muchLater)
      // Another node's clock may lag, and a clock that was set back a little catches up.
      assert.equal(await store.silence.takeTurn(muchLater - mostClockStepMs), undefined)
      const before = muchLater - mostClockStepMs - 1
      assert.equal((await turnOf(store, before)).watchedMs, before)
    })

    it('finds when each consumer last asked, page by page, for all views it reads (PROTOCOL §14.7)', async () => {
      await using store = await withTenants(await factory.create())
      await store.consumers.add([
        reading({ keyId: 'a', askedMs: nowMs - 9 }),
        reading({ keyId: 'a', view: 'sales', askedMs: nowMs }),
        reading({ keyId: 'a', view: 'single', space: 'numbers', epoch: '', askedMs: nowMs - 5 }),
        reading({ keyId: 'a', name: 'website', askedMs: nowMs - 1 }),
        reading({ keyId: 'a', key: feedKey(tenantA, 'contact'), askedMs: nowMs - 2 }),
        reading({ keyId: 'a', key: feedKey(tenantB), askedMs: nowMs - 3 }),
        // It asks for nothing, so it is never silent.
        reading({ keyId: 'a', name: 'webhook-01a227ec', route: 'webhook', askedMs: nowMs - 4 }),
      ])
      const found: LastAsked[] = []
      for (let after: LastAsked | undefined; ;) {
        const page = await store.silence.asked(after, 2)
        found.push(...page)
        after = page.at(-1)
        if (page.length < 2) break
      }
      const text = ({ tenantId, feed, name, askedMs }: LastAsked) =>
        `${tenantId === tenantA ? 'A' : 'B'} ${feed} ${name} ${nowMs - askedMs}`
      assert.deepEqual(found.map(text).toSorted(), [
        'A contact default 2',
        'A property default 0',
        'A property website 1',
        'B property default 3',
      ])
    })

    it('finds who published, minute by minute, if anything was accepted (PROTOCOL §14.7)', async () => {
      await using store = await withTenants(await factory.create())
      const { silence } = store
      await store.publications.add(
        [
          published({ minute: minute - 5, requests: 3, refused: 3, numbers: undefined, stored: 0 }),
          published({ minute: minute - 4 }),
          published({ minute: minute - 4, keyId: 'other' }),
          published({ minute: minute - 4, key: feedKey(tenantB, 'contact') }),
          published({ minute: minute - 4, key: feedKey(tenantB), requests: 1 }),
          published({ minute: minute - 1 }),
        ],
        [],
      )
      const first = await silence.publishedAfter(minute - 10, minute)
      assert.equal(first?.minute, minute - 4)
      const texts = first?.publishers.map(({ tenantId, feed }) => `${tenantId} ${feed}`).toSorted()
      assert.deepEqual(texts, [`${tenantA} property`, `${tenantB} contact`].toSorted())
      assert.equal((await silence.publishedAfter(minute - 4, minute))?.minute, minute - 1)
      assert.equal(await silence.publishedAfter(minute - 1, minute), undefined)
      assert.equal(await silence.publishedAfter(minute - 4, minute - 2), undefined)
    })

    it('keeps what is put for each, and lists the silent ones, the longest first (PROTOCOL §14.7)', async () => {
      await using store = await withTenants(await factory.create())
      const { silence } = store
      const turn = await turnOf(store)
      const all = [
        presence(publisher(), {
          firstMs: 1,
          lastMs: 2,
          pauses: [{ day: 20_000, ms: 3_600_000 }],
          activeMs: 3,
          silentMs: 50,
          isReported: false,
        }),
        presence(publisher(tenantB, 'contact'), { lastMs: 7 }),
        presence(consumer('key', 'website'), { silentMs: 40 }),
        presence(consumer('key')),
        presence(consumer('other'), { silentMs: 60 }),
      ]
      assert.equal(await silence.put(turn, nowMs, all, []), true)
      const found: Presence[] = []
      for (let after: PresenceName | undefined; ;) {
        const page = await silence.presences(after, 2)
        found.push(...page)
        after = page.at(-1)?.name
        if (page.length < 2) break
      }
      assert.deepEqual(found, byText(all))
      assert.deepEqual(
        (await silence.silent(2)).map(({ silentMs }) => silentMs),
        [40, 50],
      )
      assert.deepEqual(await silence.countSilent(), { publishers: 1, consumers: 2 })
      const some = await silence.find([consumer('key', 'website'), consumer('nobody'), publisher()])
      assert.deepEqual(byText(some), byText(all.filter(({ silentMs }) => silentMs === 40 || silentMs === 50)))

      const ofKeys = await silence.ofKeys(['key', 'nobody'])
      const isOfKey = ({ name }: Presence): boolean => name.kind === 'consumer' && name.keyId === 'key'
      assert.deepEqual(byText(ofKeys), byText(all.filter(isOfKey)))
      assert.deepEqual(await silence.ofKeys([]), [])

      const again = presence(publisher(), { firstMs: 1, lastMs: 9 })
      assert.equal(await silence.put(turn, nowMs, [again], [consumer('other'), consumer('nobody')]), true)
      assert.deepEqual(await silence.find([publisher(), consumer('other')]), [again])
      assert.deepEqual(await silence.countSilent(), { publishers: 0, consumers: 1 })
    })

    it('keeps settings apart from what is seen, and records each change of them (D11)', async () => {
      await using store = await withTenants(await factory.create())
      const { silence } = store
      await store.keys.insertKey(key(), 'cli:test')
      const website = consumer('keyaaaaaaaaa', 'website')
      assert.equal(await silence.expect(consumer('nobody'), 60_000, 'cli:me'), 'unknownKey')
      assert.equal(await silence.expect(publisher(uuid('nobody')), 60_000, 'cli:me'), 'unknownTenant')
      assert.equal(await silence.expect(publisher(), undefined, 'cli:me'), 'done')
      assert.equal(await silence.expect(website, 3_600_000, 'cli:me'), 'done')
      assert.equal(await silence.expect(website, 3_600_000, 'cli:me'), 'done')
      assert.equal(await silence.expect(publisher(), 'never', 'cli:me'), 'done')
      const turn = await turnOf(store)
      await silence.put(turn, nowMs, [presence(website, { lastMs: 5, expectation: 'never' })], [])
      assert.deepEqual(await silence.find([website]), [
        presence(website, { lastMs: 5, expectation: 3_600_000 }),
      ])
      assert.deepEqual(await silence.find([publisher()]), [presence(publisher(), { expectation: 'never' })])
      await silence.expect(website, undefined, 'cli:me')
      assert.deepEqual(await silence.find([website]), [presence(website, { lastMs: 5 })])

      const rows = await store.audit.read({ first: 'oldest', action: 'interval.expected', limit: 10 })
      assert(rows !== 'unknownRow')
      assert.deepEqual(
        rows.map(({ actor, tenant, target, detail }) => ({ actor, tenant, target, detail })),
        [
          { target: 'keyaaaaaaaaa', detail: { of: 'consumer', ms: 3_600_000 } },
          { target: tenantA, detail: { of: 'property', ms: 0 } },
          { target: 'keyaaaaaaaaa', detail: { of: 'consumer', ms: null } },
        ].map((row) => ({ actor: 'cli:me', tenant: tenantA, ...row })),
      )
    })

    it('lets no more than 200 be set of one key (D11)', async () => {
      await using store = await withTenants(await factory.create())
      await store.keys.insertKey(key(), 'cli:test')
      for (let n = 0; n < setConsumersPerKey; n += 1) {
        assert.equal(await store.silence.expect(consumer('keyaaaaaaaaa', `n${n}`), 300_000, 'cli:me'), 'done')
      }
      const more = consumer('keyaaaaaaaaa', 'more')
      assert.equal(await store.silence.expect(more, 'never', 'cli:me'), 'tooMany')
      assert.deepEqual(await store.silence.find([more]), [])
      assert.equal(await store.silence.expect(consumer('keyaaaaaaaaa', 'n7'), 'never', 'cli:me'), 'done')
      assert.equal(await store.silence.expect(consumer('keyaaaaaaaaa', 'n7'), undefined, 'cli:me'), 'done')
      assert.equal(await store.silence.expect(more, 'never', 'cli:me'), 'done')
    })

    it('knows keys that others were made for (PROTOCOL §14.7)', async () => {
      await using store = await withTenants(await factory.create())
      await store.keys.insertKey(key(), 'cli:test')
      const fresh = { keyId: 'keybbbbbbbbb', secretHash: new Uint8Array(32), pepperId: 'p', createdMs: 1 }
      assert.deepEqual(await store.silence.replacedKeys(), [])
      await store.keys.rotateKey('keyaaaaaaaaa', { ...fresh, oldEndsMs: nowMs }, 'cli:test')
      assert.deepEqual(
        (await store.silence.replacedKeys()).map(({ keyId, by }) => [keyId, by]),
        [['keyaaaaaaaaa', 'keybbbbbbbbb']],
      )
    })
  })
}
