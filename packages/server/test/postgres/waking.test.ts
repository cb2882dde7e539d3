/** What one node appends is heard of on the others (P8). */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { waitForHead } from '../../src/feed/follow.ts'
import { openStorage } from '../../src/storage/open-storage.ts'
import type { FeedKey } from '../../src/storage/storage.ts'
import { draft, feedKey, tenantB } from '../storage/support/drafts.ts'
import { publish } from '../storage/support/read-back.ts'
import { withTenants } from '../storage/support/stores.ts'
import { withClient } from './support/standby.ts'
import { testDatabases } from './test-databases.ts'
import type { TestDatabases } from './test-databases.ts'

describe('nodes that wait for each other', () => {
  let databases: TestDatabases
  before(async () => {
    databases = await testDatabases()
  })
  after(() => databases[Symbol.asyncDispose]())

  it('are told of the feeds that others append to, and wake for their own number (P8)', async () => {
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
    const waiting = waitForHead(two.events, feedKey(), 2, 20_000)
    await publish(one, [draft({ subject: 'p' })])
    await publish(one, [draft({ subject: 'q' })], { key: feedKey(tenantB) })
    await publish(one, [draft({ subject: 'r' })])
    assert.equal((await waiting).kind, 'reached')
    while (heard.filter((key) => key?.tenantId === tenantB).length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })

  it('find what they wait for by themselves when nothing is heard, and listen again afterwards (P8)', async () => {
    const url = await databases.create()
    const options = { kind: 'postgres', url, readConnections: 2, create: true } as const
    await using one = await withTenants(await openStorage({ ...options, catalogue: catalogues.default }))
    await using two = await openStorage(options)
    const heard: (FeedKey | undefined)[] = []
    two.events.watch((key) => heard.push(key))
    while (heard.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    const waiting = waitForHead(two.events, feedKey(), 1, 20_000)
    await withClient(url, async (client) => {
      const listeners = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`
      await client.query(listeners)
    })
    await publish(one, [draft({ subject: 'p' })])
    assert.equal((await waiting).kind, 'reached')
    const before = heard.filter((key) => key !== undefined).length
    for (let n = 0; heard.filter((key) => key !== undefined).length === before; n += 1) {
      await publish(one, [draft({ subject: `p${n}` })])
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })
})
