import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseCreatedDate } from '@property-events/protocol'
import * as fc from 'fast-check'
import { createPageRangeCache, createWindowBoundsCache } from '../../src/reading/page-range-cache.ts'
import type { FeedKey } from '../../src/events/feed-key.ts'
import type { LocateQuery, Located } from '../../src/events/event-log.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { openStorage } from '../../src/store/open-storage.ts'
import { draft, feedKey, tenantA, tenantB, uuid } from '../store/support/drafts.ts'
import { publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { testClock, ticks } from '../store/support/test-clock.ts'
import { makeStoreFolder, openNewStore, temporaryStore } from '../support/temporary-store.ts'

const key = feedKey()
const whole = { key, view: 'all' } as const

async function newStore(): Promise<StorageEngine> {
  return withTenants(await temporaryStore())
}

/** Ranges over a store whose answers wait until they are let go, and what it was asked. */
function gated(storage: StorageEngine) {
  const asked: LocateQuery[] = []
  let gate = Promise.withResolvers<void>()
  gate.resolve()
  let failure: Error | undefined
  let nowMs = 0
  const events = {
    changeCount: (of: FeedKey) => storage.events.changeCount(of),
    settledLater: () => storage.events.settledLater?.() ?? (() => undefined),
    async locate(query: LocateQuery): Promise<Located | undefined> {
      asked.push(query)
      const { promise } = gate
      const located = await storage.events.locate(query)
      await promise
      if (failure !== undefined) throw failure
      return located
    },
  }
  return {
    asked,
    ranges: createPageRangeCache(events, () => nowMs),
    /** What is asked from now on waits; returns how to let that go. */
    hold: () => {
      const held = Promise.withResolvers<void>()
      gate = held
      return () => held.resolve()
    },
    letGo: () => gate.resolve(),
    wait: (ms: number) => void (nowMs += ms),
    fail: (error: Error | undefined) => void (failure = error),
  }
}

describe('the known ranges of a feed', () => {
  it('are read once for all simultaneous requests', async () => {
    await using storage = await newStore()
    const { asked, ranges, hold, letGo } = gated(storage)
    await publish(storage, [draft({ subject: 'p' })])
    hold()
    const answers = [1, 2, 3].map(() => ranges.locate(whole))
    assert.equal(ranges.known(whole), undefined)
    letGo()
    const counts = (await Promise.all(answers)).map((located) => located?.range.count)
    assert.deepEqual(counts, [1, 1, 1])
    assert.equal(asked.length, 1)
    assert.equal(ranges.known(whole)?.range.count, 1)
  })

  it('are read again for a request after a publication, although an older query has no answer yet (P8)', async () => {
    await using storage = await newStore()
    const { asked, ranges, hold, letGo } = gated(storage)
    await publish(storage, [draft({ subject: 'p' })])
    hold()
    const before = ranges.locate(whole)
    await publish(storage, [draft({ subject: 'q' })])
    const after = ranges.locate(whole)
    letGo()
    assert.equal((await before)?.range.count, 1)
    assert.equal((await after)?.range.count, 2)
    assert.equal(asked.length, 2)
    assert.equal(ranges.known(whole)?.range.count, 2)
  })

  it('are not kept if a publication came between the query and its answer (P8)', async () => {
    await using storage = await newStore()
    const { ranges, hold, letGo } = gated(storage)
    await publish(storage, [draft({ subject: 'p' })])
    hold()
    const before = ranges.locate(whole)
    await publish(storage, [draft({ subject: 'q' })])
    letGo()
    assert.equal((await before)?.range.count, 1)
    assert.equal(ranges.known(whole), undefined)
    assert.equal((await ranges.locate(whole))?.range.count, 2)
  })

  it('do not keep later requests waiting for a query that hangs', async () => {
    await using storage = await newStore()
    const { asked, ranges, hold, wait } = gated(storage)
    const answerOld = hold()
    const hanging = ranges.locate(whole)
    wait(50)
    const sharing = ranges.locate(whole)
    assert.equal(asked.length, 1)
    wait(60)
    const answerNew = hold()
    const later = ranges.locate(whole)
    assert.equal(asked.length, 2)
    answerNew()
    assert.equal((await later)?.range.count, 0)
    assert.equal(ranges.known(whole)?.range.count, 0)
    answerOld()
    assert.equal((await hanging)?.range.count, 0)
    assert.equal((await sharing)?.range.count, 0)
  })

  it('are not kept of a failed query: all that shared it see the failure, and the next request asks', async () => {
    await using storage = await newStore()
    const { asked, ranges, fail } = gated(storage)
    fail(new Error('no answer'))
    const answers = await Promise.allSettled([ranges.locate(whole), ranges.locate(whole)])
    assert.deepEqual(
      answers.map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    fail(undefined)
    assert.equal((await ranges.locate(whole))?.range.count, 0)
    assert.equal(asked.length, 2)
  })

  it('cover the other pages of a closed window, and after a publication only the head is read again', async () => {
    await using storage = await newStore()
    const { asked, ranges } = gated(storage)
    const stored = await publish(
      storage,
      ['p', 'q', 'r'].map((subject) => draft({ subject })),
    )
    const times = stored.map((event) => parseCreatedDate(event.stored?.createdDate ?? '') ?? 0n)
    const [first = 0n, , last = 0n] = times
    const window = { ...whole, from: first + 1n, to: last }
    assert.equal(ranges.known(window), undefined)
    assert.equal((await ranges.locate(window))?.range.count, 1)
    assert.equal(ranges.known(window)?.range.count, 1)
    assert.equal(ranges.known(window)?.head.position, 3)
    await publish(storage, [draft({ subject: 's' })])
    assert.equal(ranges.known(window), undefined, 'the head has changed')
    assert.equal((await ranges.locate(window))?.head.position, 4)
    assert.deepEqual(asked.slice(1), [whole])
  })

  it('answer a window behind the head without the store, until something changes or a second has passed (P3)', async () => {
    await using storage = await newStore()
    const { asked, ranges, wait } = gated(storage)
    const [stored] = await publish(storage, [draft({ subject: 'p' })])
    const after = { ...whole, from: (parseCreatedDate(stored?.stored?.createdDate ?? '') ?? 0n) + 1n }
    assert.equal(ranges.known(after), undefined)
    // The first of a store reserves time, within which later ones are answered.
    await ranges.locate(after)
    const { settled = 0n } = (await ranges.locate(after)) ?? {}
    for (const window of [after, { ...after, from: after.from + 5n }, { ...after, to: settled * 2n }]) {
      const known = ranges.known(window)
      assert.equal(known?.range.count, 0)
      assert.ok((known.settled ?? 0n) >= settled, 'complete until a later moment')
    }
    assert.equal(ranges.known({ ...after, from: after.from - 1n }), undefined, 'it holds the last event')
    assert.equal(ranges.known({ ...after, view: 'sales' }), undefined, 'it was not asked for')
    assert.equal(asked.length, 2)
    wait(1_001)
    assert.equal(ranges.known(after), undefined)
    await ranges.locate(after)
    await publish(storage, [draft({ subject: 'q' })])
    assert.equal(ranges.known(after), undefined)
    assert.equal((await ranges.locate(after))?.range.count, 1)
  })

  it('leave a window to the store when a commit has ended between a look at the count and the moment of the answer (P3)', async () => {
    let count = 0
    const head = { position: 0, sequenceNumber: 0, created: undefined, epoch: 'one', revision: 0, thinned: 0 }
    const located: Located = { range: { ...whole, first: 1, count: 0 }, head, settled: 10n }
    const ranges = createPageRangeCache({
      locate: async () => located,
      changeCount: () => count,
      settledLater: () => () => 20n + BigInt(count++),
    })
    await ranges.locate({ ...whole, from: 1n })
    assert.equal(ranges.known({ ...whole, from: 1n }), undefined)
    assert.equal(count, 1, 'the moment was asked for')
  })

  it('answer no open window once the tenant may be published elsewhere, whoever has moved it (P3)', async () => {
    const { clock, set } = testClock('2025-01-31T12:00:00')
    const folder = makeStoreFolder()
    const place = { kind: 'sqlite', folder, writesOn: 'thisThread', clock } as const
    await using storage = await withTenants(await openNewStore(folder, place))
    await using mover = await openStorage({ ...place, create: false })
    const { ranges } = gated(storage)
    const after = { ...whole, from: ticks('2025-01-31T12:00:00') }
    const isRefused = () => assert.rejects(ranges.locate(after), { code: 'tenant_moving' })
    await ranges.locate(after)
    await storage.moves.change(tenantA, 'open', 'leaving', 'cli:test')
    await ranges.locate(after)
    assert.equal(ranges.known(after)?.range.count, 0, 'it is still at home here')
    await storage.moves.change(tenantA, 'leaving', 'left', 'cli:test')
    assert.equal(ranges.known(after), undefined)
    await isRefused()
    await storage.moves.change(tenantA, 'left', 'open', 'cli:test')
    await ranges.locate(after)
    // By another process. The target stamps after the time that it finds reserved.
    await mover.moves.change(tenantA, 'open', 'left', 'cli:test')
    const floors: bigint[] = []
    await mover.moves.exportTenant(
      tenantA,
      () => ({ position: 0, skippedUntil: 0n }),
      async (records) => {
        for (const record of records) if (record.kind === 'feed') floors.push(record.stampFloor ?? 0n)
      },
    )
    set('2025-01-31T12:00:30')
    await ranges.locate({ ...after, key: feedKey(tenantB) })
    const late = ranges.known(after)?.settled ?? 0n
    assert.ok(
      floors.length > 0 && floors.every((floor) => late <= floor),
      `${late} is after a floor of ${floors.join()}`,
    )
    await isRefused()
  })

  it('are dropped after a loss of the last events: known windows belonged to another epoch (D13)', () => {
    const located: Located = {
      range: { ...whole, first: 3, count: 4 },
      head: { position: 10, sequenceNumber: 10, created: 50n, epoch: 'one', revision: 0, thinned: 0 },
    }
    const bounds = createWindowBoundsCache()
    const window = { ...whole, from: 20n, to: 40n }
    bounds.note(window, located)
    assert.deepEqual(bounds.rangeOf(window, located.head), located.range)
    assert.equal(bounds.rangeOf(window, { ...located.head, epoch: 'two' }), undefined)
    assert.equal(bounds.rangeOf(window, { ...located.head, created: 38n }), undefined, 'the window is open')
    assert.equal(bounds.rangeOf({ ...window, view: 'sales' }, located.head), undefined)
    assert.equal(bounds.rangeOf({ ...window, key: feedKey(tenantB) }, located.head), undefined)
  })

  it('is never anything but what the store says: windows, views, publications and new epochs in any order (P3, P4)', async () => {
    const bound = fc.integer({ min: 0, max: 8 }).map((step) => 10_000_000_000_000n + BigInt(step) * 5n)
    const step = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constant('publish' as const),
          lettings: fc.boolean(),
          at: bound,
        }),
      },
      {
        weight: 15,
        arbitrary: fc.record({
          kind: fc.constant('ask' as const),
          view: fc.constantFrom('all', 'sales', 'lettings'),
          from: fc.option(bound),
          to: fc.option(bound),
        }),
      },
      { weight: 1, arbitrary: fc.constant({ kind: 'epoch' as const }) },
    )
    await using storage = await newStore()
    let [fromMemory, openFromMemory, windows, runs] = [0, 0, 0, 0]
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 60, maxLength: 100 }), async (steps) => {
        const key = feedKey(uuid(`run ${(runs += 1)}`))
        const tenant = { tenantId: key.tenantId, name: `run ${runs}`, createdMs: 0, suspended: false }
        await storage.tenants.createTenant(tenant, 'cli:test')
        const { ranges } = gated(storage)
        for (const [n, one] of steps.entries()) {
          if (one.kind === 'publish') {
            const category = one.lettings ? 'lettings' : 'sales'
            await publish(storage, [draft({ subject: `p ${n}`, category, requestedCreated: one.at })], {
              key,
            })
          } else if (one.kind === 'epoch') await storage.startEpoch(n, 'cli:test')
          else {
            const { view, from, to } = one
            const query = {
              key,
              view,
              ...(from === null ? {} : { from }),
              ...(to === null ? {} : { to }),
            } as const
            const known = ranges.known(query)
            const isWindow = from !== null || to !== null
            if (known !== undefined && isWindow) fromMemory += 1
            if (known?.settled !== undefined) openFromMemory += 1
            if (isWindow) windows += 1
            const found = known ?? (await ranges.locate(query))
            const expected = await storage.events.locate(query)
            assert.deepEqual([found?.range, found?.head], [expected?.range, expected?.head])
            assert.equal(found?.settled === undefined, expected?.settled === undefined)
          }
        }
      }),
    )
    assert.ok(fromMemory > 20, `${fromMemory} of ${windows} windows came from memory`)
    assert.ok(openFromMemory > 20, `${openFromMemory} of them were open`)
  })
})
