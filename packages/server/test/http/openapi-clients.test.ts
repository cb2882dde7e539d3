/**
 * The document in the hands of others: two linters, and clients made of it by three generators, compiled strictly and run against the
 * service. Installs 450 packages, so only in the long run.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { isLongRun } from '../support/on-engines.ts'
import { documentPath } from '../support/openapi-document.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'

const run = promisify(execFile)

/** Lists, gets and publishes with each client. What it prints last says that all answered as they should. */
const program = `
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import createClient from 'openapi-fetch'
import type { components, paths } from './openapi-typescript.ts'
import * as hey from './hey-api/index.ts'
import * as orval from './orval.ts'
import * as zod from './orval-zod.ts'

async function main() {
const { PROPERTY_EVENTS_URL: baseUrl = '', PROPERTY_EVENTS_KEY: key = '' } = process.env
const headers = { 'x-api-key': key }
const address: components['schemas']['Address'] = { town: 'Leeds' }
const payload = () => ({ agent_ref: randomUUID(), published: true, address, details: { obligations: [], broadband: [null] } })

const client = createClient<paths>({ baseUrl, headers })
const published = await client.POST('/v1/property-events', { body: { payload: payload() } })
assert.equal(published.response.status, 201)
const list = await client.GET('/api/func/api/v1/events/getevents', { params: { query: { pageSize: 1, apiEventType: 'Property Events' } } })
const first: components['schemas']['FeedEvent'] | undefined = list.data?.items[0]
const got = await client.GET('/api/func/api/v1/events/geteventbyid/{eventId}', { params: { path: { eventId: first?.id ?? '' } } })
assert.deepEqual(got.data, first)
const refusal = await client.GET('/api/func/api/v1/events/getevents', { params: { query: { page: 0 } } })
assert.equal(refusal.error?.code, 'invalid_parameter')

const heyPublished = await hey.publishPropertyEvents({ baseUrl, headers, body: [{ payload: payload() }] })
assert.equal(heyPublished.response?.status, 201)
const heyList = await hey.listPropertyEvents({ baseUrl, headers, query: { page: 1 } })
assert.equal(heyList.data?.items.length, 2)
const heyGot = await hey.getPropertyEvent({ baseUrl, headers, path: { eventId: first?.id ?? '' } })
assert.deepEqual(heyGot.data, first)

const orvalPublished = await orval.publishPropertyEvents({ payload: payload() }, undefined, { headers })
assert.equal(orvalPublished.status, 201)
const orvalList = await orval.listPropertyEvents({ page: 1 }, { headers })
assert.ok(orvalList.status === 200)
assert.equal(zod.listPropertyEventsResponse.parse(orvalList.data).items.length, 3)
const orvalGot = await orval.getPropertyEvent(first?.id ?? '', { headers })
assert.ok(orvalGot.status === 200)
assert.deepEqual(orvalGot.data, first)
console.log('all three')
}
void main()
`

const generate = `
import { generate } from 'orval'
const baseUrl = process.argv[2]
await generate({ input: './openapi.json', output: { target: './orval.ts', client: 'fetch', mode: 'single', baseUrl } })
await generate({ input: './openapi.json', output: { target: './orval-zod.ts', client: 'zod', mode: 'single' } })
`

const strict = {
  strict: true,
  noEmit: true,
  target: 'es2022',
  module: 'esnext',
  moduleResolution: 'bundler',
  lib: ['es2022', 'dom', 'dom.iterable'],
  types: ['node'],
  allowImportingTsExtensions: true,
  skipLibCheck: true,
}

describe('the OpenAPI document in the hands of others', { skip: isLongRun ? false : 'a long test' }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-openapi-clients-'))
  const tool = (name: string, ...args: readonly string[]) =>
    run(join(folder, 'node_modules/.bin', name), args, { cwd: folder, maxBuffer: 1 << 26 })
  let service: TestService

  before(async () => {
    const own = join(import.meta.dirname, '../openapi-clients')
    for (const file of ['package.json', 'package-lock.json'])
      copyFileSync(join(own, file), join(folder, file))
    copyFileSync(documentPath, join(folder, 'openapi.json'))
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder })
    service = await startTestService()
  })
  after(async () => {
    await service.stop()
    rmSync(folder, { recursive: true })
  })

  it('has no finding of two linters (D21)', async () => {
    writeFileSync(join(folder, '.spectral.yaml'), 'extends: ["spectral:oas"]\n')
    await tool('spectral', 'lint', 'openapi.json', '--ruleset', '.spectral.yaml', '--fail-severity', 'hint')
    await tool('redocly', 'lint', '--extends', 'recommended-strict', 'openapi.json')
  })

  it('makes clients that compile strictly, and that list, get and publish (D21, spec §4)', async () => {
    writeFileSync(join(folder, 'generate.mjs'), generate)
    writeFileSync(join(folder, 'use.ts'), program)
    const types = { ...strict, typeRoots: [join(import.meta.dirname, '../../../../node_modules/@types')] }
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: types, include: ['*.ts', 'hey-api'] }),
    )
    await tool('openapi-typescript', 'openapi.json', '-o', 'openapi-typescript.ts')
    await tool('openapi-ts', '-i', 'openapi.json', '-o', 'hey-api', '-c', '@hey-api/client-fetch')
    await run(process.execPath, ['generate.mjs', service.url], { cwd: folder })
    const checked = await tool('tsc', '-p', '.').catch((error: { stdout: string }) => error)
    assert.equal(checked.stdout, '')
    const grants = [
      { tenantId: service.tenant.tenantId, scopes: ['property:read', 'property:publish'] as const },
    ]
    const { text } = await service.issue({ grants })
    // One of the generators names files without their endings, which Node finds in CommonJS alone. Types were checked above.
    const emit = ['--noEmit', 'false', '--outDir', 'built', '--rewriteRelativeImportExtensions', '--noCheck']
    await tool(
      'tsc',
      '-p',
      '.',
      ...emit,
      '--module',
      'commonjs',
      '--moduleResolution',
      'node10',
      '--esModuleInterop',
    )
    writeFileSync(join(folder, 'built/package.json'), '{ "type": "commonjs" }')
    const env = { ...process.env, PROPERTY_EVENTS_URL: service.url, PROPERTY_EVENTS_KEY: text }
    const { stdout } = await run(process.execPath, ['built/use.js'], { cwd: folder, env })
    assert.equal(stdout, 'all three\n')
  })
})
