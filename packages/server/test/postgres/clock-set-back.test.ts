/** Clocks that differ, or are set back, when a server is lost: no event is stamped before a moment that a poll by time was answered at (P3). */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import type { Ticks } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import { inspectDatabase } from '../../src/store/postgres/inspect-database.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { batch, draft, feedKey, tenantB } from '../store/support/drafts.ts'
import { list, located, numbers, publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { until } from '../support/until.ts'
import { testClock, ticks } from '../store/support/test-clock.ts'
import type { TestClock } from '../store/support/test-clock.ts'
import { launchPostgres } from './launch-postgres.ts'
import { startProxy } from './support/proxy.ts'
import { giveRightsOfNode } from './support/rights-of-node.ts'
import {
  promote,
  replicateSynchronously,
  startStandby,
  untilReplayed,
  withClient,
} from './support/standby.ts'

const limits = { connectTimeoutMs: 1_000, readTimeoutMs: 2_000, writeTimeoutMs: 4_000 }
const keepsLog = { settings: { wal_keep_size: '64MB' } }

function openNode(url: string, { clock }: TestClock): Promise<StorageEngine> {
  const options = { kind: 'postgres', url, readConnections: 3, ...limits, clock } as const
  return openStorage({ ...options, create: true, catalogue: catalogues.default })
}

/** Every event of both feeds that was stamped before the moment a poll was answered at, and that this poll did not show. */
async function missedBefore(node: StorageEngine, asked: Ticks, shown: readonly number[]): Promise<number[]> {
  const missed: number[] = []
  for (const key of [feedKey(), feedKey(tenantB)]) {
    const later = new Set(numbers(await list(node, { key, from: asked })))
    missed.push(...numbers(await list(node, { key })).filter((n) => !later.has(n) && !shown.includes(n)))
  }
  return missed
}

describe('a server that takes over with a clock that is behind', () => {
  it('stamps nothing before a window that the lost primary answered (P3)', async () => {
    await using primary = await launchPostgres(keepsLog)
    await using proxy = await startProxy(primary.socketFile)
    await using standby = await startStandby(primary)
    await replicateSynchronously(primary)
    const clock = testClock('2025-01-31T12:00:00')
    await using one = await withTenants(await openNode(proxy.url(), clock))
    await using two = await openNode(proxy.url(), clock)
    await publish(one, [draft({ subject: 'a' })])
    clock.set('2025-01-31T12:00:45')
    const asked = ticks('2025-01-31T12:00:45')
    // Asked of a node that is gone afterwards: the one that publishes knows nothing of it.
    {
      await using three = await openNode(proxy.url(), clock)
      assert.deepEqual(numbers(await list(three, { from: 0n })), [1])
    }
    await primary.halt('crash')
    await promote(standby)
    clock.set('2025-01-31T12:00:15')
    proxy.leadTo(standby.socketFile)
    await publish(one, [draft({ subject: 'b' })])
    // Of a feed without an event nothing but the reservation is left.
    await publish(two, [draft({ subject: 'b' })], { key: feedKey(tenantB) })
    assert.deepEqual(await missedBefore(two, asked, [1]), [])
    assert.deepEqual(numbers(await list(two, { from: asked })), [2])
    // Nor is more time lost than need be: once the clock has come by, it is what events are stamped with.
    clock.set('2025-01-31T12:01:30')
    assert.deepEqual(numbers(await list(one, { from: asked })), [2])
    const [line] = await publish(two, [draft({ subject: 'c' })])
    assert.equal(line?.stored?.createdDate, '2025-01-31T12:01:30.0010000')
  })

  it('that had not received everything: a surviving node tells it how far windows were answered (P3, D13)', async () => {
    await using primary = await launchPostgres(keepsLog)
    await using proxy = await startProxy(primary.socketFile)
    await using standby = await startStandby(primary)
    const clock = testClock('2025-01-31T12:00:00')
    await using one = await withTenants(await openNode(proxy.url(), clock))
    await publish(one, [draft({ subject: 'a' })])
    await located(one, { from: 0n })
    await untilReplayed(primary, standby)
    await standby.halt('fast')
    clock.set('2025-01-31T12:01:00')
    const asked = ticks('2025-01-31T12:01:00')
    await located(one, { from: 0n })
    await primary.halt('crash')
    await standby.start()
    await promote(standby)
    proxy.leadTo(standby.socketFile)
    clock.set('2025-01-31T12:00:30')
    assert.deepEqual(await one.events.append([batch([draft({ subject: 'b' })])]), [{ kind: 'epochRequired' }])
    await using fresh = await openNode(proxy.url(), clock)
    await fresh.startEpoch(1, 'cli:test')
    await publish(fresh, [draft({ subject: 'b' })])
    assert.deepEqual(await missedBefore(fresh, asked, [1]), [])
  })
})

describe('a missing standby that commits wait for', () => {
  it('lets windows be answered up to the reserved time, and everything else without limit (P3)', async () => {
    await using primary = await launchPostgres(keepsLog)
    await using standby = await startStandby(primary)
    await replicateSynchronously(primary)
    const clock = testClock('2025-01-31T12:00:00')
    await using node = await withTenants(await openNode(primary.url(), clock))
    await publish(node, [draft({ subject: 'a' })])
    const asked = { from: ticks('2025-01-31T11:00:00') }
    assert.deepEqual(numbers(await list(node, asked)), [1])
    await standby.halt('fast')
    clock.set('2025-01-31T12:00:09')
    assert.deepEqual(numbers(await list(node, asked)), [1], 'within what is reserved')

    clock.set('2025-01-31T12:00:11')
    const feeds = [feedKey(), feedKey(tenantB), feedKey(tenantB, 'contact')]
    for (let round = 0; round < 2; round += 1) {
      const polls = Array.from({ length: 30 }, (_, n) =>
        located(node, { key: feeds[n % 3] ?? feedKey(), from: 0n }),
      )
      const answers = Promise.allSettled(polls)
      // Waiting takes no connection from those that need not wait.
      assert.deepEqual(numbers(await list(node)), [1])
      assert.deepEqual(numbers(await list(node, { ...asked, to: ticks('2025-01-31T12:00:00') })), [])
      for (const answer of await answers) {
        assert.ok(answer.status === 'rejected')
        assert.equal(answer.reason.code, 'storage_unavailable')
      }
    }
    const waiting = await withClient(primary.url(), (client) =>
      client.query(`SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`),
    )
    assert.equal(waiting.rowCount, 1, 'one connection waits for all')

    await standby.start()
    await until(async () => (await located(node, asked).catch(() => undefined)) !== undefined)
  })
})

describe('a database that crashes', () => {
  it('stamps nothing before a window it answered, though its clock was set back meanwhile (P3)', async () => {
    await using server = await launchPostgres()
    const clock = testClock('2025-01-31T12:00:00')
    await using one = await withTenants(await openNode(server.url(), clock))
    await using two = await openNode(server.url(), clock)
    const asked = ticks('2025-01-31T12:00:00')
    await located(two, { from: 0n })
    await server.halt('crash')
    await server.start()
    clock.set('2025-01-31T11:59:30')
    await publish(one, [draft({ subject: 'a' })])
    assert.deepEqual(await missedBefore(two, asked, []), [])
  })

  it('is served by a role with the rights of a node, which mends what a promotion may leave behind (P3)', async () => {
    await using server = await launchPostgres()
    const clock = testClock('2025-01-31T12:00:00')
    await (await withTenants(await openNode(server.url(), clock))).close()
    await withClient(server.url(), async (client) => {
      await client.query('CREATE ROLE node LOGIN')
      await giveRightsOfNode(client, 'node')
    })
    const url = server.url().replace('postgres@', 'node@')
    const answered = async (): Promise<{ readonly at: string; readonly file: string }> => {
      await using node = await openNode(url, clock)
      await located(node, { from: 0n })
      const text = `SELECT last_value / 10000000 AS at, pg_relation_filepath('answered_until') AS file FROM answered_until`
      const { rows } = await withClient(server.url(), (client) =>
        client.query<{ at: string; file: string }>(text),
      )
      return rows[0] ?? assert.fail('the sequence cannot be read')
    }
    const { at, file } = await answered()
    assert.equal(at, String(Date.parse('2025-01-31T12:00:00Z') / 1000))
    const inspected = await inspectDatabase(url)
    assert.deepEqual(inspected.kind === 'reached' && inspected.store?.missingPrivileges, [])

    // Seen after a promotion that soon followed: nothing but zeros.
    await server.halt('fast')
    writeFileSync(join(server.dataFolder, file), Buffer.alloc(8192))
    await server.start()
    clock.set('2025-01-31T12:00:20')
    assert.equal((await answered()).at, String(Date.parse('2025-01-31T12:00:20Z') / 1000))
  })
})
