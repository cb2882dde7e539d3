import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mostRanges } from '../../../src/consumers/consumer.ts'
import type { NewRead, ReadPart, ReadRoute, SentRange } from '../../../src/consumers/consumer.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { pick, randomOf } from '../../../../client/test/support/random.ts'
import type { Random } from '../../../../client/test/support/random.ts'
import { isLongRun } from '../../support/on-engines.ts'
import { feedKey, tenantA, tenantB } from '../support/drafts.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

const properties = feedKey(tenantA, 'property')
const all = { view: 'all', space: 'ordinals', epoch: 'e1' } as const
const single = { view: 'single', space: 'numbers', epoch: '' } as const

function read(minute: number, ranges: NewRead['minutes'][number]['ranges'], changes: Partial<NewRead> = {}) {
  const { route = 'list' } = changes
  const answer = { askedMs: minute * 60_000, quietMs: undefined, status: 200, route }
  const name = { key: properties, keyId: 'key', name: 'default' }
  return { ...name, ...all, ...answer, minutes: [{ minute, route, ranges }], ...changes }
}

async function sentOf({ consumers }: StorageEngine, name = 'default'): Promise<readonly SentRange[]> {
  const consumer = { key: properties, keyId: 'key', name }
  const found: SentRange[] = []
  for (;;) {
    const some = await consumers.sentAfter(consumer, found.at(-1), 7)
    if (some.length === 0) return found
    found.push(...some)
  }
}

const parts: readonly ReadPart[] = [
  all,
  { ...all, epoch: 'e2' },
  { ...all, view: 'sales' },
  { ...all, space: 'positions' },
  { view: 'all', space: 'numbers', epoch: '' },
  { view: 'all', space: 'latest', epoch: '' },
  single,
]
const routes: readonly ReadRoute[] = ['list', 'run', 'stream']

function randomRead(random: Random, clock: number): NewRead {
  // A consumer goes on, starts again from 1, reads a window, or a single event.
  const low = pick(random, 3) === 0 ? 1 : 1 + pick(random, 60)
  const high = low + pick(random, pick(random, 4) === 0 ? 40 : 4)
  const further = high + 2 + pick(random, 9)
  const ranges = [[low, high] as const, ...(pick(random, 2) === 0 ? [[further, further] as const] : [])]
  const route = routes[pick(random, routes.length)] ?? 'list'
  const part = parts[pick(random, parts.length)] ?? all
  const name = pick(random, 2) === 0 ? 'website' : 'Ty-Mawr'
  return read(clock - pick(random, 5), ranges, { ...part, route, name })
}

/** When each number was first sent, by the rule in the simplest form: the least minute, and in that the first route by name. */
function model(reads: readonly NewRead[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const { name, view, space, epoch, minutes } of reads) {
    for (const { minute, route, ranges } of minutes) {
      for (const [low, high] of ranges) {
        for (let number = low; number <= high; number += 1) {
          const text = [name, view, space, epoch, number].join(' ')
          const sent = `${1_000 + minute} ${route}`
          if (sent < (found.get(text) ?? '~')) found.set(text, sent)
        }
      }
    }
  }
  return found
}

async function assertIsModel(store: StorageEngine, reads: readonly NewRead[]): Promise<void> {
  const expected = model(reads)
  const found = new Map<string, string>()
  for (const name of ['website', 'Ty-Mawr']) {
    let before: SentRange | undefined
    for (const row of await sentOf(store, name)) {
      const { view, space, epoch, minute, route, range } = row
      const isNext =
        before !== undefined &&
        [before.view, before.space, before.epoch].join(' ') === [view, space, epoch].join(' ') &&
        before.range[1] + 1 === range[0]
      const isSame = before?.minute === minute && before.route === route
      assert.ok(!(isNext && isSame), 'rows side by side of the same minute and route are one row')
      for (let number = range[0]; number <= range[1]; number += 1) {
        const text = [name, view, space, epoch, number].join(' ')
        assert.ok(!found.has(text), 'rows do not overlap')
        found.set(text, `${1_000 + minute} ${route}`)
      }
      before = row
    }
  }
  assert.deepEqual(found, expected)
}

