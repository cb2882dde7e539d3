/**
 * Follows the operating guide as an operator does: every block of docs/operating/ that is marked `root`, as it stands, one after
 * the other. To be started as root in namespaces of its own (operating-guide.test.ts), because it installs, makes users and roles,
 * and listens on the ports of the guide. In place of the machine's own are only: `git clone` and `npm ci`, which take what is here,
 * and `systemctl` (systemctl.ts). PostgreSQL is the machine's own, of the version of its `pg_dump`, in a
 * cluster that is made here, at the usual place.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { launchPostgres } from '../../../../server/test/postgres/launch-postgres.ts'
import { installedPostgresFolders } from '../../../../server/test/postgres/postgres-programs.ts'
import { until } from '../../../../server/test/support/until.ts'
import { blocksIn, root, textOf } from '../documents.ts'
import { availableCount, client, startLoad } from './load.ts'
import type { Keys } from './load.ts'

const isLong = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1'
const shortDrain = 'PROPERTY_EVENTS_DRAIN=1s'
/** A block that waits for what never comes is ended. */
const patienceMs = 120_000
const startedMs = performance.now()
const environmentFile = '/run/guide-environment'
let environment: Record<string, string> = {
  PATH: '/opt/property-events/node_modules/.bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  REPOSITORY: root,
}

function say(text: string): void {
  process.stdout.write(`${((performance.now() - startedMs) / 1_000).toFixed(1)} s  ${text}\n`)
}

/** The marked blocks of a page, those of one section if that is named. */
function blocksOf(page: string, heading?: string): readonly string[] {
  const text = textOf(`docs/operating/${page}`)
  const section =
    heading === undefined
      ? text
      : (new RegExp(`^(#+) ${heading}\n[\\s\\S]*?(?=^\\1 |(?![\\s\\S]))`, 'm').exec(text)?.[0] ?? '')
  const blocks = blocksIn(page, section).filter(({ language, mark }) => language === 'sh' && mark === 'root')
  assert.notEqual(
    blocks.length,
    0,
    `${page} has blocks for root${heading === undefined ? '' : ` in ${heading}`}`,
  )
  return blocks.map((block) => block.text)
}

/** Runs a block in a shell that has what the earlier ones have exported, and returns what it said. */
function run(block: string): string {
  const [first = ''] = block.split('\n')
  say(`$ ${first}${block.trim().includes('\n') ? ' …' : ''}`)
  const script = `set -eu\n${block}\nenv -0 > ${environmentFile}\n`
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', script], {
    env: environment,
    encoding: 'utf8',
    timeout: patienceMs,
  })
  if (status !== 0) throw new Error(`ended with ${status}:\n${block}\n${stdout}\n${stderr}\n${logs()}`)
  const pairs = readFileSync(environmentFile, 'utf8').split('\0')
  environment = Object.fromEntries(
    pairs
      .filter((pair) => pair.includes('='))
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  )
  return stdout
}

function logs(): string {
  const folder = '/run/units'
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.log')) : []
  return names.map((name) => `${name}:\n${readFileSync(join(folder, name), 'utf8').slice(-2_000)}`).join('\n')
}

function keysIn(output: string): Keys {
  const [publish = '', read = ''] = output.match(/pev_\w+/g) ?? []
  assert.ok(read !== '', `two keys in ${output}`)
  return { publish, read }
}

/** `epoch heads`: how many events each feed has, of the restored store and of the one that is served. */
function assertSameHeads(output: string): void {
  const [restored, served] = output
    .split('\n')
    .filter((line) => line.startsWith('['))
    .map((line) =>
      (JSON.parse(line) as { feed: string; position: number }[]).map(({ feed, position }) => [
        feed,
        position,
      ]),
    )
  assert.ok(restored !== undefined && restored.some(([, position]) => position !== 0), output)
  assert.deepEqual(restored, served)
}

function standIn(name: string, script: string): void {
  const path = join('/usr/local/bin', name)
  writeFileSync(path, `#!/bin/sh\nset -eu\n${script}\n`)
  chmodSync(path, 0o755)
}

function prepareMachine(): void {
  standIn('systemctl', `exec ${process.execPath} ${join(import.meta.dirname, 'systemctl.ts')} "$@"`)
  const copied = ['packages', 'deploy', 'docs', 'scripts', 'package.json', 'package-lock.json']
  standIn(
    'git',
    `[ "$1" = clone ]; mkdir -p "$3"; cd "$2"; cp -R ${copied.join(' ')} "$3"; rm -rf "$3"/packages/*/node_modules`,
  )
  const installing = `mkdir node_modules; mount --bind ${join(root, 'node_modules')} node_modules`
  // The only script of package.json that the guide runs.
  const checking = `[ "$*" = "run --silent node:check" ]; exec ${process.execPath} scripts/check-node.mjs`
  standIn('npm', `if [ "$1" = ci ]; then ${installing}; else ${checking}; fi`)
  mkdirSync('/run/postgresql')
  chmodSync('/run/postgresql', 0o777)
}

