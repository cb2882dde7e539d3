/** The orders of accesses that keep a poll by time and a commit from missing each other, one step at a time (P3). */
import assert from 'node:assert/strict'
import { mock, describe, it } from 'node:test'
import { floorAfter } from '../../src/runtime/clock.ts'
import { commitLine } from '../../src/events/sqlite/commit-line.ts'
import { changeCounts } from '../../src/events/watchers.ts'
import { createPageRangeCache } from '../../src/reading/page-range-cache.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { draft, feedKey, tenantA } from './support/drafts.ts'
import { begin, erasureOf, subject } from './support/erasing.ts'
import { headOf, list, publish } from './support/read-back.ts'
import { beginLifting, beginRestriction } from './support/restricting.ts'
import { withTenants } from './support/stores.ts'
import { testClock, ticks } from './support/test-clock.ts'
import { temporaryStore } from '../support/temporary-store.ts'

const key = feedKey(tenantA, 'contact')

/** Calls `between` before each access of shared memory, until what is returned is disposed. Accesses that it makes itself pass. */
function beforeEachAccess(between: () => void): Disposable {
  let isBetween = false
  for (const access of ['store', 'load', 'add'] as const) {
    const original = Atomics[access]
    mock.method(Atomics, access, (...given: unknown[]): unknown => {
      if (!isBetween) {
        isBetween = true
        between()
        isBetween = false
      }
      return Reflect.apply(original, Atomics, given)
    })
  }
  return { [Symbol.dispose]: () => mock.restoreAll() }
}

describe('a question by time that comes while a commit begins', () => {
  it("has to wait, or the commit's stamps are after it: at each access in between (P3)", () => {
    const changes = changeCounts()
    const line = commitLine(changes)
    const reader = commitLine(changes, line.memory)
    const asked: { readonly now: bigint; readonly waits: boolean }[] = []
    let floor = 0n
    let now = 1_000n
    {
      using _ = beforeEachAccess(() => {
        now += 1_000n
        asked.push({ now, waits: !reader.ask(now) })
      })
      line.commit(
        (given) => (floor = given),
        () => [],
      )
    }
    assert.ok(asked.length > 0, 'somebody asked in between')
    for (const { now: moment, waits } of asked) {
      assert.ok(waits || floor >= floorAfter(moment), `asked at ${moment}`)
    }
  })
})

describe('a question by time that comes while a commit ends', () => {
  /** Each prepares the store, and then writes. */
  const writes: Readonly<Record<string, (store: StorageEngine) => Promise<() => Promise<unknown>>>> = {
    'a publication': async (store) => () => publish(store, [draft({ subject: 'Tŷ £ – 🏡' })], { key }),
    'a restriction': async (store) => () => beginRestriction(store, 'c'),
    async 'the end of a restriction'(store) {
      const { restrictionId } = await beginRestriction(store, 'c')
      return () => beginLifting(store, restrictionId)
    },
    'an erasure': async (store) => () => begin(store, subject('c'), { key }),
    async 'an erasure of what is unchanged'(store) {
      const { position } = await headOf(store, key)
      return () => store.erasures.beginUnchanged(erasureOf(subject('d'), { key }), position)
    },
  }
  for (const [what, prepare] of Object.entries(writes)) {
    it(`is answered from memory only with what comes before it: ${what}, at each access in between (P3)`, async () => {
      const { clock } = testClock('2025-01-31T12:00:00')
      await using store = await withTenants(await temporaryStore({ clock }))
      await publish(store, [draft({ subject: 'c' }), draft({ subject: 'd' })], { key })
      const write = await prepare(store)
      const ranges = createPageRangeCache(store.events)
      const poll = { key, view: 'all', from: ticks('2025-01-31T12:00:01') } as const
      // The first may show a number that this node had not shown before, which counts as a change.
      for (let asked = 0; asked < 2; asked += 1) assert.equal((await ranges.locate(poll))?.range.count, 0)
      const answers: { readonly settled: bigint; readonly position: number }[] = []
      {
        using _ = beforeEachAccess(() => {
          clock[0] = (clock[0] ?? 0n) + 200_000n
          const { settled, head } = ranges.known(poll) ?? {}
          if (settled !== undefined && head !== undefined) answers.push({ settled, position: head.position })
        })
        await write()
      }
      assert.ok(answers.length > 0, 'somebody was answered from memory')
      for (const { createdDate, sequenceNumber } of await list(store, { key })) {
        const created = ticks(createdDate)
        for (const { settled, position } of answers)
          assert.ok(created >= settled || sequenceNumber <= position, `${createdDate} before ${settled}`)
      }
    })
  }

  it('finds the commit counted although the writer has ended before that (P3)', () => {
    const changes = changeCounts()
    const line = commitLine(changes)
    Atomics.store(new BigInt64Array(line.memory), 1, 1n)
    const before = changes.of(key)
    const asked: { readonly waits: boolean; readonly count: number }[] = []
    const ask = (): void => void asked.push({ waits: !line.ask(1_000n), count: changes.of(key) })
    {
      using _ = beforeEachAccess(ask)
      line.writerEnded()
    }
    ask()
    assert.ok(asked.length > 1, 'somebody asked in between')
    for (const { waits, count } of asked) assert.ok(waits || count !== before)
    assert.equal(asked.at(-1)?.waits, false)
  })
})
