/** A name of a tenant is given once, also by several nodes and commands on one database. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { batch, draft, feedKey, uuid } from '../store/support/drafts.ts'
import { withTenants } from '../store/support/stores.ts'
import { withClient } from './support/standby.ts'
import { testDatabases } from './test-databases.ts'
import type { TestDatabases } from './test-databases.ts'

describe('the name of a tenant', () => {
  let databases: TestDatabases
  before(async () => {
    databases = await testDatabases()
  })
  after(() => databases[Symbol.asyncDispose]())

  const create = (store: StorageEngine, name: string, id: string) =>
    store.tenants.createTenant({ tenantId: uuid(id), name, createdMs: 1, suspended: false }, 'cli:test')

  it('goes to one of several nodes that ask for it at the same time (D11)', async () => {
    const url = await databases.create()
    const options = { kind: 'postgres', url, readConnections: 1, create: true } as const
    await using one = await openStorage({ ...options, catalogue: catalogues.default })
    await using two = await openStorage(options)
    await using three = await openStorage(options)
    for (let round = 0; round < 10; round += 1) {
      const name = `Agency ${round}`
      const outcomes = await Promise.all(
        [one, two, three].map((store, n) => create(store, name, `${name} at ${n}`)),
      )
      assert.deepEqual(outcomes.toSorted(), ['created', 'nameTaken', 'nameTaken'])
    }
    assert.equal((await two.tenants.tenants()).length, 10)
  })

  it('waits for one that is being given, and publishing does not wait for either (D11)', async () => {
    const url = await databases.create()
    const options = { kind: 'postgres', url, readConnections: 1, create: true } as const
    await using store = await withTenants(await openStorage({ ...options, catalogue: catalogues.default }))
    await withClient(url, async (client) => {
      await client.query('BEGIN')
      await client.query(
        `INSERT INTO tenant (tenant, name, created_ms, suspended, without_duties) VALUES ($1, 'Hill & Co', 1, false, false)`,
        [uuid('given meanwhile')],
      )
      const waiting = create(store, 'Hill & Co', 'late')
      const [outcome] = await store.events.append([batch([draft({ subject: 'p' })], { key: feedKey() })])
      assert.equal(outcome?.kind, 'stored')
      await client.query('COMMIT')
      assert.equal(await waiting, 'nameTaken')
    })
  })
})
