/** Order as publishers and readers live through it, on every engine, and on two that have it wrong (P1, P2). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { draft } from './support/drafts.ts'
import { list, numbers, publish } from './support/read-back.ts'
import { orderFaults } from './support/order-log.ts'
import type { OrderedFeed } from './support/order-log.ts'
import { numbersInBlocks, plainSequence } from './support/plain-sequence.ts'
import { withTenants } from './support/stores.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

function feedOf(store: StorageEngine): OrderedFeed {
  return {
    async publish(subject) {
      const [line] = await publish(store, [draft({ subject })])
      return line?.stored?.sequenceNumber ?? 0
    },
    visible: async () => numbers(await list(store)),
  }
}

describe('order under concurrent publishers and readers', () => {
  it('holds on SQLite, also when two writers share the file (P1, P2)', async () => {
    using folder = temporaryFolder()
    const options = { kind: 'sqlite', folder: folder.path, create: true } as const
    await using one = await withTenants(await openStorage({ ...options, catalogue: catalogues.default }))
    await using other = await openStorage(options)
    assert.deepEqual(await orderFaults([feedOf(one), feedOf(other)], 25), [])
  })

  it('is found broken when numbers come from a plain sequence: this test can fail (P2)', async () => {
    const faults = await orderFaults([plainSequence()], 25)
    assert.match(faults.join('\n'), /appeared behind/)
  })

  it('is found broken when numbers do not follow acknowledgements: this test can fail (P1)', async () => {
    const faults = await orderFaults([numbersInBlocks()], 20)
    assert.match(faults.join('\n'), /began after \d+ was acknowledged/)
  })
})
