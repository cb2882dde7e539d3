/** What an old snapshot keeps alive: the fewer versions a publication leaves of the counters, the less it slows. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { unreported } from '../../src/runtime/background-task.ts'
import { createMetrics } from '../../src/serve/metrics/metrics.ts'
import { openStorage } from '../../src/store/open-storage.ts'
import { inspectDatabase } from '../../src/store/postgres/inspect-database.ts'
import type { HeldSnapshot } from '../../src/sql/store-observer.ts'
import { draft, feedKey, tenantA, tenantB } from '../store/support/drafts.ts'
import { publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { until } from '../support/until.ts'
import { launchPostgres } from './launch-postgres.ts'
import { startStandby, withClient } from './support/standby.ts'
import { sharedDatabases } from './test-databases.ts'

describe('the counters of feeds', () => {
  it('get one new version with each publication, and none if only an id is stored (P5)', async () => {
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
      // Nodes of other tests have databases of their own on this server.
      const ofNode = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'property-events'`
      await until(async () => (await client.query(ofNode)).rowCount === 0)
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

describe('an old snapshot', () => {
  it('is named with its age, whether a session, a standby, a slot or a prepared transaction holds it', async () => {
    await using server = await launchPostgres({
      settings: { wal_level: 'logical', max_prepared_transactions: '2', wal_keep_size: '64MB' },
    })
    await using node = await openStorage({
      kind: 'postgres',
      url: server.url(),
      readConnections: 2,
      create: true,
      catalogue: catalogues.default,
    })
    await withTenants(node)
    const heldBy = async (holder: HeldSnapshot['holder']): Promise<HeldSnapshot | undefined> =>
      (await node.heldSnapshots()).find((held) => held.holder === holder)
    const isOld = (held: HeldSnapshot | undefined): boolean => held !== undefined && held.transactions >= 5
    const publishSome = async (): Promise<void> => {
      for (let n = 0; n < 5; n += 1) await publish(node, [draft({ subject: `p ${n}` })])
    }
    await using standby = await startStandby(server)
    await standby.halt('fast')
    await withClient(server.url(), async (client) => {
      await client.query(`BEGIN; CREATE TABLE prepared_once (); PREPARE TRANSACTION 'left behind'`)
      await publishSome()
      const prepared = await heldBy('prepared')
      assert.ok(isOld(prepared), JSON.stringify(prepared))
      assert.equal(prepared?.name, 'left behind')
      await client.query(`ROLLBACK PREPARED 'left behind'`)
      assert.equal(await heldBy('prepared'), undefined)

      await client.query(`SELECT pg_create_logical_replication_slot('nobody', 'pgoutput')`)
      await client.query(`SELECT pg_create_physical_replication_slot('of_standby')`)
    })
    await publishSome()
    assert.deepEqual(
      [isOld(await heldBy('catalog_slot')), (await heldBy('catalog_slot'))?.name],
      [true, 'nobody'],
    )

    await standby.start({
      hot_standby_feedback: 'on',
      primary_slot_name: 'of_standby',
      wal_receiver_status_interval: '1s',
    })
    await withClient(standby.url(), async (reader) => {
      await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM event')
      await until(async () => {
        await publishSome()
        return isOld(await heldBy('slot'))
      })
      assert.equal((await heldBy('slot'))?.name, 'of_standby')
    })

    await withClient(server.url(), async (session) => {
      await session.query(
        `SET application_name = 'pg_dump'; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM event`,
      )
      await publishSome()
      const held = await heldBy('session')
      assert.ok(isOld(held) && (held?.seconds ?? 0) > 0, JSON.stringify(held))
      assert.match(held?.name ?? '', /^pid \d+, pg_dump$/)
      const inspected = await inspectDatabase(server.url())
      assert.ok(
        inspected.kind === 'reached' && inspected.heldSnapshots.some(({ name }) => name === held?.name),
      )
      const metrics = createMetrics()
      metrics.store.watchStore(node, unreported)
      const { text } = await metrics.render()
      assert.match(text, /^property_events_oldest_snapshot_transactions\{holder="session"\} ([5-9]|\d\d+)$/m)
      assert.match(text, /^property_events_oldest_snapshot_seconds\{holder="session"\} [\d.e-]+$/m)
      metrics.close()
    })
  })
})
