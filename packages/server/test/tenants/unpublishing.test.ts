/** Tenants that leave are unpublished in the background, whatever ails one of them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { unreported } from '../../src/runtime/background-task.ts'
import { carryOutUnpublishing } from '../../src/tenants/leaving/worker.ts'
import { StorageFailure } from '../../src/sql/storage-errors.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { draft, feedKey, removal, tenantA, tenantB } from '../store/support/drafts.ts'
import { headOf, publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { until } from '../support/until.ts'
import { temporaryStore } from '../support/temporary-store.ts'

describe('tenants that leave', () => {
  it('are unpublished although one of them cannot be, which is named (D17)', async () => {
    await using store = await withTenants(await temporaryStore())
    for (const tenantId of [tenantA, tenantB]) {
      await publish(store, [draft({ subject: 'p' })], { key: feedKey(tenantId) })
      await store.leaving.begin(
        { tenantId, sinceMs: Date.now(), readingEndsMs: Date.now() + 60_000 },
        'cli:test',
      )
    }
    const first = (await store.leaving.list())[0]?.tenantId
    const other = first === tenantA ? tenantB : tenantA
    const broken: Pick<StorageEngine, 'events' | 'leaving' | 'maintenance'> = {
      leaving: store.leaving,
      maintenance: () => store.maintenance(),
      events: {
        ...store.events,
        async readAfter(query) {
          if (query.key.tenantId === first) throw new StorageFailure('storage_damaged')
          return store.events.readAfter(query)
        },
      },
    }
    const failures: unknown[] = []
    const unpublishing = carryOutUnpublishing({
      storage: broken,
      report: { ...unreported, failed: (_task, _error, about) => void failures.push(about) },
      everyMs: 5,
    })
    try {
      await until(async () => (await headOf(store, feedKey(other))).sequenceNumber === 2, {
        what: 'a removal',
      })
    } finally {
      await unpublishing.close()
    }
    assert.equal((await headOf(store, feedKey(first))).sequenceNumber, 1)
    assert.deepEqual(failures[0], { tenantId: first })
  })

  it('are done only when nothing that was under way can still arrive: a late publication is removed too (D17)', async () => {
    await using store = await withTenants(await temporaryStore())
    const key = feedKey(tenantA)
    const sinceMs = Date.parse('2026-03-01T10:00:00Z')
    let [nowMs, looks] = [sinceMs, 0]
    await store.leaving.begin({ tenantId: tenantA, sinceMs, readingEndsMs: sinceMs + 600_000 }, 'cli:test')
    const list = async () => {
      const leaving = await store.leaving.list()
      looks += 1
      return leaving
    }
    const looked = async () => {
      const before = looks
      // The look under way may have begun earlier.
      await until(() => looks > before + 2, { what: 'two looks' })
    }
    const ended = async () => (await store.leaving.list())[0]?.unpublishedMs
    const unpublishing = carryOutUnpublishing({
      storage: {
        events: store.events,
        leaving: { ...store.leaving, list },
        maintenance: () => store.maintenance(),
      },
      report: unreported,
      clock: () => nowMs,
      everyMs: 1,
    })
    try {
      for (const afterMs of [0, 30_000, 59_999]) {
        nowMs = sinceMs + afterMs
        await looked()
        assert.equal(await ended(), undefined, `${afterMs} ms after it began`)
      }
      // Admitted before its node knew, and committed now.
      await publish(store, [draft({ subject: 'late', text: 'Tŷ Gwyn, £950 – ar osod 🏡' })], { key })
      nowMs = sinceMs + 60_000
      await until(async () => (await ended()) !== undefined, { what: 'the end' })
      const { sequenceNumber } = await headOf(store, key)
      assert.equal(sequenceNumber, 2, 'the late one and its removal')
    } finally {
      await unpublishing.close()
    }
  })

  /** A tenant that began to leave long ago, with one property; `around` stands between the service and the store. */
  async function leavingStore(around: (events: StorageEngine['events']) => Partial<StorageEngine['events']>) {
    const store = await withTenants(await temporaryStore())
    const key = feedKey(tenantA)
    const sinceMs = Date.now() - 600_000
    await publish(store, [draft({ subject: 'p', text: 'Tŷ’r Môr – £450,000' })], { key })
    await store.leaving.begin({ tenantId: tenantA, sinceMs, readingEndsMs: Date.now() + 60_000 }, 'cli:test')
    const events = { ...store.events, ...around(store.events) }
    const { leaving } = store
    const unpublishing = carryOutUnpublishing({
      storage: { events, leaving, maintenance: () => store.maintenance() },
      report: unreported,
      everyMs: 5,
    })
    const isDone = async () => (await leaving.list())[0]?.unpublishedMs !== undefined
    return { store, key, unpublishing, isDone }
  }

  it('are left alone where another node has removed a property meanwhile: it is removed once (D26)', async () => {
    let isFirst = true
    const { store, key, unpublishing, isDone } = await leavingStore((events) => ({
      async readAfter(query) {
        const found = await events.readAfter(query)
        if (isFirst) await publish(store, [removal({ subject: 'p' })], { key })
        isFirst = false
        return found
      },
    }))
    try {
      await until(isDone, { what: 'the end' })
      assert.equal((await headOf(store, key)).sequenceNumber, 2)
    } finally {
      await unpublishing.close()
      await store.close()
    }
  })

  it('are not done while their properties cannot be removed (D17)', async () => {
    let refusals = 0
    const { store, key, unpublishing, isDone } = await leavingStore((events) => ({
      async append(batches) {
        refusals += 1
        return refusals > 3 ? events.append(batches) : [{ kind: 'unknownFeed' }]
      },
    }))
    try {
      await until(isDone, { what: 'the end' })
      assert.ok(refusals > 3, 'it has tried again')
      assert.equal((await headOf(store, key)).sequenceNumber, 2)
    } finally {
      await unpublishing.close()
      await store.close()
    }
  })
})
