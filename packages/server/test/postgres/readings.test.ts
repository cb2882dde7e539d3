/** What consumers were sent, on PostgreSQL: two nodes that add it at once (PROTOCOL §14). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { createReadCounts } from '../../src/consumers/read-counts.ts'
import { openStorage } from '../../src/store/open-storage.ts'
import { feedKey, tenantA } from '../store/support/drafts.ts'
import { withTenants } from '../store/support/stores.ts'
import { isLongRun } from '../support/on-engines.ts'
import { sharedDatabases } from './test-databases.ts'

const keyCount = isLongRun ? 10_000 : 500
const nowMs = 480_000 * 3_600_000
const key = feedKey(tenantA, 'property')

describe('readings on PostgreSQL', () => {
  it(`are exact when two nodes add those of the same ${keyCount} keys at once, refusals and acknowledgements too (PROTOCOL §14)`, async () => {
    const url = await (await sharedDatabases()).create()
    const open = () =>
      openStorage({ kind: 'postgres', url, readConnections: 1, create: true, catalogue: catalogues.default })
    await using first = await withTenants(await open())
    await using second = await open()
    const clock = () => nowMs
    const nodes = [first, second].map(({ consumers }) =>
      createReadCounts(consumers, { resultDays: 730, clock }),
    )
    const rest = async (): Promise<void> => undefined
    for (const round of [0, 1, 2]) {
      for (const [at, node] of nodes.entries()) {
        // Each in an order of its own, and each was asked for every other page.
        const page = 2 * round + at
        const ranges = [[page * 100 + 1, page * 100 + 100]] as const
        const part = { key, view: 'all', space: 'ordinals', epoch: 'e1', route: 'list' } as const
        const told = { ...part, ranges, isQuiet: false }
        for (let n = 0; n < keyCount; n += 1) {
          const keyId = `key${at === 0 ? n : keyCount - 1 - n}`
          node.note(keyId, 'default', told, 200)
          if (n % 10 === 0)
            node.noteRefusal({
              keyId,
              name: 'default',
              tenantId: tenantA,
              code: 'epoch_changed',
              status: 409,
            })
          if (n % 10 === 0)
            node.acknowledge({ key, keyId, name: 'default', sequenceNumber: page, epoch: 'e1' })
        }
      }
      await Promise.all(nodes.map((node) => node.flush(rest)))
    }
    const readings = await second.consumers.readings(key)
    assert.equal(readings.length, keyCount)
    assert.ok(readings.every(({ ranges }) => JSON.stringify(ranges) === '[[1,600]]'))
    const ids = readings.map(({ keyId }) => keyId)
    const refusals = await first.consumers.refusals(ids)
    const sum = refusals.reduce((all, { count }) => all + count, 0)
    assert.equal(sum, (2 * 3 * keyCount) / 10)
    const acknowledgements = await first.consumers.acknowledgements(key)
    // Keys that end in 0 say so to the first node, those that end in 9 to the second.
    const said = acknowledgements.map(({ keyId, sequenceNumber }) => `${keyId.at(-1)} ${sequenceNumber}`)
    assert.equal(said.length, keyCount / 5)
    assert.deepEqual([...new Set(said)].toSorted(), ['0 4', '9 5'])
  })
})
