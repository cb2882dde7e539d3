/** What one node appends is heard of on the others (P8). */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { unreported } from '../../src/runtime/background-task.ts'
import { waitForHead } from '../../src/reading/min-sequence.ts'
import { createLiveTail } from '../../src/live/tail.ts'
import { openStorage } from '../../src/store/open-storage.ts'
import { connect } from '../../src/sql/postgres/connection.ts'
import type { FeedKey } from '../../src/events/feed-key.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { batch, draft, feedKey, tenantB, uuid } from '../store/support/drafts.ts'
import { publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { until } from '../support/until.ts'
import { withClient } from './support/standby.ts'
import { testDatabases } from './test-databases.ts'
import type { TestDatabases } from './test-databases.ts'

describe('nodes that wait for each other', () => {
  let databases: TestDatabases
  before(async () => {
    databases = await testDatabases()
  })
  after(() => databases[Symbol.asyncDispose]())

  it('hear of the feeds that other nodes append to, and wake for their own number (P8)', async () => {
    const url = await databases.create()
    const options = { kind: 'postgres', url, readConnections: 2, create: true } as const
    await using one = await withTenants(await openStorage({ ...options, catalogue: catalogues.default }))
    await using two = await openStorage(options)
    const heard: (FeedKey | undefined)[] = []
    const { promise: listening, resolve } = Promise.withResolvers<void>()
    two.events.watch((key) => {
      heard.push(key)
      resolve()
    })
    await listening
    const waiting = waitFor(two, 2)
    await publish(one, [draft({ subject: 'p' })])
    await publish(one, [draft({ subject: 'q' })], { key: feedKey(tenantB) })
    await publish(one, [draft({ subject: 'r' })])
    assert.equal((await waiting).kind, 'reached')
    await until(() => heard.some((key) => key?.tenantId === tenantB))
  })

  it('find what they wait for by themselves when nothing is heard, and listen again afterwards (P8)', async () => {
    const url = await databases.create()
    const options = { kind: 'postgres', url, readConnections: 2, create: true } as const
    await using one = await withTenants(await openStorage({ ...options, catalogue: catalogues.default }))
    await using two = await openStorage(options)
    const heard: (FeedKey | undefined)[] = []
    const told: string[] = []
    two.observe({
      waited: () => undefined,
      retried: () => undefined,
      failed: (task) => told.push(`${task} failed`),
      worked: (task) => told.push(`${task} worked`),
    })
    assert.equal(two.work().listening, undefined)
    two.events.watch((key) => heard.push(key))
    await until(() => heard.length > 0)
    assert.equal(two.work().listening?.isConnected, true)
    const waiting = waitFor(two, 1)
    await withClient(url, async (client) => {
      const listeners = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`
      await client.query(listeners)
    })
    await publish(one, [draft({ subject: 'p' })])
    assert.equal((await waiting).kind, 'reached')
    const named = () => heard.filter((key) => key !== undefined).length
    const before = named()
    await until(async () => {
      await publish(one, [draft({ subject: 'p' })])
      return named() > before
    })
    const ofListening = told.filter((line) => line.startsWith('listen'))
    assert.deepEqual(ofListening, ['listen worked', 'listen failed', 'listen worked'])
    const { isConnected, silentMs = Number.NaN } = two.work().listening ?? {}
    assert.equal(isConnected, true)
    assert.ok(silentMs >= 0 && silentMs < 60_000, `${silentMs} ms`)
  })

  it('leave no connection behind if they cannot listen', async () => {
    const url = await databases.create()
    const database = connect({ url, readConnections: 1 })
    const refused = database.listen(
      'no channel',
      () => undefined,
      () => undefined,
    )
    await assert.rejects(refused, /syntax error/)
    await withClient(url, async (client) => {
      const left = `SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN no channel'`
      await until(async () => (await client.query(left)).rowCount === 0, { what: 'its end' })
    })
    await database.close()
  })

  it('hear of every feed of a large commit by name, so that what is known of others stays, and of nothing twice (P8)', async () => {
    const url = await databases.create()
    const options = { kind: 'postgres', url, readConnections: 2, create: true } as const
    await using one = await openStorage({ ...options, catalogue: catalogues.default })
    await using two = await openStorage(options)
    const tenantIds = Array.from({ length: 400 }, (_, n) => uuid(`tenant ${n}`))
    for (const [n, tenantId] of tenantIds.entries()) {
      await one.tenants.createTenant(
        { tenantId, name: `Agency ${n}`, createdMs: n, suspended: false },
        'cli:test',
      )
    }
    const heard = new Map<StorageEngine, string[]>([one, two].map((node) => [node, []]))
    for (const [node, keys] of heard) node.events.watch((key) => keys.push(key?.tenantId ?? 'any feed'))
    const untilHeard = (node: StorageEngine, count: number): Promise<void> =>
      until(() => (heard.get(node)?.length ?? 0) >= count)
    // Each says once that it has begun to listen.
    for (const node of heard.keys()) await untilHeard(node, 1)
    await one.events.append(
      tenantIds.map((tenantId) => batch([draft({ subject: tenantId })], { key: feedKey(tenantId) })),
    )
    await untilHeard(two, 1 + tenantIds.length)
    // What comes back in the same order as it was sent: after this, nothing of the first commit is under way.
    await publish(two, [draft({ subject: 'q' })], { key: feedKey(tenantIds[0]) })
    await untilHeard(one, 1 + tenantIds.length + 1)
    const expected = ['any feed', ...tenantIds, tenantIds[0] ?? ''].toSorted(byText)
    for (const names of heard.values()) assert.deepEqual(names.toSorted(byText), expected)
  })
})

function byText(a: string, b: string): number {
  return a < b ? -1 : 1
}

function waitFor({ events }: StorageEngine, sequenceNumber: number) {
  const tail = createLiveTail({ events, report: unreported })
  return waitForHead({ events, tail }, feedKey(), sequenceNumber, 20_000, new AbortController().signal)
}