export function sentLogContract(factory: StoreFactory): void {
  describe('when consumers were first sent something', () => {
    const count = isLongRun ? 6_000 : 400
    it(`is as a fold of ${count} reads has it, of two consumers, through two nodes at once and restarts (D28)`, async () => {
      const random = randomOf(43)
      await using store = await withTenants(await factory.create())
      const reads = Array.from({ length: count }, (_, at) => randomRead(random, 100 + Math.floor(at / 9)))
      for (let from = 0; from < reads.length; from += 20) {
        const some = reads.slice(from, from + 20)
        const half = pick(random, 20)
        await Promise.all([store.consumers.add(some.slice(0, half)), store.consumers.add(some.slice(half))])
        // After a restart a node adds what it could not add before: the same again, in another order.
        if (pick(random, 4) === 0) await store.consumers.add(some.toReversed())
      }
      await assertIsModel(store, reads)
    })

    it('costs one row for each minute with something new, and none when a consumer reads all of it again (D28)', async () => {
      await using store = await withTenants(await factory.create())
      for (let at = 0; at < 9; at += 1)
        await store.consumers.add([read(10 + Math.floor(at / 3), [[at + 1, at + 1]])])
      const rows = await sentOf(store)
      assert.deepEqual(
        rows.map(({ range, minute }) => [range, minute]),
        [
          [[1, 3], 10],
          [[4, 6], 11],
          [[7, 9], 12],
        ],
      )
      await store.consumers.add([read(20, [[1, 9]]), read(21, [[1, 9]])])
      assert.deepEqual(await sentOf(store), rows)
    })

    it('is found for any number of a part, and for none that was not sent (D28)', async () => {
      await using store = await withTenants(await factory.create())
      const ranges = [
        [2, 5],
        [9, 9],
      ] as const
      await store.consumers.add([
        read(20, ranges),
        read(21, [[7, 7]], { route: 'run' }),
        read(22, [[2, 2]], { ...single, route: 'event', name: 'Ty-Mawr' }),
      ])
      const search = { key: properties, keyId: 'key', name: 'default', ...all }
      const found = await store.consumers.firstSent([
        ...[1, 2, 5, 6, 7, 9, 10].map((number) => ({ ...search, number })),
        { ...search, epoch: 'e2', number: 9 },
        { ...search, view: 'sales', number: 9 },
        { ...search, name: 'website', number: 9 },
        { ...search, key: feedKey(tenantB, 'property'), number: 9 },
        { ...search, ...single, name: 'Ty-Mawr', number: 2 },
      ])
      assert.deepEqual(
        found.map((one) => one && `${one.minute} ${one.route}`),
        [
          undefined,
          '20 list',
          '20 list',
          undefined,
          '21 run',
          '20 list',
          undefined,
          ...Array(4).fill(undefined),
          '22 event',
        ],
      )
    })

    it('forgets what is older than it is kept, on two nodes at once, and then does not take a later read for the first (D28)', async () => {
      await using store = await withTenants(await factory.create())
      await store.consumers.add([read(10, [[1, 5]]), read(11, [[6, 9]]), read(12, [[1, 12]])])
      const tidy = { consumers: [], mostRows: 20, beforeMs: 11 * 60_000 }
      await Promise.all([store.consumers.tidy(tidy), store.consumers.tidy(tidy)])
      const kept = [
        [[6, 9], 11],
        [[10, 12], 12],
      ]
      const rows = async () => (await sentOf(store)).map(({ range, minute }) => [range, minute])
      assert.deepEqual(await rows(), kept)
      await store.consumers.add([read(15, [[1, 12]])])
      assert.deepEqual(await rows(), kept)
    })

    it('keeps no more rows of a consumer than requested, the newest (D28)', async () => {
      await using store = await withTenants(await factory.create())
      const reads = Array.from({ length: 30 }, (_, at) => read(at, [[at * 2 + 1, at * 2 + 1]], single))
      await store.consumers.add(reads)
      await store.consumers.add([read(1, [[1, 1]], { name: 'Ty-Mawr' })])
      const tidy = { consumers: reads.slice(0, 1), mostRows: 20, beforeMs: 0 }
      await Promise.all([store.consumers.tidy(tidy), store.consumers.tidy(tidy)])
      const minutes = (await sentOf(store)).map(({ minute }) => minute)
      assert.deepEqual(
        minutes,
        Array.from({ length: 20 }, (_, at) => at + 10),
      )
      assert.equal((await sentOf(store, 'Ty-Mawr')).length, 1)
    })

    it(`stays exact where more than ${mostRanges} ranges of a view were sent (D28)`, async () => {
      await using store = await withTenants(await factory.create())
      const many = Array.from({ length: mostRanges + 100 }, (_, at) => [at * 10 + 1, at * 10 + 1] as const)
      await store.consumers.add([read(10, many)])
      await store.consumers.add([read(11, [[1, many.length * 10]])])
      const rows = await sentOf(store)
      assert.equal(rows.filter(({ minute }) => minute === 10).length, many.length)
      assert.equal(rows.length, 2 * many.length)
    })
  })
}
