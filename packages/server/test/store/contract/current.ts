import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ViewName } from '@property-events/protocol'
import { momentMs, walkMs } from '../../../src/reading/current/moment.ts'
import type { FeedKey } from '../../../src/events/feed-key.ts'
import type { MomentName } from '../../../src/reading/current/moment.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { draft, feedKey, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { list, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { publishMixture } from './reading.ts'

export function currentContract(factory: StoreFactory): void {
  describe('current events', () => {
    it('finds the latest event of every subject, in steps of any size, in every view (PROTOCOL §3.5)', async () => {
      await using store = await withTenants(await factory.create())
      await publishMixture(store, 120)
      await publish(store, [draft({ subject: 'mixed 1', category: 'lettings' })])
      const head = (await list(store)).length
      for (const view of ['all', 'sales', 'lettings'] as const) {
        const expected = await foldAt(store, view, head)
        assert.ok(expected.length > 5)
        for (const limit of [1, 7, 1000]) {
          assert.deepEqual(await latestSteps(store, view, head, limit), expected, `${view} by ${limit}`)
        }
      }
    })

    it('finds the latest events as of an earlier one, whatever came after it (PROTOCOL §3.5)', async () => {
      await using store = await withTenants(await factory.create())
      await publishMixture(store, 90)
      await publish(store, [draft({ subject: 'mixed 1', category: 'lettings' }), draft({ subject: 'new' })])
      const head = (await list(store)).length
      for (const through of [0, 1, 40, 77, head - 2, head]) {
        for (const view of ['all', 'sales', 'lettings'] as const) {
          for (const limit of [1, 9, 1000]) {
            const latest = await latestSteps(store, view, through, limit)
            const earlier = await earlierSteps(store, view, through, limit)
            const found = [...latest, ...earlier].toSorted((a, b) => a - b)
            assert.deepEqual(
              found,
              await foldAt(store, view, through),
              `${view} as of ${through} by ${limit}`,
            )
          }
        }
      }
    })

    it('finds those of contacts, and none of another tenant or of a tenant that is not there (P10)', async () => {
      await using store = await withTenants(await factory.create())
      const key = feedKey(tenantA, 'contact')
      await publish(
        store,
        [draft({ subject: 'c' }), draft({ subject: 'd' }), draft({ subject: 'c', text: '2' })],
        { key },
      )
      const query = { key, view: 'all', after: 0, through: 3, limit: 10 } as const
      assert.deepEqual(await store.events.latestPositions(query), [2, 3])
      const earlier = { ...query, after: 2, through: 2 }
      assert.deepEqual(await store.events.earlierPositions(earlier), { positions: [1], next: undefined })
      for (const other of [feedKey(tenantB, 'contact'), feedKey(tenantA), feedKey(uuid('nobody'))]) {
        assert.deepEqual(await store.events.latestPositions({ ...query, key: other }), [])
        const none = await store.events.earlierPositions({ ...earlier, key: other })
        assert.deepEqual(none, { positions: [], next: undefined })
      }
    })

    it('reads a list of positions as it reads a range, byte for byte (P9)', async () => {
      await using store = await withTenants(await factory.create())
      await publishMixture(store, 230)
      const events = await list(store)
      const positions = Float64Array.from({ length: 115 }, (_, index) => 2 * index + 1)
      const range = { key: feedKey(), view: 'sales', first: 1, count: 115, positions } as const
      for (const [first, count] of [
        [1, 115],
        [1, 1],
        [99, 3],
        [115, 1],
      ] as const) {
        const part = { ...range, first, count }
        const wanted = [...positions.subarray(first - 1, first - 1 + count)]
        const texts = wanted.map((position) => JSON.stringify(events[position - 1]))
        const joined = Buffer.concat(await store.events.readRange(part)).toString()
        assert.equal(joined, texts.join(','))
        const lengths = texts.map((text) => Buffer.byteLength(text))
        assert.deepEqual(await store.events.measureRange(part), lengths)
        if (count > 100) continue
        const bytes = lengths.reduce((sum, length) => sum + length, 0)
        const within = await store.events.readRangeWithin(part, bytes)
        assert.equal(Buffer.concat(within ?? []).toString(), joined)
        assert.equal(await store.events.readRangeWithin(part, bytes - 1), undefined)
      }
      const nobody = { ...range, key: feedKey(uuid('nobody')), count: 3 }
      assert.deepEqual(await store.events.readRange(nobody), [])
      assert.deepEqual(await store.events.measureRange(nobody), [])
    })
  })
  momentsContract(factory)
}

