/** Retention in the background: which feeds, how often, and on which node (D17). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ticksPerSecond } from '@property-events/protocol'
import { unreported } from '../../src/runtime/background-task.ts'
import { carryOutRetention, countFeed } from '../../src/privacy/retention/worker.ts'
import { noRetention, retainedFeeds } from '../../src/privacy/retention/rules.ts'
import type { RetentionDefaults } from '../../src/privacy/retention/rules.ts'
import { isReducedPayload } from '../../src/events/append/reduced-event.ts'
import { StorageFailure } from '../../src/sql/storage-errors.ts'
import { feedName } from '../../src/events/feed-key.ts'
import type { FeedKey } from '../../src/events/feed-key.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { draft, feedKey, tenantA, tenantB } from '../store/support/drafts.ts'
import { list, publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { testClock } from '../store/support/test-clock.ts'
import { until } from '../support/until.ts'
import { temporaryStore } from '../support/temporary-store.ts'

const noonMs = Date.UTC(2026, 2, 10, 12)
const dayMs = 86_400_000

/** Three versions of a subject in each feed of two tenants, 30, 20 and 10 days before `noonMs`. */
async function storeOfDays(): Promise<StorageEngine> {
  const { clock } = testClock('2026-01-01')
  const store = await withTenants(await temporaryStore({ clock }))
  for (const days of [30, 20, 10]) {
    Atomics.store(clock, 0, BigInt(noonMs - days * dayMs) * (ticksPerSecond / 1_000n))
    for (const tenantId of [tenantA, tenantB]) {
      for (const feed of ['property', 'contact'] as const) {
        await publish(store, [draft({ subject: 'p', text: `${days}` })], { key: { tenantId, feed } })
      }
    }
  }
  return store
}

async function goneIn(store: StorageEngine, key: FeedKey): Promise<number> {
  return (await list(store, { key })).filter(({ payload }) => isReducedPayload(payload)).length
}

function retain(store: StorageEngine, defaults: Partial<RetentionDefaults>, nowMs: () => number) {
  return carryOutRetention({
    storage: store,
    nodeId: 'this node',
    defaults: { ...noRetention, ...defaults },
    compare: async () => undefined,
    report: unreported,
    clock: nowMs,
    everyMs: 5,
  })
}

describe('retention in the background', () => {
  it('continues for every other feed and tenant if one is damaged, and names that one (D17)', async () => {
    await using store = await storeOfDays()
    const damaged: FeedKey = feedKey(tenantA)
    const failures: unknown[] = []
    const broken: StorageEngine = {
      ...store,
      [Symbol.asyncDispose]: () => store.close(),
      retention: {
        ...store.retention,
        async thin(span, limit, nodeId) {
          if (feedName(span.key) === feedName(damaged)) throw new StorageFailure('storage_damaged')
          return store.retention.thin(span, limit, nodeId)
        },
      },
      expiry: {
        ...store.expiry,
        async enlist(step) {
          if (step.tenantId === tenantA) throw new StorageFailure('storage_damaged')
          return store.expiry.enlist(step)
        },
      },
    }
    const retaining = carryOutRetention({
      storage: broken,
      nodeId: 'this node',
      defaults: { 'retain-contacts': 15, 'retain-properties': 15, 'expire-contacts': 5 },
      compare: async () => undefined,
      report: { ...unreported, failed: (_task, _error, about) => void failures.push(about) },
      clock: () => noonMs,
      everyMs: 5,
    })
    const isDone = async () =>
      (await goneIn(store, feedKey(tenantB))) === 2 &&
      (await goneIn(store, feedKey(tenantB, 'contact'))) === 2 &&
      (await store.expiry.listed(tenantB, undefined, 10)).length === 1
    try {
      await until(isDone, { what: 'the feeds of the other tenant' })
    } finally {
      await retaining.close()
    }
    assert.equal(await goneIn(store, damaged), 0)
    assert.deepEqual(failures.slice(0, 2), [damaged, { tenantId: tenantA }])
  })

  it('thins by the rules of the service and by those of tenants, which take precedence; without rules it reads no tenant (D17)', async () => {
    await using store = await storeOfDays()
    await store.retention.setRule(tenantB, 'retain-contacts', 0, 'cli:test')
    await store.retention.setRule(tenantB, 'retain-properties', 25, 'cli:test')
    const retaining = retain(store, { 'retain-contacts': 15 }, () => noonMs)
    await until(async () => (await goneIn(store, feedKey(tenantB))) === 1, { what: 'the last feed' })
    await retaining.close()
    assert.equal(await goneIn(store, feedKey(tenantA, 'contact')), 2)
    assert.equal(await goneIn(store, feedKey(tenantA)), 0)
    assert.equal(await goneIn(store, feedKey(tenantB, 'contact')), 0)
    const tenants = { ...store.tenants, tenants: () => assert.fail('asked for tenants') }
    await using empty = await temporaryStore()
    assert.deepEqual(await retainedFeeds({ retention: empty.retention, tenants }, noRetention, noonMs), [])
  })

  it('checks again when a rule changes and when a day has begun, and skips what is finished (D17)', async () => {
    await using store = await storeOfDays()
    let asked = 0
    const retention: StorageEngine['retention'] = {
      ...store.retention,
      thin(...given) {
        asked += 1
        return store.retention.thin(...given)
      },
    }
    let nowMs = noonMs
    const counted = { ...store, retention }
    const retaining = retain(counted, {}, () => nowMs)
    const key = feedKey(tenantA)
    await store.retention.setRule(tenantA, 'retain-properties', 20, 'cli:test')
    await until(async () => (await goneIn(store, key)) === 1, { what: 'the rule to be seen' })
    await until(() => asked >= 2, { what: 'its end' })
    const before = asked
    nowMs += dayMs
    await until(async () => (await goneIn(store, key)) === 2, { what: 'the day to begin' })
    await retaining.close()
    assert.ok(asked - before <= 3, `asked ${asked - before} times more`)
  })

  it('continues while another feed cannot: the tenant is being moved (D17)', async () => {
    await using store = await storeOfDays()
    await store.moves.change(tenantA, 'open', 'leaving', 'cli:test')
    const retaining = retain(store, { 'retain-properties': 15 }, () => noonMs)
    await until(async () => (await goneIn(store, feedKey(tenantB))) === 2, { what: 'the other tenant' })
    assert.equal(await goneIn(store, feedKey(tenantA)), 0)
    await store.moves.change(tenantA, 'leaving', 'open', 'cli:test')
    await until(async () => (await goneIn(store, feedKey(tenantA))) === 2, { what: 'the one that stays' })
    await retaining.close()
  })

  it('is counted without being done (D17)', async () => {
    await using store = await storeOfDays()
    const defaults = { ...noRetention, 'retain-properties': 15 }
    const feeds = await retainedFeeds(store, defaults, noonMs)
    const counts = await Promise.all(feeds.map((feed) => countFeed(store.retention, feed)))
    assert.deepEqual(counts, [2, 2])
    assert.equal(await goneIn(store, feedKey(tenantA)), 0)
  })
})
