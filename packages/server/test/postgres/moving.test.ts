/** A tenant that is closed while nodes are in the middle of publications to it. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { batch, draft, feedKey, tenantA, tenantB } from '../store/support/drafts.ts'
import { headOf, publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { until } from '../support/until.ts'
import { putGates } from './support/gates.ts'
import { testDatabases } from './test-databases.ts'
import type { TestDatabases } from './test-databases.ts'

describe('closing a tenant for publishing', () => {
  let databases: TestDatabases
  before(async () => {
    databases = await testDatabases()
  })
  after(() => databases[Symbol.asyncDispose]())

  const open = (url: string): Promise<StorageEngine> => {
    return openStorage({
      kind: 'postgres',
      url,
      readConnections: 2,
      create: true,
      catalogue: catalogues.default,
    })
  }

  for (const [what, more] of [
    ['one event', []],
    ['events of two tenants', [batch([draft({ subject: 'q' })], { key: feedKey(tenantB) })]],
  ] as const) {
    it(`is seen under the counter's lock by a node that had planned ${what} before (P7)`, async () => {
      const url = await databases.create()
      await using mover = await withTenants(await open(url))
      await using gates = await putGates(url)
      await using node = await open(gates.urlOf('node'))
      // Twice: the second time from what the node remembers.
      for (const subject of ['p', 'p']) await publish(node, [draft({ subject })])
      await publish(node, [draft({ subject: 'q' })], { key: feedKey(tenantB) })
      await gates.close('node', 'lock')
      const appending = node.events.append([batch([draft({ subject: 'p' })]), ...more])
      await gates.reached('node', 'lock')
      assert.equal(await mover.moves.change(tenantA, 'open', 'leaving', 'cli:test'), 'done')
      const { position } = await headOf(mover)
      await gates.open('node', 'lock')
      const outcomes = (await appending).map(({ kind }) => kind)
      assert.deepEqual(outcomes, ['tenantMoving', 'stored'].slice(0, 1 + more.length))
      assert.equal((await headOf(mover)).position, position)
    })
  }

  it('waits for a publication that has the counter, and finds its events (P7)', async () => {
    const url = await databases.create()
    await using mover = await withTenants(await open(url))
    await using gates = await putGates(url)
    await using node = await open(gates.urlOf('node'))
    await gates.close('node', 'commit')
    const appending = node.events.append([batch([draft({ subject: 'p' })])])
    await gates.reached('node', 'commit')
    let changed = false
    const changing = mover.moves
      .change(tenantA, 'open', 'leaving', 'cli:test')
      .finally(() => (changed = true))
    const waiting = `SELECT FROM pg_locks WHERE locktype IN ('transactionid', 'tuple') AND NOT granted`
    await until(async () => (await gates.query(waiting)).length > 0, { what: 'a change that waits' })
    assert.equal(changed, false)
    await gates.open('node', 'commit')
    assert.equal((await appending)[0]?.kind, 'stored')
    assert.equal(await changing, 'done')
    assert.equal((await headOf(mover)).position, 1)
  })
})
