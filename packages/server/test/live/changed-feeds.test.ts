/** Which feeds have moved, on several nodes that look at different times (docs/decisions/0035). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { unreported } from '../../src/runtime/background-task.ts'
import { changedFeeds, readableFeeds } from '../../src/live/changed-feeds.ts'
import type { ChangedFeeds } from '../../src/live/changed-feeds.ts'
import { changeCounts } from '../../src/events/watchers.ts'
import { epochWeight } from '../../src/events/epochs.ts'
import { feedName } from '../../src/events/feed-key.ts'
import type { FeedKey } from '../../src/events/feed-key.ts'
import type { FeedVersion } from '../../src/events/event-log.ts'

const key = (n: number): FeedKey => ({ tenantId: `tenant ${n}`, feed: 'property' })

/** How many versions were read, and how often their sum. */
interface Reading {
  versions: number
  totals: number
}

/** A store of so many feeds, and nodes over it with one clock. */
function market(feeds: number) {
  const versions = new Map<string, FeedVersion>()
  let nowMs = 0
  const read: Reading = { versions: 0, totals: 0 }
  const put = (n: number, count: number, epoch = 'a'): void => {
    versions.set(feedName(key(n)), { key: key(n), epoch, count })
  }
  for (let n = 0; n < feeds; n += 1) put(n, 0)
  const node = () => {
    const listeners = new Set<(key: FeedKey | undefined) => void>()
    const counts = changeCounts()
    const moved = changedFeeds(
      {
        async versions(keys) {
          const found = keys?.flatMap((one) => versions.get(feedName(one)) ?? []) ?? [...versions.values()]
          read.versions += found.length
          return found
        },
        async versionsTotal() {
          read.totals += 1
          const sum = [...versions.values()].reduce((total, { count }) => total + BigInt(count), 0n)
          const epochs = [...versions.values()].reduce((all, { epoch }) => all + epochWeight(epoch), 0)
          return { feeds: versions.size, total: sum, epochs }
        },
        watch(listener) {
          listeners.add(listener)
          return () => listeners.delete(listener)
        },
        changeCount: (one) => counts.of(one),
      },
      unreported,
      () => nowMs,
    )
    return {
      moved,
      hint: (n: number) => listeners.forEach((tell) => tell(key(n))),
      /** As a thread is told of another one's append: that there was one. */
      hintUnnamed: (n: number) => {
        counts.raise(key(n))
        listeners.forEach((tell) => tell(undefined))
      },
    }
  }
  return {
    versions,
    put,
    node,
    change: (n: number) => put(n, (versions.get(feedName(key(n)))?.count ?? 0) + 1),
    pass: (ms: number) => {
      nowMs += ms
    },
    read,
    readable: readableFeeds(Array.from({ length: feeds }, (_, n) => key(n))),
  }
}

const numbersOf = ({ keys }: { readonly keys: readonly FeedKey[] }) =>
  keys.map(({ tenantId }) => Number(tenantId.slice(7))).toSorted((a, b) => a - b)