function momentsContract(factory: StoreFactory): void {
  describe('moments', () => {
    it('keeps a moment while a walk is under way, and gives the next walk one of its own (PROTOCOL §3.5)', async () => {
      await using store = await factory.create()
      assert.equal(await store.moments.find(name), undefined)
      const first = await fix(store, 10, t0)
      assert.deepEqual(first, { ...at(10, t0), usedMs: t0 })
      assert.deepEqual(await fix(store, 12, t0 + walkMs - 1), first, 'another first page joins it')
      await store.moments.noteUse(name, first, t0 + walkMs - 1)
      assert.deepEqual(await store.moments.find(name), { ...first, usedMs: t0 + walkMs - 1 })
      const joined = await fix(store, 13, t0 + 2 * walkMs - 2)
      assert.equal(joined.position, 10, 'a page was asked for meanwhile')
      await store.moments.noteUse(name, first, 0)
      const second = await fix(store, 14, t0 + 2 * walkMs)
      assert.equal(second.position, 14, 'the walk has ended')
      await store.moments.noteUse(name, first, 7)
      assert.deepEqual(
        await store.moments.find(name),
        second,
        'what is said of an earlier one counts for nothing',
      )
    })

    it('joins a moment without a walk only if nothing was published since, for a short while (PROTOCOL §3.5)', async () => {
      await using store = await factory.create()
      const first = await fix(store, 10, t0)
      await store.moments.noteUse(name, first, 0)
      assert.equal((await fix(store, 10, t0 + walkMs - 1)).fixedMs, t0)
      assert.equal((await fix(store, 10, t0 + walkMs)).fixedMs, t0 + walkMs)
    })

    it('joins none of another epoch, none that is too old, and none before the requested number (P8, D13)', async () => {
      await using store = await factory.create()
      await fix(store, 10, t0)
      assert.equal((await fix(store, 12, t0 + 1, { least: 110 })).position, 10)
      assert.equal((await fix(store, 12, t0 + 2, { least: 111 })).position, 12)
      assert.equal((await fix(store, 3, t0 + 3, { epoch: 'other' })).position, 3)
      const { moments } = store
      const found = await moments.find(name)
      assert.ok(found)
      await moments.noteUse(name, found, t0 + momentMs + 3)
      assert.equal((await fix(store, 4, t0 + momentMs + 3, { epoch: 'other' })).position, 4)
    })

    it('keeps one for each key, tenant, feed and view, and removes those that have run out (PROTOCOL §3.5)', async () => {
      await using store = await factory.create()
      const names: readonly MomentName[] = [
        name,
        { ...name, keyId: 'other' },
        { ...name, key: feedKey(tenantB) },
        { ...name, key: feedKey(tenantA, 'contact') },
        { ...name, view: 'sales' },
      ]
      for (const [index, one] of names.entries()) {
        const now = at(index + 1, t0 + index)
        assert.equal((await store.moments.fix({ name: one, now, least: 0 })).position, index + 1)
      }
      for (const [index, one] of names.entries())
        assert.equal((await store.moments.find(one))?.position, index + 1)
      await fix(store, 9, t0 + momentMs + 3, { name: { ...name, keyId: 'later' } })
      const kept = await Promise.all(names.map(async (one) => (await store.moments.find(one)) !== undefined))
      assert.deepEqual(kept, [false, false, false, false, true])
    })

    it('gives all that ask at the same time the same moment (PROTOCOL §3.5)', async () => {
      await using store = await factory.create()
      for (let round = 0; round < 5; round += 1) {
        const nowMs = t0 + 2 * round * walkMs
        const asked = Array.from({ length: 6 }, (_, n) => fix(store, 10 * round + n + 1, nowMs + n))
        const positions = new Set((await Promise.all(asked)).map(({ position }) => position))
        assert.equal(positions.size, 1)
        const kept = await store.moments.find(name)
        assert.ok(kept && positions.has(kept.position))
      }
    })
  })
}

const t0 = 1_700_000_000_000
const name: MomentName = { keyId: 'k', key: feedKey(), view: 'all' }

function at(position: number, fixedMs: number, epoch = 'first') {
  return { epoch, position, sequenceNumber: 100 + position, fixedMs }
}

interface Changes {
  readonly epoch?: string
  readonly least?: number
  readonly name?: MomentName
}

function fix(store: StorageEngine, position: number, fixedMs: number, changes: Changes = {}) {
  const { epoch, least = 0, name: one = name } = changes
  return store.moments.fix({ name: one, now: at(position, fixedMs, epoch), least })
}

/** From the whole history: of each subject the last event up to a position, where that is in the view. */
async function foldAt(store: StorageEngine, view: ViewName, through: number): Promise<readonly number[]> {
  const inView = new Set((await list(store, { view })).map(({ sequenceNumber }) => sequenceNumber))
  const last = new Map<string, number>()
  for (const event of (await list(store)).slice(0, through))
    last.set(event.transactionId, event.sequenceNumber)
  return [...last.values()].filter((number) => inView.has(number)).toSorted((a, b) => a - b)
}

async function latestSteps(
  store: StorageEngine,
  view: ViewName,
  through: number,
  limit: number,
  key: FeedKey = feedKey(),
): Promise<readonly number[]> {
  const found: number[] = []
  for (;;) {
    const query = { key, view, after: found.at(-1) ?? 0, through, limit }
    const step = await store.events.latestPositions(query)
    assert.ok(step.length <= limit)
    found.push(...step)
    if (step.length < limit) return found
  }
}

async function earlierSteps(
  store: StorageEngine,
  view: ViewName,
  through: number,
  limit: number,
): Promise<readonly number[]> {
  const found: number[] = []
  for (let after: number | undefined = through; after !== undefined;) {
    const step = await store.events.earlierPositions({ key: feedKey(), view, after, through, limit })
    found.push(...step.positions)
    after = step.next
  }
  return found
}
