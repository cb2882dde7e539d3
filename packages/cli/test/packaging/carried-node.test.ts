/** The Node that comes with the packages is compared with the checksum that is kept, before it is started. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { findCarried, readChecksums, sha256Of } from '../../carried-node/index.mjs'
import type { KnownNode } from '../../carried-node/index.mjs'
import { checkNode } from '../../src/doctor/check-machine.ts'
import { root } from '../support/documents.ts'
import { removeFolder, runJson, temporaryFolder } from '../support/program.ts'

const place = `${process.platform} ${process.arch}`
const { platforms } = readChecksums()
const version = platforms[place]?.version ?? ''
const folder = temporaryFolder()
after(() => removeFolder(folder))
let trees = 0

interface Tree {
  readonly path: string
  readonly program: string
  /** `npm start -- …` of this tree. */
  npmStart(): Outcome
  /** The program itself, with whatever Node. */
  door(node: string, ...args: readonly string[]): Outcome
}

interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** An installation with this program as its carried Node, which the kept checksum is of unless another one is given. */
function treeWith(
  write: (path: string) => void,
  {
    sha256,
    carries = version,
    keeps = version,
  }: { readonly sha256?: string; readonly carries?: string; readonly keeps?: string } = {},
): Tree {
  trees += 1
  const path = join(folder, `tree-${trees}`)
  const known = platforms[place]
  assert.ok(known, `${place} has a carried Node`)
  for (const part of ['scripts', 'packages/cli/bin', 'packages/cli/carried-node'])
    cpSync(join(root, part), join(path, part), { recursive: true })
  mkdirSync(join(path, 'packages/cli/src'))
  // Stands for the sources: what counts is whether it is reached.
  writeFileSync(
    join(path, 'packages/cli/src/main.ts'),
    `export const main = async () => (console.log('it runs'), 0)\n`,
  )
  writeFileSync(join(path, 'packages/cli/package.json'), '{ "type": "module" }')
  const carrier = join(path, 'node_modules', known.package)
  const program = join(carrier, known.program)
  mkdirSync(join(program, '..'), { recursive: true })
  write(program)
  chmodSync(program, 0o755)
  writeFileSync(join(carrier, 'package.json'), JSON.stringify({ name: known.package, version: carries }))
  const kept = {
    platforms: {
      [place]: { ...known, version: keeps, sha256: sha256 ?? sha256Of(program) },
      'plan9 x64': { ...known, version: '0.0.1' },
    },
  }
  writeFileSync(join(path, 'packages/cli/carried-node/checksums.json'), JSON.stringify(kept))
  writeFileSync(join(path, 'package-lock.json'), '{}')
  // Everything is installed.
  const lock = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'
  writeFileSync(join(path, 'node_modules/.installed'), `${lock} everything`)
  return {
    path,
    program,
    npmStart: () => run(path, process.execPath, [join(path, 'scripts/run.mjs'), 'start']),
    door: (node, ...args) => run(path, node, [join(path, 'packages/cli/bin/property-events.mjs'), ...args]),
  }
}

function run(cwd: string, command: string, args: readonly string[]): Outcome {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] },
  })
  return { code: status, stdout, stderr }
}

/** Quick to read: says what it is asked to run, as a Node would run it. */
function pretender(path: string): void {
  writeFileSync(path, '#!/bin/sh\necho "started with $*"\n')
}

function changedByte(path: string): void {
  const { mtime, atime } = statSync(path)
  writeFileSync(path, readFileSync(path, 'utf8').replace('started', 'stArted'))
  // Whoever changes a file can say that it was not changed.
  utimesSync(path, atime, mtime)
}

