/** What was published, on PostgreSQL: two nodes that add it at once (PROTOCOL §14). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { createPublishHistory } from '../../src/publishing/history/publish-history.ts'
import { openStorage } from '../../src/store/open-storage.ts'
import { publicationsPerCommit, refusalsPerHour } from '../../src/publishing/history/publication.ts'
import type { KeptMinute } from '../../src/publishing/history/publication.ts'
import { feedKey, tenantA, tenantB } from '../store/support/drafts.ts'
import { withTenants } from '../store/support/stores.ts'
import { isLongRun } from '../support/on-engines.ts'
import { sharedDatabases } from './test-databases.ts'

const keyCount = isLongRun ? 10_000 : 2 * publicationsPerCommit
const rounds = 3
const minute = 480_000 * 60
/** Of each of them a node notes more than are kept singly. */
const refusing = ['key3', `key${keyCount - 3}`]

describe('publications on PostgreSQL', () => {
  it(`are exact when two nodes add those of the same ${keyCount} keys at once, warnings and refusals too (PROTOCOL §14)`, async () => {
    const url = await (await sharedDatabases()).create()
    const open = () =>
      openStorage({ kind: 'postgres', url, readConnections: 1, create: true, catalogue: catalogues.default })
    await using first = await withTenants(await open())
    await using second = await open()
    const nodes = [first, second].map(({ publications }) =>
      createPublishHistory(publications, () => minute * 60_000),
    )
    const rest = async (): Promise<void> => undefined
    for (let round = 0; round < rounds; round += 1) {
      for (const [at, node] of nodes.entries()) {
        const warning = {
          index: 0,
          pointer: `/media/${round * 2 + at}/media_url`,
          code: 'bad_url',
          message: '',
        }
        const receipt = { events: [], repeated: false, warnings: [warning] }
        // Each in an order of its own, and under two tenants.
        for (let n = 0; n < keyCount; n += 1) {
          const number = at === 0 ? n : keyCount - 1 - n
          node.accepted(`key${number}`, feedKey(number % 2 === 0 ? tenantA : tenantB), receipt)
        }
        for (const keyId of at === 0 ? refusing : refusing.toReversed()) {
          for (let n = 0; n < 40; n += 1)
            node.refused(keyId, feedKey(tenantB), {
              requestId: `${at} ${round} ${n}`,
              code: 'invalid_body',
              errors: [],
            })
        }
      }
      await Promise.all(nodes.map((node) => node.flush(rest)))
    }
    const kept: KeptMinute[] = []
    for (const tenantId of [tenantA, tenantB]) {
      const query = { tenantId, keyId: undefined, fromMinute: minute, toMinute: minute, before: undefined }
      kept.push(...(await second.publications.list({ ...query, limit: keyCount })))
    }
    assert.equal(kept.length, keyCount)
    const places = Array.from({ length: 5 }, (_, n) => `/payload/media/${n}/media_url`)
    for (const { keyId, requests, refused, warnings, warningPlaces, refusals } of kept) {
      const isRefusing = refusing.includes(keyId)
      const refusedTimes = isRefusing ? 2 * rounds * 40 : 0
      assert.deepEqual([requests, refused], [2 * rounds + refusedTimes, refusedTimes], keyId)
      assert.deepEqual(warnings, { bad_url: 2 * rounds })
      assert.deepEqual(warningPlaces, { bad_url: places })
      assert.equal(refusals.length, isRefusing ? refusalsPerHour : 0)
    }
  })
})