describe('feeds that have moved', () => {
  it('are those alone that changed, and of these alone more is read than a sum once a second (PROTOCOL §11)', async () => {
    const { node, change, pass, read, readable } = market(5_000)
    const { moved, hint } = node()
    const ask = (since?: string) => moved.since(since, readable)
    let { next } = await ask()
    assert.deepEqual(read, { versions: 5_000, totals: 0 })
    for (let n = 0; n < 100; n += 1) next = (await ask(next)).next
    assert.deepEqual(read, { versions: 5_000, totals: 0 })
    pass(1_000)
    next = (await ask(next)).next
    assert.deepEqual(read, { versions: 5_000, totals: 1 })
    change(7)
    // Nobody told of it.
    pass(1_000)
    const told = await ask(next)
    assert.deepEqual([numbersOf(told), read], [[7], { versions: 10_000, totals: 2 }])
    ;({ next } = told)
    change(8)
    hint(8)
    assert.deepEqual(numbersOf(await ask(next)), [8])
    assert.deepEqual(read, { versions: 10_001, totals: 2 })
    // A token from long before still names all that came after it.
    pass(1_000)
    assert.deepEqual(numbersOf(await ask(next)), [8])
    for (let n = 0; n < 12_000; n += 1) {
      change(n % 3_000)
      if (n % 1_000 !== 0) continue
      pass(1_000)
      await ask(next)
    }
    pass(1_000)
    assert.equal(numbersOf(await ask(next)).length, 3_000)
  })

  it('are missed on no node, whichever is asked next (PROTOCOL §11, P2)', async () => {
    const { node, change, pass, readable } = market(50)
    const nodes = [node(), node(), node()]
    let { next } = (await nodes[0]?.moved.since(undefined, readable)) ?? { next: '' }
    let seed = 1
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    const unseen = new Set<number>()
    for (let step = 0; step < 3_000; step += 1) {
      if (random(3) === 0) {
        const n = random(50)
        change(n)
        unseen.add(n)
      }
      pass(random(700))
      const answer = await nodes[random(3)]?.moved.since(next, readable)
      for (const n of numbersOf(answer ?? { keys: [] })) unseen.delete(n)
      next = answer?.next ?? ''
    }
    pass(1_000)
    for (const n of numbersOf((await nodes[0]?.moved.since(next, readable)) ?? { keys: [] })) unseen.delete(n)
    assert.deepEqual([...unseen], [])
  })

  it('are all of them when feeds came or went, an epoch began, or the store went back (PROTOCOL §11, D13)', async () => {
    const { node, change, put, versions, pass, readable } = market(4)
    const { moved } = node()
    const later = async (since: string) => {
      pass(1_000)
      return moved.since(since, readable)
    }
    for (let n = 0; n < 10; n += 1) change(0)
    let { next } = await moved.since(undefined, readable)
    const steps: readonly (() => void)[] = [
      () => put(4, 0),
      () => void versions.delete(feedName(key(4))),
      () => put(1, 0, 'b'),
      () => put(0, 3),
    ]
    for (const step of steps) {
      step()
      const answer = await later(next)
      assert.deepEqual(numbersOf(answer), [0, 1, 2, 3])
      ;({ next } = answer)
      assert.deepEqual(numbersOf(await later(next)), [])
    }
    const other = await moved.since(next, readableFeeds([key(0), key(1)]))
    assert.deepEqual(numbersOf(other), [0, 1])
  })

  it('are requested again after the store has failed (P8)', async () => {
    let fails = true
    let tell: (key: FeedKey | undefined) => void = () => undefined
    const moved: ChangedFeeds = changedFeeds(
      {
        async versions() {
          if (fails) throw new Error('away')
          return [{ key: key(0), epoch: 'a', count: 1 }]
        },
        versionsTotal: async () => ({ feeds: 1, total: 1n, epochs: epochWeight('a') }),
        watch(listener) {
          tell = listener
          return () => undefined
        },
        changeCount: () => 0,
      },
      unreported,
    )
    const readable = readableFeeds([key(0)])
    await assert.rejects(moved.since(undefined, readable), /away/)
    tell(key(0))
    await assert.rejects(moved.since(undefined, readable), /away/)
    fails = false
    assert.deepEqual(numbersOf(await moved.since(undefined, readable)), [0])
  })
})

