/**
 * A client made of the document by a generator that reads OpenAPI 3.1, compiled strictly and run against the service. Three more generators
 * and two linters are in openapi-clients.test.ts, for the long run.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { promisify } from 'node:util'
import { documentPath } from '../support/openapi-document.ts'
import { startTestService } from '../support/test-service.ts'

const run = promisify(execFile)
const modules = join(import.meta.dirname, '../../../../node_modules')

const program = `
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import * as feed from './client.ts'

const { FEED_URL: origin = '', KEY: key = '', OPERATOR_KEY: operatorKey = '' } = process.env
feed.defaults.baseUrl = feed.servers.theServiceByItsAddress({ origin })
feed.defaults.headers = { 'x-api-key': key }

const description = 'Tŷ Gwyn – £1,250 a month 🏡'
const payload: feed.PropertyPayload = {
  agent_ref: randomUUID(), published: true, address: { town: 'Llanelli' }, details: { description, obligations: [] },
}
const sent = await feed.publishPropertyEvents([{ payload }, { payload: { ...payload, agent_ref: randomUUID() } }])
assert.ok(sent.status === 201)
assert.equal(sent.data.events.length, 2)

const list = await feed.listPropertyEvents({ apiEventType: 'Property Events', page: 2, pageSize: 1 })
assert.ok(list.status === 200)
assert.equal(list.data.availableCount, 2)
const last: feed.FeedEvent | undefined = list.data.items[0]
assert.ok(last !== undefined)
assert.equal(last.sequenceNumber, sent.data.events[1]?.sequenceNumber)
assert.equal(JSON.parse(last.payload).details.description, description)
const got = await feed.getPropertyEvent(last.id)
assert.ok(got.status === 200)
assert.deepEqual(got.data, last)
const refusal = await feed.listPropertyEvents({ page: 0 })
assert.ok(refusal.status === 400)
assert.equal(refusal.data.code, 'invalid_parameter')

const made = await feed.createTenant({ name: 'Môr a Mynydd 🌊' }, {}, { headers: { 'x-api-key': operatorKey } })
assert.ok(made.status === 201)
assert.equal(made.data.name, 'Môr a Mynydd 🌊')
const refused = await feed.createTenant({ name: 'Hill & Co' })
assert.ok(refused.status === 403)
console.log('all answered as the client expects')
`

const folder = mkdtempSync(join(tmpdir(), 'property-events-generated-client-'))
after(() => rmSync(folder, { recursive: true }))

it('a generator makes a client that compiles strictly, and that lists, gets, publishes and administers (D21, spec §4)', async () => {
  const tool = (name: string, ...args: readonly string[]) =>
    run(process.execPath, [join(modules, name), ...args], { cwd: folder })
  symlinkSync(modules, join(folder, 'node_modules'), 'junction')
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'use.ts'), program)
  const compilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    erasableSyntaxOnly: true,
    noEmit: true,
    target: 'esnext',
    module: 'nodenext',
    lib: ['es2024', 'dom', 'dom.iterable'],
    types: ['node'],
    allowImportingTsExtensions: true,
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  await tool('oazapfts/dist/cli.js', documentPath, 'client.ts')
  const checked = await tool('typescript/bin/tsc', '-p', '.').catch((error: { stdout: string }) => error)
  assert.equal(checked.stdout, '')

  const service = await startTestService()
  try {
    const { tenantId } = service.tenant
    const { text: key } = await service.issue({
      grants: [{ tenantId, scopes: ['property:read', 'property:publish'] }],
    })
    const { text: operatorKey } = await service.issue({ operator: true, adminScopes: ['admin:manage'] })
    const env = { ...process.env, FEED_URL: service.url, KEY: key, OPERATOR_KEY: operatorKey }
    const { stdout } = await run(process.execPath, ['use.ts'], { cwd: folder, env })
    assert.equal(stdout, 'all answered as the client expects\n')
  } finally {
    await service.stop()
  }
})
