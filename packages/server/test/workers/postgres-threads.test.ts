import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { createKnownRanges } from '../../src/feed/known-ranges.ts'
import { joinStorage, openForThreads } from '../../src/storage/open-storage.ts'
import { sharedDatabases } from '../postgres/test-databases.ts'
import { draft, feedKey } from '../storage/support/drafts.ts'
import { publish } from '../storage/support/read-back.ts'
import { withTenants } from '../storage/support/stores.ts'

describe('threads of one node on PostgreSQL', () => {
  const opened: { close(): Promise<void> }[] = []
  after(async () => {
    for (const storage of opened) await storage.close()
  })

  it('know at once what any of them has stored, although each has connections of its own (P8)', async () => {
    const url = await (await sharedDatabases()).create()
    const options = { kind: 'postgres', url, readConnections: 2, create: true } as const
    const shared = await openForThreads({ ...options, catalogue: catalogues.default })
    await withTenants(shared.storage)
    const [one, two] = await Promise.all([joinStorage(shared.pass()), joinStorage(shared.pass())])
    opened.push(one, two, shared.storage)
    const ranges = createKnownRanges(two.events)
    for (let n = 1; n <= 20; n += 1) {
      await ranges.locate({ key: feedKey(), view: 'all' })
      await publish(one, [draft({ subject: `p ${n}` })])
      assert.equal(ranges.known({ key: feedKey(), view: 'all' }), undefined)
      assert.equal((await ranges.locate({ key: feedKey(), view: 'all' }))?.range.count, n)
    }
  })
})
