/** The program on a PostgreSQL database: two nodes on one store, and the commands beside them. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { testDatabases } from '../../server/test/postgres/test-databases.ts'
import type { TestDatabases } from '../../server/test/postgres/test-databases.ts'
import { listEvents, removeFolder, run, runJson, start, temporaryFolder } from './support/program.ts'
import type { Running } from './support/program.ts'

const root = temporaryFolder()
const started: Running[] = []

describe('a store in PostgreSQL', () => {
  let databases: TestDatabases
  before(async () => {
    databases = await testDatabases()
  })
  after(async () => {
    // Only after a failure is one of them still there.
    for (const { child } of started) child.kill('SIGKILL')
    await databases[Symbol.asyncDispose]()
    removeFolder(root)
  })

  it('is served by two nodes at once, each showing what the other took in (P8, P12)', async () => {
    const environment = {
      PROPERTY_EVENTS_DATABASE: await databases.create(),
      PROPERTY_EVENTS_KEY_PEPPER: 'the same on every node',
    }
    const one = await start(['serve', '--data', join(root, 'one')], { environment })
    const two = await start(['serve', '--data', join(root, 'two')], { environment })
    started.push(one, two)
    assert.match(one.line.adminKey ?? '', /^pev_/)
    assert.equal(two.line.adminKey, undefined, 'the store has keys')
    const { tenantId } = await runJson<{ tenantId: string }>(['tenants', 'create', 'Hill & Co'], {
      environment,
    })
    const keyFor = async (scope: string): Promise<string> => {
      const args = ['keys', 'create', '--tenant', tenantId, '--scope', scope]
      return (await runJson<{ key: string }>(args, { environment })).key
    }
    const payload = { agent_ref: '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10', published: true }
    const published = await fetch(`${one.line.url}/v1/property-events`, {
      method: 'POST',
      headers: { 'x-api-key': await keyFor('publish'), 'content-type': 'application/json' },
      body: JSON.stringify({ payload }),
    })
    assert.equal(published.status, 201, await published.text())
    const page = await listEvents(two.line.url, await keyFor('read'))
    assert.equal(page.body.availableCount, 1)
    for (const node of [one, two]) assert.equal((await node.stop()).code, 0)

    const file = join(root, 'copy')
    await runJson(['backup', file], { environment })
    const elsewhere = { ...environment, PROPERTY_EVENTS_DATABASE: await databases.create() }
    await runJson(['restore', file], { environment: elsewhere })
    const [tenant] = await runJson<{ tenantId: string }[]>(['tenants', 'list'], { environment: elsewhere })
    assert.equal(tenant?.tenantId, tenantId)
  })

  it('that cannot be reached, or is none, is told in a sentence without its password', async () => {
    const nowhere = ['--database', 'postgres://me:secret@127.0.0.1:1/none']
    const refused = await run(['tenants', 'list', ...nowhere])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /^The database cannot be reached .*--database/)
    assert.doesNotMatch(refused.stderr, /secret/)
    const empty = await run(['tenants', 'list', '--database', await databases.create()])
    assert.match(empty.stderr, /^There is no Property Events store in this database\./)
  })
})