describe('the Node that comes with the packages', { skip: process.platform === 'win32' }, () => {
  it('is started when it is the one that is known, and read once', () => {
    const tree = treeWith(pretender)
    const first = tree.npmStart()
    assert.deepEqual({ code: first.code, stderr: first.stderr }, { code: 0, stderr: '' })
    assert.match(first.stdout, /started with .*property-events\.mjs demo/)
    const stamp = join(tree.path, 'node_modules/.node-checked')
    const kept = readFileSync(stamp, 'utf8')
    assert.equal(tree.npmStart().code, 0)
    assert.equal(readFileSync(stamp, 'utf8'), kept)
  })

  it('is not started when a byte of it is another one, whatever its times say, and the sentence says what to do', () => {
    const tree = treeWith(pretender)
    assert.equal(tree.npmStart().code, 0)
    changedByte(tree.program)
    const { code, stdout, stderr } = tree.npmStart()
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
    assert.match(
      stderr,
      /is not the expected Node .*: its SHA-256 is [0-9a-f]{64}, and should be [0-9a-f]{64}\./,
    )
    assert.match(stderr, /Delete node_modules and install again: npm ci --ignore-scripts\./)
  })

  it('is not started when its package is of another version', () => {
    const { code, stdout, stderr } = treeWith(pretender, { carries: '99.0.0' }).npmStart()
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
    assert.match(stderr, /is Node 99\.0\.0, but the checksums are those of .*npm run node:renew/)
  })

  it('may be of another version than that of other platforms', () => {
    const { code, stderr } = treeWith(pretender, { carries: '98.7.6', keeps: '98.7.6' }).npmStart()
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  })

  it('is compared by npm run node:check, which spares the service reading it where it may not write', () => {
    const tree = treeWith(pretender)
    const check = () => run(tree.path, process.execPath, [join(tree.path, 'scripts/check-node.mjs')])
    const first = check()
    assert.equal(first.code, 0, first.stderr)
    assert.match(first.stdout, /is Node [\d.]+; its checksum matches/)
    assert.ok(existsSync(join(tree.path, 'node_modules/.node-checked')))
    changedByte(tree.program)
    assert.equal(check().code, 1)
  })

  it('does not serve when it is not the one that is known, and says so before anything is opened', () => {
    const copy = (path: string) => copyFileSync(process.execPath, path)
    const right = treeWith(copy)
    assert.equal(right.door(right.program, 'serve').stdout, 'it runs\n')
    const wrong = treeWith(copy, { sha256: '0'.repeat(64) })
    for (const command of ['serve', 'demo']) {
      const { code, stdout, stderr } = wrong.door(wrong.program, command)
      assert.deepEqual({ code, stdout }, { code: 1, stdout: '' }, command)
      assert.match(stderr, /is not the expected Node/)
    }
    // `doctor` has to run to say it, and a Node of the machine is not the one that came.
    assert.equal(wrong.door(wrong.program, 'doctor').stdout, 'it runs\n')
    assert.equal(wrong.door(process.execPath, 'serve').stdout, 'it runs\n')
    for (const { path } of [right, wrong]) rmSync(path, { recursive: true })
  })
})

describe('doctor', () => {
  const carried = findCarried()

  it('says which Node runs, from where, and whether its checksum is the one that is kept', async () => {
    const findings = await runJson<{ check: string; status: string; detail: string }[]>([
      'doctor',
      '--port',
      '0',
      '--metrics-port',
      '0',
      '--data',
      join(folder, 'none'),
    ])
    const node = findings.find(({ check }) => check === 'node')
    assert.equal(node?.status, 'ok')
    assert.ok(node.detail.startsWith(`${process.version} at ${process.execPath}, `), node.detail)
    assert.match(node.detail, /SHA-256 matches|its checksum is not verified/)
  })

  it('says so of one that is too old, of the machine, or not the one that is known', () => {
    const path = process.execPath
    assert.equal(checkNode({ version: '22.1.0', path, carried: undefined }).status, 'fail')
    assert.match(checkNode({ version: '26.0.0', path, carried: undefined }).detail, /from this machine/)
    assert.ok(carried)
    const here = { ...carried, path: import.meta.filename }
    const wrong = checkNode({ version: '26.0.0', path: import.meta.filename, carried: here })
    assert.equal(wrong.status, 'fail')
    assert.match(wrong.remedy ?? '', /npm ci --ignore-scripts/)
  })

  it('says of each platform what was compared with what nodejs.org publishes, and what was not', () => {
    assert.ok(carried)
    const known = { ...carried.known, sha256: sha256Of(import.meta.filename) }
    const here = { ...carried, path: import.meta.filename, stamp: join(folder, 'stamp') }
    const detailOf = (compared: KnownNode['compared']) =>
      checkNode({ version, path: here.path, carried: { ...here, known: { ...known, compared } } }).detail
    assert.match(detailOf('here'), /SHA-256 matches the checksum of \S+ published by nodejs\.org/)
    assert.match(
      detailOf('elsewhere'),
      /SHA-256 matches the published checksum of \S+, as others have it from nodejs\.org/,
    )
    assert.match(detailOf('nowhere'), /which nobody has compared with \S+ of nodejs\.org/)
  })
})

describe('the checksums that are kept', () => {
  const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8')) as Record<string, unknown>

  it('are those of every platform that package.json names, in its version', () => {
    const { optionalDependencies } = read('package.json')
    const named = Object.fromEntries(Object.values(platforms).map((known) => [known.package, known.version]))
    assert.deepEqual(optionalDependencies, named)
    for (const known of Object.values(platforms)) assert.match(known.sha256, /^[0-9a-f]{64}$/)
  })

  it('are said in the document on the supply chain, with what each was compared with', () => {
    const text = readFileSync(join(root, 'docs/supply-chain.md'), 'utf8')
    for (const [platform, known] of Object.entries(platforms)) {
      const { sha256, compared, published } = known
      const row = `| ${platform} | ${known.version} | \`${sha256}\` | ${published.file} | ${compared} |`
      assert.ok(text.includes(row), row)
    }
  })
})
