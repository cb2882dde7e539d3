/** A primary is lost and a standby takes its place: with everything, or without what it had not got yet (D13, P2, P7). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import type { LostNumbers } from '../../src/events/epochs.ts'
import { batch, draft, feedKey, tenantB, uuid } from '../store/support/drafts.ts'
import { headOf, list, numbers, publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { ticks } from '../store/support/test-clock.ts'
import { launchPostgres } from './launch-postgres.ts'
import type { LaunchedPostgres } from './launch-postgres.ts'
import { loadThrough } from './support/load-through.ts'
import { pollBoth } from './support/poll-both.ts'
import { startProxy } from './support/proxy.ts'
import {
  promote,
  replicateSynchronously,
  startStandby,
  untilReplayed,
  withClient,
} from './support/standby.ts'

const cycles = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1' ? 20 : 2
const limits = { connectTimeoutMs: 1_000, readTimeoutMs: 2_000, writeTimeoutMs: 4_000 }

function openNode(url: string): Promise<StorageEngine> {
  const options = { kind: 'postgres', url, readConnections: 3, ...limits } as const
  return openStorage({ ...options, create: true, catalogue: catalogues.default })
}

describe('a standby that takes over', () => {
  it('has everything if commits waited for it: publishing continues by itself (P1, P2, P3, P7)', async () => {
    for (let cycle = 0; cycle < cycles; cycle += 1) {
      await using primary = await launchPostgres({ settings: { wal_keep_size: '64MB' } })
      await using proxy = await startProxy(primary.socketFile)
      await using standby = await startStandby(primary)
      await replicateSynchronously(primary)
      await using one = await withTenants(await openNode(proxy.url()))
      await using two = await openNode(proxy.url())
      const { epoch } = await headOf(one)
      const survived = await loadThrough([one, two], async (untilMore) => {
        await untilMore(50)
        await takeOver(primary, standby, () => proxy.leadTo(standby.socketFile))
        await untilMore(100)
      })
      assert.deepEqual(survived.faults, [])
      assert.ok(survived.publishes > 10, `${survived.publishes} publishes`)
      assert.equal((await headOf(one)).epoch, epoch)
    }
  })

  it('may lack numbers that were shown if commits did not wait: publishing stops until an operator acts (D13, P2)', async () => {
    await using primary = await launchPostgres({ settings: { wal_keep_size: '64MB' } })
    await using proxy = await startProxy(primary.socketFile)
    await using standby = await startStandby(primary)
    await using one = await withTenants(await openNode(proxy.url()))
    const [first] = await publish(one, [draft({ subject: 'a' })])
    const from = ticks(first?.stored?.createdDate ?? '') + 1n
    const before = await headOf(one)
    // A reader polls, so that the node keeps what it commits from now on.
    await pollBoth(one, feedKey(), from, 1)
    await untilReplayed(primary, standby)
    // The standby is stopped and misses what follows.
    await standby.halt('fast')
    await publish(one, [draft({ subject: 'b' }), draft({ subject: 'c' })])
    assert.equal((await headOf(one)).sequenceNumber, 3)
    await primary.halt('crash')
    await standby.start()
    await takeOver(primary, standby, () => proxy.leadTo(standby.socketFile))

    const asked = batch([draft({ subject: 'd' })])
    assert.deepEqual(await one.events.append([asked]), [{ kind: 'epochRequired' }])
    // A node that has just started has seen nothing, and does not know better either.
    await using fresh = await openNode(proxy.url())
    assert.deepEqual(await fresh.events.append([asked]), [{ kind: 'epochRequired' }])
    assert.deepEqual(numbers(await list(fresh)), [1], 'reading goes on')

    await fresh.startEpoch(3, 'cli:test')
    for (const node of [fresh, one]) {
      await publish(node, [draft({ subject: 'd' })])
      await pollBoth(one, feedKey(), from, 1)
    }
    assert.deepEqual(numbers(await list(one)), [1, 4, 5])
    assert.notEqual((await headOf(one)).epoch, before.epoch)
  })

  it('is published to again once a new epoch has begun, whatever nodes that ran through it have shown before (D13)', async () => {
    await using primary = await launchPostgres({ settings: { wal_keep_size: '64MB' } })
    await using proxy = await startProxy(primary.socketFile)
    await using standby = await startStandby(primary)
    await using one = await withTenants(await openNode(proxy.url()))
    const quiet = { key: feedKey(tenantB) }
    for (const feed of [{}, quiet]) await publish(one, [draft({ subject: 'a' })], feed)
    await untilReplayed(primary, standby)
    await standby.halt('fast')
    for (const feed of [{}, quiet])
      await publish(one, [draft({ subject: 'b' }), draft({ subject: 'c' })], feed)
    await primary.halt('crash')
    await standby.start()
    await takeOver(primary, standby, () => proxy.leadTo(standby.socketFile))
    const asked = batch([draft({ subject: 'd' })])
    assert.deepEqual(await one.events.append([asked]), [{ kind: 'epochRequired' }])
    {
      // As the command does, in a process of its own.
      await using operator = await openNode(proxy.url())
      await operator.startEpoch(3, 'cli:test')
    }
    assert.deepEqual(numbers(await list(one, quiet)), [1], 'of the lost numbers 2 and 3 nothing came since')
    await publish(one, [draft({ subject: 'd' })])
    assert.deepEqual(numbers(await list(one)), [1, 4])
    await withClient(standby.url(), async (client) => {
      await client.query('ALTER FUNCTION position_at RENAME TO not_there')
      assert.deepEqual(numbers(await list(one, quiet)), [1], 'nothing is searched for any more')
      await client.query('ALTER FUNCTION not_there RENAME TO position_at')

      // What is lost in the new epoch is a loss again.
      await publish(one, [draft({ subject: 'd' })], quiet)
      await client.query(`DELETE FROM event WHERE tenant = '${tenantB}' AND position = 2`)
      await client.query(
        `UPDATE feed SET last_position = 1, last_sequence = 1 WHERE tenant = '${tenantB}' AND feed = 1`,
      )
    })
    assert.deepEqual(numbers(await list(one, quiet)), [1])
    const alsoQuiet = batch([draft({ subject: 'd' })], quiet)
    const outcomes = await one.events.append([asked, alsoQuiet])
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['stored', 'epochRequired'],
      'in the feed that lost it, and in no other',
    )
  })

  it('is reported by feed and number, and every feed that lost nothing continues in its epoch once that is accepted (D13)', async () => {
    await using primary = await launchPostgres({ settings: { wal_keep_size: '64MB' } })
    await using proxy = await startProxy(primary.socketFile)
    await using standby = await startStandby(primary)
    await using one = await withTenants(await openNode(proxy.url()))
    await using two = await openNode(proxy.url())
    const quiet = { key: feedKey(tenantB) }
    const told: (readonly LostNumbers[])[] = []
    one.onLoss((lost) => told.push(lost))
    for (const feed of [{}, quiet]) await publish(one, [draft({ subject: 'a' })], feed)
    const before = await headOf(one, quiet.key)
    await untilReplayed(primary, standby)
    await standby.halt('fast')
    // Each node has shown what the other has not.
    await publish(one, [draft({ subject: 'b' })])
    await publish(two, [draft({ subject: 'c' }), draft({ subject: 'd' })])
    await primary.halt('crash')
    await standby.start()
    await takeOver(primary, standby, () => proxy.leadTo(standby.socketFile))
    const asked = batch([draft({ subject: 'e' })])
    for (const node of [one, two]) {
      assert.deepEqual(await node.events.append([asked]), [{ kind: 'epochRequired' }])
      await headOf(node)
    }
    assert.equal(await one.epochNeed(), 'all')
    assert.deepEqual(told, [[{ key: feedKey(), shownNumber: 2, heldNumber: 1 }]])
    const waiting = await one.waitingFeeds()
    assert.equal(waiting.length, 4)
    assert.deepEqual(
      waiting.filter(({ shownNumber }) => shownNumber !== undefined),
      [{ key: feedKey(), heldNumber: 1, shownNumber: 4 }],
      'of all nodes',
    )
    assert.equal(await one.acceptHistory('cli:test'), 'missing')
    // Whatever the operator says, the numbers go on after those that nodes have told of.
    await two.startEpoch(0, 'cli:test', [feedKey()])
    assert.equal(await one.epochNeed(), 'some')
    assert.deepEqual(told.at(-1), [], 'nothing is missing any more')
    await publish(one, [draft({ subject: 'e' })])
    assert.deepEqual(numbers(await list(one)), [1, 5])
    assert.deepEqual(await one.events.append([batch([draft({ subject: 'e' })], quiet)]), [
      { kind: 'epochRequired' },
    ])
    assert.equal(await one.acceptHistory('cli:test'), 'accepted')
    for (const node of [one, two]) await publish(node, [draft({ subject: 'e' })], quiet)
    assert.deepEqual(numbers(await list(two, quiet)), [1, 2, 3])
    assert.equal((await headOf(two, quiet.key)).epoch, before.epoch)
  })

  it('may lack what another node has published: one that has shown none of it does not vouch either (D13)', async () => {
    await using primary = await launchPostgres({ settings: { wal_keep_size: '64MB' } })
    await using proxy = await startProxy(primary.socketFile)
    await using standby = await startStandby(primary)
    await using one = await withTenants(await openNode(proxy.url()))
    await publish(one, [draft({ subject: 'a' })])
    await untilReplayed(primary, standby)
    await standby.halt('fast')
    {
      // It shows 2 and 3 to its publisher, and is gone before anybody can ask it.
      await using two = await openNode(proxy.url())
      await publish(two, [draft({ subject: 'b' }), draft({ subject: 'c' })])
    }
    await primary.halt('crash')
    await standby.start()
    await takeOver(primary, standby, () => proxy.leadTo(standby.socketFile))
    assert.deepEqual(await one.events.append([batch([draft({ subject: 'd' })])]), [{ kind: 'epochRequired' }])
    assert.deepEqual(numbers(await list(one)), [1])
  })

  it('answers nothing before it has been promoted: it may lag behind what was acknowledged (P3, P8)', async () => {
    await using primary = await launchPostgres({ settings: { wal_keep_size: '64MB' } })
    await using proxy = await startProxy(primary.socketFile)
    await using standby = await startStandby(primary)
    await using one = await withTenants(await openNode(proxy.url()))
    await publish(one, [draft({ subject: 'a', id: 'a' })])
    await untilReplayed(primary, standby)
    const unavailable = { name: 'StorageFailure', code: 'storage_unavailable' }
    await assert.rejects(openNode(standby.url()), unavailable)

    await primary.halt('crash')
    proxy.leadTo(standby.socketFile)
    await assert.rejects(one.events.head(feedKey()), unavailable)
    await assert.rejects(one.events.locate({ key: feedKey(), view: 'all', from: 0n }), unavailable)
    await assert.rejects(one.events.readEvent(feedKey(), uuid('a')), unavailable)
    await assert.rejects(one.events.append([batch([draft({ subject: 'b' })])]), unavailable)

    await promote(standby)
    assert.deepEqual(numbers(await list(one)), [1])
  })

  it('is found out by the node that has shown more than it holds, whatever was said before (D13)', async () => {
    await using primary = await launchPostgres({ settings: { wal_keep_size: '64MB' } })
    await using proxy = await startProxy(primary.socketFile)
    await using standby = await startStandby(primary)
    await replicateSynchronously(primary)
    await using one = await withTenants(await openNode(proxy.url()))
    await publish(one, [draft({ subject: 'a' })])
    await standby.halt('fast')
    // Somebody in a hurry: commits wait for nobody now, and the standby never hears of it.
    await withClient(primary.url(), async (client) => {
      await client.query(`ALTER SYSTEM SET synchronous_standby_names = ''`)
      await client.query('SELECT pg_reload_conf()')
    })
    // Were it not heard of yet, the commit would wait for just that.
    await publish(one, [draft({ subject: 'b' })])
    await primary.halt('crash')
    await standby.start()
    await takeOver(primary, standby, () => proxy.leadTo(standby.socketFile))
    assert.deepEqual(await one.events.append([batch([draft({ subject: 'c' })])]), [{ kind: 'epochRequired' }])
    await one.startEpoch(2, 'cli:test')
    await publish(one, [draft({ subject: 'c' })])
    assert.deepEqual(numbers(await list(one)), [1, 3])
  })
})

async function takeOver(
  primary: LaunchedPostgres,
  standby: LaunchedPostgres,
  lead: () => void,
): Promise<void> {
  await primary.halt('crash')
  await promote(standby)
  lead()
}
