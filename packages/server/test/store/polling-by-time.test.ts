/** Clients that ask "from = when I last asked" while commits are slow between stamp and visibility (P3). */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { draft } from './support/drafts.ts'
import { observe, publishers, requestsEach } from './support/observe-polls.ts'
import { list, publish } from './support/read-back.ts'
import { slowCommits } from './support/slow-commits.ts'
import { withTenants } from './support/stores.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

describe('polling by the time of the last question', () => {
  it('misses nothing, however long commits take between stamp and visibility (P3)', async () => {
    using folder = temporaryFolder()
    await using store = await open(folder.path)
    const release = slowCommits(join(folder.path, 'property-events.db'), 40)
    const { published, missed, pollsDuringCommits } = await observe(store, store)
    release()
    assert.equal(published.length, publishers * requestsEach)
    assert.ok(pollsDuringCommits > 0, 'the hazard was there')
    assert.deepEqual(missed, [[], [], [], []])
  })

  it('would miss events if questions did not wait for commits under way: this test can fail (P3)', async () => {
    using folder = temporaryFolder()
    await using store = await open(folder.path)
    // An engine of its own on the same file knows nothing of the other one's commits.
    await using unaware = await open(folder.path)
    const release = slowCommits(join(folder.path, 'property-events.db'), 40)
    // Whether a question falls between stamp and commit is chance: several rounds, and one that misses something is enough.
    let missed = 0
    for (let round = 0; round < 10 && missed === 0; round += 1) {
      missed = (await observe(store, unaware)).missed.flat().length
    }
    release()
    assert.ok(missed > 0, 'something was missed')
  })

  it('answers every other request at once while a commit is under way (P3)', async () => {
    using folder = temporaryFolder()
    await using store = await open(folder.path)
    await publish(store, [draft({ subject: 'first' })])
    const release = slowCommits(join(folder.path, 'property-events.db'), 300)
    const expected = ['closed window', 'no window']
    let first: readonly string[] = []
    // On a machine that is busy the commit may end before anything is asked: several rounds, and one in which nothing waits is enough.
    for (let round = 0; round < 10 && first.join() !== expected.join(); round += 1) {
      const order: string[] = []
      const published = publish(store, [draft({ subject: 'slow' })]).then(() => order.push('published'))
      await delay(100)
      const asked = [
        published,
        list(store, { from: 0n }).then(() => order.push('open window')),
        list(store).then(() => order.push('no window')),
        list(store, { to: 1n }).then(() => order.push('closed window')),
      ]
      await Promise.all(asked)
      first = order.slice(0, 2).toSorted()
    }
    release()
    assert.deepEqual(first, expected)
  })
})

async function open(folder: string): Promise<StorageEngine> {
  return withTenants(
    await openStorage({ kind: 'sqlite', folder, create: true, catalogue: catalogues.default }),
  )
}
