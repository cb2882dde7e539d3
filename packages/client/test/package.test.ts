/** The package as it is published: packed, installed in an empty folder, used and type-checked there. */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { buildPackage } from '../build.ts'
import { createPlainServer } from './support/plain-server.ts'
import type { PlainServer } from './support/plain-server.ts'
import { randomOf } from './support/random.ts'

const root = join(import.meta.dirname, '../../..')
const run = promisify(execFile)

/** This Node, the one on the path, and those named in PROPERTY_EVENTS_TEST_NODES: one of each version from 20 up. */
function nodes(): ReadonlyMap<string, string> {
  const named = (process.env['PROPERTY_EVENTS_TEST_NODES'] ?? '')
    .split(delimiter)
    .filter((path) => path !== '')
  const found = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'node'))
  const byVersion = new Map<string, string>()
  for (const path of [process.execPath, '/usr/bin/node', ...found, ...named]) {
    try {
      const version = execFileSync(path, ['--version'], { encoding: 'utf8', stdio: 'pipe' }).trim()
      if (Number(/^v(\d+)/.exec(version)?.[1]) >= 20) byVersion.set(version, path)
    } catch {
      // No Node there.
    }
  }
  return byVersion
}

describe('the published package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-package-'))
  const built = join(folder, 'built')
  const consumer = join(folder, 'consumer')
  const installed = join(consumer, 'node_modules/@property-events/client')

  before(() => {
    buildPackage(built)
    mkdirSync(consumer)
    const npm = (...args: readonly string[]) =>
      execFileSync('npm', [...args, '--offline', '--no-audit', '--no-fund', '--loglevel=error'], {
        cwd: consumer,
        encoding: 'utf8',
      })
    npm('pack', built)
    const [tarball] = readdirSync(consumer)
    writeFileSync(join(consumer, 'package.json'), '{ "type": "module", "private": true }')
    npm('install', `./${tarball}`)
  })
  after(() => rmSync(folder, { recursive: true }))

  it('holds modules, types, a licence and a readme, needs nothing else, and says how large it is', (context) => {
    const files = readdirSync(installed, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    )
    const names = files.map(({ name }) => name)
    assert.ok(names.includes('LICENSE') && names.includes('README.md'))
    assert.ok(names.every((name) => /\.(?:js|d\.ts)$|^(?:LICENSE|README\.md|package\.json)$/.test(name)))
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as object
    assert.ok(!('dependencies' in manifest))
    assert.deepEqual(
      readdirSync(join(consumer, 'node_modules')).filter((name) => !name.startsWith('.')),
      ['@property-events'],
    )
    const modules = files
      .filter(({ name, parentPath }) => {
        return name.endsWith('.js') && name !== 'node.js' && !parentPath.endsWith('listing')
      })
      .map((file) => readFileSync(join(file.parentPath, file.name)))
    const bytes = Buffer.concat(modules)
    context.diagnostic(`for browsers: ${bytes.length} bytes as emitted, ${gzipSync(bytes).length} gzipped`)
    assert.ok(gzipSync(bytes).length < 31_000)
    const text = bytes.toString()
    assert.ok(!/from ['"](?:node:|[^.'"])/.test(text), 'a module for browsers imports something from outside')
  })

  it('keeps a copy on every Node from 20 up that is here', async (context) => {
    const plain = createPlainServer({ random: randomOf(5), order: 'descending', orderBy: 'number' })
    for (let left = 40; left > 0; left -= 1) plain.publish()
    plain.settle()
    const live = [...plain.fold().values()].filter(({ payload }) =>
      payload.includes('"published":true'),
    ).length
    const { server, url } = await serverOf(plain)
    const program = `
      import { createClient } from '@property-events/client'
      import { fileCheckpoint } from '@property-events/client/node'
      const copy = new Map()
      const client = createClient({ baseUrl: process.argv[2], key: 'k' })
      const sync = () => client.sync({
        checkpoint: fileCheckpoint(process.argv[3]),
        pageSize: 7,
        apply: ({ changes }) => {
          for (const { kind, subjectId, payload } of changes) {
            if (kind === 'remove') copy.delete(subjectId)
            else copy.set(subjectId, payload.price_information.price)
          }
        },
      })
      const first = await sync()
      const second = await sync()
      console.log(JSON.stringify({ held: copy.size, first, second }))`
    writeFileSync(join(consumer, 'use.js'), program)
    const tried = []
    for (const [version, path] of nodes()) {
      const checkpoint = join(folder, `${version}.json`)
      const { stdout } = await run(path, ['use.js', url, checkpoint], {
        cwd: consumer,
      })
      const { held, first, second } = JSON.parse(stdout) as {
        held: number
        first: { readBy: string; changes: number }
        second: { changes: number }
      }
      assert.equal(held, live, version)
      assert.equal(first.readBy, 'pages')
      assert.equal(second.changes, 0)
      tried.push(version)
    }
    server.close()
    context.diagnostic(`tried with ${tried.join(', ')}`)
    assert.ok(tried.length > 0)
  })

  it('has an example in its readme that holds the whole copy however often it is run', async (context) => {
    const plain = createPlainServer({ random: randomOf(5), order: 'descending', orderBy: 'number' })
    for (let left = 40; left > 0; left -= 1) plain.publish()
    plain.settle()
    const live = [...plain.fold().values()].filter(({ payload }) => payload.includes('"published":true'))
    const readme = readFileSync(join(installed, 'README.md'), 'utf8')
    const example = /^```js\n(.*?)^```$/ms.exec(readme)?.[1]
    assert.ok(example !== undefined && example.includes('https://feed.example.com'))
    const { server, url } = await serverOf(plain)
    context.after(() => server.close())
    writeFileSync(
      join(consumer, 'readme.js'),
      `${example.replace('https://feed.example.com', url)}\nconsole.log(copy.size)`,
    )
    const env = { ...process.env, FEED_KEY: 'k' }
    for (let time = 0; time < 2; time += 1) {
      const { stdout } = await run(process.execPath, ['readme.js'], { cwd: consumer, env })
      assert.equal(Number(stdout), live.length)
    }
  })

  it('is type-checked by a strict project, its own types included, with the types of browsers or of Node', async () => {
    const source = `
      import { createClient, memoryCheckpoint, MassRemovalError } from '@property-events/client'
      import type { Batch, Property, SyncResult } from '@property-events/client'
      import { listing } from '@property-events/client/listing'
      const client = createClient({ baseUrl: 'https://feed.example', key: 'k' })
      const prices = new Map<string, number | null>()
      export async function main(): Promise<SyncResult> {
        const page = await client.list({ pageSize: 10 })
        const total: number = page.availableCount
        for await (const event of client.list()) if (event.sequenceNumber > total) break
        const apply = ({ changes }: Batch<'property'>): void => {
          for (const change of changes) {
            if (change.kind === 'remove') prices.delete(change.subjectId)
            else prices.set(change.subjectId, priceOf(change.payload))
          }
        }
        return client.sync({ checkpoint: memoryCheckpoint(), apply })
      }
      function priceOf(property: Property): number | null {
        return listing(property, { category: 'sales' }).price.amount
      }
      export const isMass = (error: unknown): boolean => error instanceof MassRemovalError && error.held > 0
      // @ts-expect-error contacts have no price
      createClient({ baseUrl: 'x', key: 'k', feed: 'contact' }).sync({ checkpoint: memoryCheckpoint(), apply: ({ changes }) => changes.map((change) => change.kind === 'upsert' && change.payload.price_information) })
    `
    writeFileSync(join(consumer, 'browser.ts'), source)
    writeFileSync(
      join(consumer, 'server.ts'),
      `${source}\n import { fileCheckpoint } from '@property-events/client/node'\n export const store = fileCheckpoint('x')`,
    )
    mkdirSync(join(consumer, 'node_modules/@types'))
    symlinkSync(join(root, 'node_modules/@types/node'), join(consumer, 'node_modules/@types/node'))
    symlinkSync(join(root, 'node_modules/undici-types'), join(consumer, 'node_modules/undici-types'))
    const strict = [
      '--strict',
      '--noEmit',
      '--skipLibCheck',
      'false',
      '--exactOptionalPropertyTypes',
      '--target',
      'es2022',
    ]
    const resolution = ['--noUncheckedIndexedAccess', '--module', 'nodenext']
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    for (const [file, lib, types] of [
      ['browser.ts', 'es2022,dom,dom.iterable', ''],
      ['server.ts', 'es2023', 'node'],
    ] as const) {
      const options = [...strict, ...resolution, '--lib', lib, '--types', types]
      const checked = await run(process.execPath, [compiler, ...options, file], { cwd: consumer }).catch(
        (error: { stdout: string }) => error,
      )
      assert.equal(checked.stdout, '')
    }
  })
})

/** The plain server behind a port of its own. */
async function serverOf(plain: PlainServer) {
  async function serve(path: string, response: ServerResponse): Promise<void> {
    const answer = await plain.fetch(`http://x.example${path}`)
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(await answer.text())
  }
  const server = createServer((request, response) => void serve(request.url ?? '', response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return { server, url: `http://127.0.0.1:${address.port}` }
}
