/** One store, used by several threads: each of them sees what any of them has committed, and no moment twice. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { createKnownRanges } from '../../src/feed/known-ranges.ts'
import { changeCounts } from '../../src/storage/change-counts.ts'
import { commitLine } from '../../src/storage/sqlite/commit-line.ts'
import { joinStorage, openForThreads } from '../../src/storage/open-storage.ts'
import type { StorageEngine } from '../../src/storage/storage.ts'
import { draft, feedKey, tenantB } from '../storage/support/drafts.ts'
import { headOf, located, publish } from '../storage/support/read-back.ts'
import { observe } from '../storage/support/observe-polls.ts'
import { slowCommits } from '../storage/support/slow-commits.ts'
import { withTenants } from '../storage/support/stores.ts'
import { temporaryFolder } from '../storage/support/temporary-folder.ts'

interface Joined extends AsyncDisposable {
  readonly owner: StorageEngine
  readonly one: StorageEngine
  readonly two: StorageEngine
  readonly file: string
}

/** Two engines as two serving threads have them. That they are on one thread here changes nothing for either. */
async function join2(folder: string): Promise<Joined> {
  const shared = await openForThreads({ kind: 'sqlite', folder, create: true, catalogue: catalogues.default })
  const owner = await withTenants(shared.storage)
  const [one, two] = await Promise.all([joinStorage(shared.pass()), joinStorage(shared.pass())])
  return {
    owner,
    one,
    two,
    file: join(folder, 'property-events.db'),
    async [Symbol.asyncDispose]() {
      await one.close()
      await two.close()
      await owner.close()
    },
  }
}

describe('a store that several threads use', () => {
  it('shows each of them what another has committed, before that one is acknowledged (P8)', async () => {
    using folder = temporaryFolder()
    await using store = await join2(folder.path)
    // Nothing grows too old to be believed, however slow the machine is.
    const now = (): number => 0
    const ranges = createKnownRanges(store.two.events, now)
    const query = { key: feedKey(), view: 'all' } as const
    const others = createKnownRanges(store.two.events, now)
    await others.locate({ key: feedKey(tenantB), view: 'all' })
    for (let n = 1; n <= 50; n += 1) {
      assert.equal((await ranges.locate(query))?.range.count, n - 1)
      // What was news to this thread is asked for once more: by telling the others it told itself.
      await ranges.locate(query)
      assert.equal(ranges.known(query)?.range.count, n - 1)
      await publish(store.one, [draft({ subject: `p ${n}` })])
      assert.equal(ranges.known(query), undefined)
    }
    assert.notEqual(
      others.known({ key: feedKey(tenantB), view: 'all' }),
      undefined,
      'what is known of other feeds stays',
    )
  })

  it('wakes those who wait on one thread for what another has committed (P8)', async () => {
    using folder = temporaryFolder()
    await using store = await join2(folder.path)
    const told = Promise.withResolvers<void>()
    const stop = store.two.events.watch(() => told.resolve())
    await publish(store.one, [draft({ subject: 'p' })])
    await told.promise
    assert.equal((await headOf(store.two)).position, 1)
    stop()
  })

  it('misses nothing in a read by time while another thread is committing (P3)', async () => {
    using folder = temporaryFolder()
    await using store = await join2(folder.path)
    // The first window waits for time to be reserved, which the commits of this test would hold up to their end.
    await located(store.two, { from: 0n })
    const release = slowCommits(store.file, 40)
    const { missed, pollsDuringCommits } = await observe(store.one, store.two)
    release()
    assert.ok(pollsDuringCommits > 0, 'the hazard was there')
    assert.deepEqual(missed, [[], [], [], []])
  })

  it('stays open for the others when one thread closes its own', async () => {
    using folder = temporaryFolder()
    await using store = await join2(folder.path)
    await publish(store.one, [draft({ subject: 'p' })])
    await store.one.close()
    await publish(store.two, [draft({ subject: 'q' })])
    assert.equal((await headOf(store.owner)).position, 2)
  })
})

describe('the line of commits', () => {
  it('puts stamps after every read, and makes a read during a commit wait (P3)', () => {
    const writer = commitLine()
    const reader = commitLine(writer.memory)
    assert.equal(reader.ask(1_000_000n), true)
    writer.commit((floor) => {
      assert.ok(floor > 1_000_000n)
      assert.equal(reader.ask(2_000_000n), false)
    })
    assert.equal(reader.ask(500_000n), true, 'a clock that was set back')
    assert.throws(() =>
      writer.commit((floor) => {
        assert.ok(floor > 2_000_000n)
        throw new Error('the disk is full')
      }),
    )
    assert.equal(reader.ask(3_000_000n), true, 'nothing waits after a commit that failed')
  })
})

describe('counts of changes', () => {
  it('move in every thread for the feed that changed, and for all when any may have', () => {
    const writer = changeCounts()
    const counts = changeCounts(writer.memory)
    const keys = [feedKey(), feedKey(tenantB)] as const
    const before = keys.map((key) => counts.of(key))
    writer.raise(keys[0])
    assert.notEqual(counts.of(keys[0]), before[0])
    assert.equal(counts.of(keys[1]), before[1])
    writer.raise(undefined)
    assert.notEqual(counts.of(keys[1]), before[1])
  })
})