async function followFirstStart(): Promise<void> {
  const [install = '', ...blocks] = blocksOf('first-start.md')
  run(install)
  // The drain is a wait and nothing else.
  if (!isLong) writeFileSync('/etc/property-events/node.env', `${shortDrain}\n`)
  const output = blocks.map(run).join('\n')
  assert.doesNotMatch(output, /^fail /m)
  const keys = keysIn(output)
  for (let n = 0; n < 20; n += 1) {
    const answer = await fetch('http://127.0.0.1:8080/v1/property-events', {
      method: 'POST',
      headers: { 'x-api-key': keys.publish, 'content-type': 'application/json' },
      body: JSON.stringify({ payload: { agent_ref: randomUUID(), published: true } }),
    })
    assert.equal(answer.status, 201, await answer.text())
  }
  blocksOf('backup-and-restore.md', 'Back up a folder').map(run)
  const drill = blocksOf('backup-and-restore.md', 'Try a restore').map(run).join('\n')
  assert.doesNotMatch(drill, /^fail /m)
  assertSameHeads(drill)
  say('the restored folder has every event')
  run('systemctl stop property-events')
}

async function followNodesAndProxy(): Promise<void> {
  const [roles, migrate, units, commands, proxy, restart, ...more] = blocksOf('nodes-and-proxy.md')
  assert.deepEqual(more, [], 'every block has its place here')
  run(roles ?? '')
  run(migrate ?? '')
  if (!isLong) {
    for (const node of [8081, 8082])
      writeFileSync(`/opt/property-events/deploy/etc/${node}.env`, `${shortDrain}\n`, {
        flag: 'a',
      })
  }
  run(units ?? '')
  const output = run(commands ?? '')
  assert.doesNotMatch(output, /^fail /m)
  const keys = keysIn(output)
  run(proxy ?? '')
  const ask = client(readFileSync('/etc/property-events/tls/fullchain.pem', 'utf8'))
  await restartUnderLoad(ask, keys, restart ?? '')
  // Two more restarts of each node.
  if (isLong) await replacePepper(ask, keys)
  const drill = blocksOf('backup-and-restore.md', 'Back up PostgreSQL').map(run).join('\n')
  assert.doesNotMatch(drill, /^fail /m)
  assertSameHeads(drill)
  say('the restored database has every event')
}

async function replacePepper(ask: ReturnType<typeof client>, keys: Keys): Promise<void> {
  const [prepare = '', finish = '', tidy = '', ...more] = blocksOf('keys.md')
  assert.deepEqual(more, [])
  run(prepare)
  await availableCount(ask, keys.read)
  run(finish)
  const isHashedAnew = async (): Promise<boolean> => {
    await availableCount(ask, keys.read)
    await ask({ path: '/v1/property-events', key: keys.publish, body: '{}' })
    const { peppers } = JSON.parse(run('property-events pepper status --json')) as {
      peppers: { isCurrent: boolean; keys: number }[]
    }
    return peppers.every(({ isCurrent, keys: left }) => isCurrent || left === 0)
  }
  await until(isHashedAnew, { what: 'keys that need the new pepper alone', timeoutMs: 60_000, everyMs: 500 })
  run(tidy)
  await availableCount(ask, keys.read)
  say('the pepper is replaced, and both keys work')
}

/** The block restarts both nodes; a longer run does it more often. */
async function restartUnderLoad(ask: ReturnType<typeof client>, keys: Keys, restart: string): Promise<void> {
  const load = startLoad(ask, keys)
  const goesOn = () => {
    const before = load.counts()
    const isFurther = () => {
      const { published, read } = load.counts()
      return published > before.published + 10 && read > before.read + 10
    }
    return until(isFurther, { what: 'a load that goes on', timeoutMs: 60_000 })
  }
  await goesOn()
  for (let times = 0; times < (isLong ? 10 : 1); times += 1) {
    await inBackground(restart)
    await goesOn()
  }
  await load.stop()
  assert.deepEqual(load.lost, [], logs())
  const { published, read } = load.counts()
  assert.equal(await availableCount(ask, keys.read), published, 'each stored once')
  say(`${published} publications and ${read} reads while nodes were restarted, none lost`)
}

/** A block beside the load, which this process makes. */
async function inBackground(block: string): Promise<void> {
  say(`$ ${block.split('\n')[0] ?? ''} …`)
  const child = spawn('/bin/sh', ['-euc', block], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: patienceMs,
  })
  let said = ''
  for (const pipe of [child.stdout, child.stderr]) pipe.on('data', (text) => (said += String(text)))
  const code = await new Promise((resolve) => child.on('close', resolve))
  assert.equal(code, 0, `${said}\n${logs()}`)
}

prepareMachine()
const [binFolder] = installedPostgresFolders()
const postgres = await launchPostgres({
  binFolder,
  initdb: ['--auth-host=scram-sha-256'],
  settings: {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '/run/postgresql',
    unix_socket_permissions: '0777',
  },
})
try {
  await followFirstStart()
  await followNodesAndProxy()
  say('followed to its end')
} finally {
  run('systemctl stop property-events property-events@8081 property-events@8082')
  spawnSync('nginx', ['-s', 'stop'])
  await postgres[Symbol.asyncDispose]()
  rmSync(environmentFile, { force: true })
}