describe('waiting for feeds to move', () => {
  const never = new AbortController().signal
  /** Long enough for every machine: what is told comes before. */
  const longMs = 30_000

  it('ends with the feed that moved, named or not, and costs that feed alone (PROTOCOL §13, L2)', async () => {
    const { node, change, read, readable } = market(5_000)
    const { moved, hint, hintUnnamed } = node()
    let { next } = await moved.wait(undefined, readable, longMs, never)
    read.versions = 0
    for (const [n, tell] of [
      [3, hint],
      [4, hintUnnamed],
      [3, hint],
      [5, hintUnnamed],
    ] as const) {
      const waiting = moved.wait(next, readable, longMs, never)
      await setImmediate()
      change(n)
      tell(n)
      const told = await waiting
      assert.deepEqual(numbersOf(told), [n])
      ;({ next } = told)
    }
    // The first hint without a name is of counts that nobody had looked at; after it, of a few feeds that share one.
    assert.ok(read.versions < 5_000 + 40, `${read.versions} versions were read`)
  })

  it('is not ended by feeds that the key does not read (P10)', async () => {
    const { node, change } = market(50)
    const { moved, hint } = node()
    const own = readableFeeds([key(1)])
    const { next } = await moved.since(undefined, own)
    const waiting = moved.wait(next, own, longMs, never)
    for (const n of [2, 3, 1]) {
      await setImmediate()
      change(n)
      hint(n)
    }
    assert.deepEqual(numbersOf(await waiting), [1])
  })

  it('reports each change once to a reader that returns, also from another node (PROTOCOL §13)', async () => {
    const { node, change, pass, readable } = market(5_000)
    const [one, two] = [node(), node()]
    const first = await one.moved.wait(undefined, readable, longMs, never)
    await two.moved.since(undefined, readable)
    change(7)
    one.hint(7)
    const told = await one.moved.wait(first.next, readable, longMs, never)
    assert.deepEqual(numbersOf(told), [7])
    assert.deepEqual(numbersOf(await one.moved.wait(told.next, readable, 1, never)), [])
    pass(1_000)
    // The sum is read again, and names nothing anew.
    assert.deepEqual(numbersOf(await one.moved.wait(told.next, readable, 1, never)), [])
    assert.deepEqual(numbersOf(await two.moved.wait(first.next, readable, longMs, never)), [7])
    change(8)
    pass(1_000)
    const elsewhere = await two.moved.wait(told.next, readable, longMs, never)
    assert.ok(numbersOf(elsewhere).includes(8))
    assert.deepEqual(numbersOf(await two.moved.wait(elsewhere.next, readable, 1, never)), [])
  })

  it('ends without feeds when its time is over, when its reader has gone, and when the service stops (PROTOCOL §13)', async () => {
    const { node, readable } = market(3)
    const { moved } = node()
    const { next } = await moved.since(undefined, readable)
    assert.deepEqual((await moved.wait(next, readable, 1, never)).keys, [])
    const gone = new AbortController()
    const left = moved.wait(next, readable, longMs, gone.signal)
    await setImmediate()
    gone.abort()
    assert.deepEqual((await left).keys, [])
    const waiting = moved.wait(next, readable, longMs, never)
    await setImmediate()
    moved.endWaits()
    assert.deepEqual((await waiting).keys, [])
    moved.close()
  })

  it('misses no change of any node, whether or not it heard of it (PROTOCOL §13, P2)', async () => {
    const { node, change, pass, readable } = market(50)
    const nodes = [node(), node(), node()]
    let seed = 7
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    let { next } = (await nodes[0]?.moved.since(undefined, readable)) ?? { next: '' }
    const unseen = new Set<number>()
    for (let step = 0; step < 2_000; step += 1) {
      if (random(3) === 0) {
        const n = random(50)
        change(n)
        unseen.add(n)
        const told = nodes[random(6)]
        if (random(2) === 0) told?.hint(n)
        else told?.hintUnnamed(n)
      }
      pass(random(700))
      const answer = await nodes[random(3)]?.moved.wait(next, readable, 1, never)
      for (const n of numbersOf(answer ?? { keys: [] })) unseen.delete(n)
      next = answer?.next ?? ''
    }
    pass(1_000)
    for (const { moved } of nodes) {
      pass(1_000)
      const answer = await moved.wait(next, readable, 1, never)
      for (const n of numbersOf(answer)) unseen.delete(n)
      ;({ next } = answer)
    }
    assert.deepEqual([...unseen], [])
  })
})
