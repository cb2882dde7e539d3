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
import { tmpdir } from 'node:os'
import { delimiter, join, sep } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { installClient } from './support/installed-client.ts'
import { checkUse, serveForty, usingProgram } from './support/client-use.ts'

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
  const consumer = join(folder, 'consumer')
  const installed = join(consumer, 'node_modules/@property-events/client')

  before(() => installClient(folder, consumer))
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
        const isEsm = parentPath.includes(`${sep}esm`)
        return isEsm && name.endsWith('.js') && name !== 'node.js' && !parentPath.endsWith('listing')
      })
      .map((file) => readFileSync(join(file.parentPath, file.name)))
    const bytes = Buffer.concat(modules)
    context.diagnostic(`for browsers: ${bytes.length} bytes as emitted, ${gzipSync(bytes).length} gzipped`)
    assert.ok(gzipSync(bytes).length < 58_000)
    const text = bytes.toString()
    assert.ok(!/from ['"](?:node:|[^.'"])/.test(text), 'a module for browsers imports something from outside')
  })

  it('keeps a copy on every Node from 20 up that is here', async (context) => {
    const { server, url, live } = await serveForty()
    writeFileSync(join(consumer, 'use.js'), usingProgram)
    const tried = []
    for (const [version, path] of nodes()) {
      const { stdout } = await run(path, ['use.js', url, join(folder, `${version}.json`)], { cwd: consumer })
      checkUse(stdout, live, version)
      tried.push(version)
    }
    server.close()
    context.diagnostic(`tried with ${tried.join(', ')}`)
    assert.ok(tried.length > 0)
  })

  it('has an example in its readme that holds the whole copy however often it is run', async (context) => {
    const { server, url, live } = await serveForty()
    const readme = readFileSync(join(installed, 'README.md'), 'utf8')
    const example = /^```js\n(.*?)^```$/ms.exec(readme)?.[1]
    assert.ok(example !== undefined && example.includes('https://feed.example.com'))
    context.after(() => server.close())
    writeFileSync(
      join(consumer, 'readme.js'),
      `${example.replace('https://feed.example.com', url)}\nconsole.log(copy.size)`,
    )
    const env = { ...process.env, PROPERTY_EVENTS_KEY: 'k' }
    for (let time = 0; time < 2; time += 1) {
      const { stdout } = await run(process.execPath, ['readme.js'], { cwd: consumer, env })
      assert.equal(Number(stdout), live)
    }
  })

  it('has an example in its readme that says what changed, as the comment below it says', async () => {
    const readme = readFileSync(join(installed, 'README.md'), 'utf8')
    const example = Array.from(readme.matchAll(/^```js\n(.*?)^```$/gms), ([, text = '']) => text).find(
      (text) => text.includes('import { changes }'),
    )
    assert.ok(example !== undefined)
    writeFileSync(join(consumer, 'changes.js'), example)
    const { stdout } = await run(process.execPath, ['changes.js'], { cwd: consumer })
    const said = /^\/\/ (.*)$/m.exec(example)?.[1]
    assert.equal(stdout.replaceAll(/\s+/g, ' ').trim(), said)
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
    writeFileSync(join(consumer, 'required.cts'), source)
    const strict = ['--strict', '--noEmit', '--skipLibCheck', 'false', '--exactOptionalPropertyTypes']
    const common = [...strict, '--target', 'es2022', '--noUncheckedIndexedAccess']
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const [browser, node] = [
      ['--lib', 'es2022,dom,dom.iterable', '--types', ''],
      ['--lib', 'es2023', '--types', 'node'],
    ]
    const nodenext = ['--module', 'nodenext']
    const bundler = ['--module', 'esnext', '--moduleResolution', 'bundler']
    const node16 = ['--module', 'node16']
    const programs = [
      ['browser.ts', ...nodenext, ...browser],
      ['browser.ts', ...bundler, ...browser],
      ['server.ts', ...nodenext, ...node],
      ['server.ts', ...bundler, ...node],
      ['server.ts', ...node16, ...node],
      // What is required has types of its own: with those of the modules the compiler would refuse this file.
      ['required.cts', ...node16, ...browser],
    ] as const
    const faults = await Promise.all(
      programs.map(async ([file, ...options]) => {
        const checking = run(process.execPath, [compiler, ...common, ...options, file], { cwd: consumer })
        const { stdout } = await checking.catch((error: { stdout: string }) => error)
        return stdout === '' ? [] : `${file} ${options.join(' ')}: ${stdout}`
      }),
    )
    assert.deepEqual(faults.flat(), [])
  })

  it('refuses to compile a payload whose known member has another type, and lets unknown ones pass (PROTOCOL §4)', async () => {
    const source = `
      import { createClient } from '@property-events/client'
      import type { Publication } from '@property-events/client'
      const homes = createClient({ baseUrl: 'https://feed.example', key: 'k' })
      const people = createClient({ baseUrl: 'https://feed.example', key: 'k', feed: 'contact' })
      const agent_ref = '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10'
      const contact_ref = '5f2d8a34-7c1b-4e0a-9d56-2b3c4d5e6f70'
      interface OfOurs { agent_ref: string; published: boolean; golygfa: string; details: { bedrooms: number; boiler: string } }
      declare const ours: OfOurs
      export async function main(): Promise<void> {
        await homes.publish({ payload: { agent_ref, published: true, golygfa: 'môr', details: { bedrooms: 3, boiler: '£' } } })
        await homes.publish({ payload: { agent_ref, published: null, media: [null, { media_type: 1, rating: 5 }], status: undefined } })
        await homes.publish([{ payload: ours, category: 'sales' }, { remove: { agentRef: agent_ref } }, { payload: '{}' }])
        await people.publish({ payload: { contact_ref, roles: ['vendor'], mascot: 'draig' }, eventType: 'ContactErased' })
        const drafts: Publication<'contact'>[] = [{ payload: { contact_ref } }]
        await people.publish(drafts)
        // @ts-expect-error a flag, not a text
        await homes.publish({ payload: { agent_ref, published: 'yes' } })
        // @ts-expect-error the same in a list, and with a member of one's own
        await homes.publish([{ payload: { agent_ref, published: 'yes', golygfa: 'môr' } }])
        // @ts-expect-error prices are numbers
        await homes.publish({ payload: { agent_ref, published: true, price_information: { price: '450000' } } })
        // @ts-expect-error codes of details are numbers, beside members of one's own too
        await homes.publish({ payload: { agent_ref, details: { heating: ['gas'], boiler: 1 } } })
        // @ts-expect-error of a medium
        await homes.publish({ payload: { agent_ref, media: [{ media_type: 'photograph' }] } })
        // @ts-expect-error every payload names its subject
        await homes.publish({ payload: { published: true } })
        // @ts-expect-error a contact in the feed of properties
        await homes.publish({ payload: { contact_ref } })
        // @ts-expect-error contacts are not removed but erased
        await people.publish({ remove: { agentRef: agent_ref } })
        // @ts-expect-error one of two words
        await homes.publish({ payload: { agent_ref }, category: 'auction' })
      }
    `
    writeFileSync(join(consumer, 'publish.ts'), source)
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const options = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2023,dom', '--types', '']
    const nodenext = ['--module', 'nodenext', '--exactOptionalPropertyTypes']
    const checking = run(process.execPath, [compiler, ...options, ...nodenext, 'publish.ts'], {
      cwd: consumer,
    })
    const { stdout } = await checking.catch((error: { stdout: string }) => error)
    assert.equal(stdout, '')
  })

  it('is the same for import and for require, in each of its parts', async () => {
    const names = (load: string) => `
      const show = (module) => Object.keys(module).filter((name) => name !== 'default').sort()
      ${load}`
    const parts = [
      '@property-events/client',
      '@property-events/client/listing',
      '@property-events/client/node',
    ]
    const list = JSON.stringify(parts)
    writeFileSync(
      join(consumer, 'names.mjs'),
      names(`for (const part of ${list}) console.log(show(await import(part)).join())`),
    )
    writeFileSync(
      join(consumer, 'names.cjs'),
      names(`for (const part of ${list}) console.log(show(require(part)).join())`),
    )
    const [imported, required] = await Promise.all(
      ['names.mjs', 'names.cjs'].map((file) => run(process.execPath, [file], { cwd: consumer })),
    )
    assert.equal(required?.stdout, imported?.stdout)
    assert.match(required?.stdout ?? '', /createClient.*\n.*listing.*\nfileCheckpoint\n/)
    // Node can require modules by now, so that alone shows nothing.
    const { exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
      exports: Readonly<Record<string, { require: { default: string } }>>
    }
    const text = readFileSync(join(installed, exports['.']?.require.default ?? ''), 'utf8')
    assert.match(text, /^exports\.|Object\.defineProperty\(exports/m)
  })
})
