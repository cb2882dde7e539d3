/** A copy of the store in another database of the same cluster, as `pg_dump` and `pg_restore` leave one beside the first. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { inspectDatabase, openStorage } from '../../src/store/open-storage.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { batch, draft } from '../store/support/drafts.ts'
import { headOf, publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { launchPostgres } from './launch-postgres.ts'
import type { LaunchedPostgres } from './launch-postgres.ts'
import { withClient } from './support/standby.ts'

const place = (url: string) => ({ kind: 'postgres', url, readConnections: 2 }) as const

function openAt(url: string): Promise<StorageEngine> {
  return openStorage({ ...place(url), create: true, catalogue: catalogues.default })
}

describe('a copy of the store in another database of the same cluster', () => {
  let server: LaunchedPostgres
  let first: string
  before(async () => {
    server = await launchPostgres()
    await withClient(server.url(), (client) => client.query('CREATE DATABASE first'))
    first = databaseOf(server.url(), 'first')
    await using store = await withTenants(await openAt(first))
    await publish(store, [draft({ subject: 'Tŷ Gwyn – £450,000 🏡' }), draft({ subject: 'b' })])
  })
  after(() => server[Symbol.asyncDispose]())

  it('waits for a new epoch before anything is published to it, whatever the first one has shown since (D13, P2)', async () => {
    await withClient(server.url(), (client) => client.query('CREATE DATABASE second TEMPLATE first'))
    const second = databaseOf(server.url(), 'second')
    await using original = await openAt(first)
    await publish(original, [draft({ subject: 'c' })])
    await using copy = await openAt(second)
    const [outcome] = await copy.events.append([batch([draft({ subject: 'd' })])])
    assert.equal(outcome?.kind, 'epochRequired')
    assert.equal((await headOf(copy)).sequenceNumber, 2)
    const inspected = await inspectDatabase(second)
    assert.ok(inspected.kind === 'reached' && inspected.store?.needsEpoch === true)
    await copy.startEpoch(1_000, 'cli:test')
    const [stored] = await publish(copy, [draft({ subject: 'd' })])
    assert.equal(stored?.stored?.sequenceNumber, 1_001)
    // The first one goes on as if nothing had happened.
    const [next] = await publish(original, [draft({ subject: 'e' })])
    assert.equal(next?.stored?.sequenceNumber, 4)
  })

  it('is told from the first before a node has opened it, too', async () => {
    await withClient(server.url(), (client) => client.query('CREATE DATABASE third TEMPLATE second'))
    const inspected = await inspectDatabase(databaseOf(server.url(), 'third'))
    assert.ok(inspected.kind === 'reached' && inspected.store?.movedCluster === true)
    const own = await inspectDatabase(first)
    assert.ok(own.kind === 'reached' && own.store?.movedCluster === false)
  })
})

function databaseOf(url: string, name: string): string {
  const address = new URL(url)
  address.pathname = `/${name}`
  return address.href
}
