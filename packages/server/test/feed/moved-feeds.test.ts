/** Which feeds have moved, on several nodes that look at different times (docs/decisions/0035). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { movedFeeds, readableFeeds } from '../../src/feed/moved-feeds.ts'
import type { MovedFeeds } from '../../src/feed/moved-feeds.ts'
import { feedName } from '../../src/storage/storage.ts'
import type { FeedKey, FeedMark } from '../../src/storage/storage.ts'

const key = (n: number): FeedKey => ({ tenantId: `tenant ${n}`, feed: 'property' })

/** A store of so many feeds, and nodes over it with one clock. */
function market(feeds: number) {
  const marks = new Map<string, FeedMark>()
  let nowMs = 0
  let readings = 0
  const put = (n: number, count: number, epoch = 'a'): void => {
    marks.set(feedName(key(n)), { key: key(n), epoch, count })
  }
  for (let n = 0; n < feeds; n += 1) put(n, 0)
  const node = () => {
    const listeners = new Set<(key: FeedKey | undefined) => void>()
    const moved = movedFeeds(
      {
        marks: async () => {
          readings += 1
          return [...marks.values()]
        },
        watch(listener) {
          listeners.add(listener)
          return () => listeners.delete(listener)
        },
      },
      () => nowMs,
    )
    return {
      moved,
      hint: (n?: number) => listeners.forEach((tell) => tell(n === undefined ? undefined : key(n))),
    }
  }
  return {
    marks,
    put,
    node,
    change: (n: number) => put(n, (marks.get(feedName(key(n)))?.count ?? 0) + 1),
    pass: (ms: number) => {
      nowMs += ms
    },
    readings: () => readings,
    readable: readableFeeds(Array.from({ length: feeds }, (_, n) => key(n))),
  }
}

const numbersOf = ({ keys }: { readonly keys: readonly FeedKey[] }) =>
  keys.map(({ tenantId }) => Number(tenantId.slice(7))).toSorted((a, b) => a - b)

describe('feeds that have moved', () => {
  it('are those alone that changed, at the cost of one reading a second (PROTOCOL §11)', async () => {
    const { node, change, pass, readings, readable } = market(5_000)
    const { moved, hint } = node()
    const ask = (since?: string) => moved.since(since, readable)
    let { next } = await ask()
    assert.equal(readings(), 1)
    for (let n = 0; n < 100; n += 1) next = (await ask(next)).next
    assert.equal(readings(), 1)
    change(7)
    // Nobody told of it.
    pass(1_000)
    const told = await ask(next)
    assert.deepEqual([numbersOf(told), readings()], [[7], 2])
    ;({ next } = told)
    change(8)
    hint(8)
    assert.deepEqual(numbersOf(await ask(next)), [8])
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
    const { node, change, put, marks, pass, readable } = market(4)
    const { moved } = node()
    const later = async (since: string) => {
      pass(1_000)
      return moved.since(since, readable)
    }
    for (let n = 0; n < 10; n += 1) change(0)
    let { next } = await moved.since(undefined, readable)
    const steps: readonly (() => void)[] = [
      () => put(4, 0),
      () => void marks.delete(feedName(key(4))),
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

  it('are asked for again after the store has failed (P8)', async () => {
    let fails = true
    let tell: (key: FeedKey | undefined) => void = () => undefined
    const moved: MovedFeeds = movedFeeds({
      async marks() {
        if (fails) throw new Error('away')
        return [{ key: key(0), epoch: 'a', count: 1 }]
      },
      watch(listener) {
        tell = listener
        return () => undefined
      },
    })
    const readable = readableFeeds([key(0)])
    await assert.rejects(moved.since(undefined, readable), /away/)
    tell(key(0))
    await assert.rejects(moved.since(undefined, readable), /away/)
    fails = false
    assert.deepEqual(numbersOf(await moved.since(undefined, readable)), [0])
  })
})
