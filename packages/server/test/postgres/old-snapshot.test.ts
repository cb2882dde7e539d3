/** What an old snapshot keeps alive: the fewer versions a publication leaves of the counters, the less it slows. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/storage/open-storage.ts'
import { draft, feedKey, tenantA, tenantB } from '../storage/support/drafts.ts'
import { publish } from '../storage/support/read-back.ts'
import { withTenants } from '../storage/support/stores.ts'
import { withClient } from './support/standby.ts'
import { sharedDatabases } from './test-databases.ts'

describe('the counters of feeds', () => {
  it('get one new version with each publication, and none where nothing is stored but an id (P5)', async () => {
    const url = await (await sharedDatabases()).create()
    const options = { kind: 'postgres', url, readConnections: 2, create: true } as const
    const node = await withTenants(await openStorage({ ...options, catalogue: catalogues.default }))
    for (let n = 0; n < 20; n += 1) await publish(node, [draft({ subject: `single ${n}` })])
    for (let n = 0; n < 10; n += 1) {
      const drafts = [1, 2, 3].map((part) => draft({ subject: `several ${n} ${part}`, text: 'a' }))
      await publish(node, drafts, { key: feedKey(tenantB) })
    }
    const skipped = draft({ subject: 'several 0 1', id: 'skipped', text: 'a' })
    await publish(node, [skipped], { key: feedKey(tenantB), unchanged: 'skip' })
    // A session tells what it has counted when it ends.
    await node.close()
    await withClient(url, async (client) => {
      const ofNode = `SELECT FROM pg_stat_activity WHERE application_name = 'property-events'`
      while ((await client.query(ofNode)).rowCount !== 0) await delay(20)
      const countOf = async (table: string): Promise<number> => {
        const text = `SELECT pg_stat_get_tuples_updated('${table}'::regclass)::integer AS count`
        const { rows } = await client.query<{ count: number }>(text)
        return rows[0]?.count ?? 0
      }
      assert.equal(await countOf('feed'), 30)
      assert.equal(await countOf('view'), 30)
      const { rows } = await client.query(
        `SELECT last_position::integer AS last FROM feed WHERE feed = 1 ORDER BY tenant = '${tenantA}' DESC`,
      )
      assert.deepEqual(rows, [{ last: 20 }, { last: 30 }])
    })
  })
})
