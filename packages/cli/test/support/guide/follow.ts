/**
 * Follows the operating guide as an operator does: every block of docs/operating/ that is marked `root`, as it stands, one after
 * the other. To be started as root in namespaces of its own (operating-guide.test.ts), because it installs, makes users and roles,
 * and listens on the ports of the guide. In place of the machine's own are only: `git clone` and `npm ci`, which take what is here,
 * and `systemctl`, which does nothing, as no systemd runs here: this program starts the nodes before the block that enables them
 * (deploy-files.test.ts has systemd look at the units). PostgreSQL is the machine's own, of the version of its `pg_dump`, in a
 * cluster that is made here, at the usual place.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { launchPostgres } from '../../../../server/test/postgres/launch-postgres.ts'
import { installedPostgresFolders } from '../../../../server/test/postgres/postgres-programs.ts'
import { until } from '../../../../server/test/support/until.ts'
import { blocksIn, root, textOf } from '../documents.ts'

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
  if (status !== 0) throw new Error(`ended with ${status}:\n${block}\n${stdout}\n${stderr}`)
  const pairs = readFileSync(environmentFile, 'utf8').split('\0')
  environment = Object.fromEntries(
    pairs
      .filter((pair) => pair.includes('='))
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  )
  return stdout
}

const nodes: ChildProcess[] = []

/** A node as its unit starts it: as the service's user, with these settings and no others. */
function startNode(settings: Readonly<Record<string, string>>): void {
  const { PROPERTY_EVENTS_DATA: data = '' } = settings
  const folder = spawnSync('install', [
    '-d',
    '-m',
    '0700',
    '-o',
    'property-events',
    '/var/lib/property-events',
    data,
  ])
  assert.equal(folder.status, 0, String(folder.stderr))
  const variables = Object.entries({
    PATH: '/usr/bin:/bin',
    PROPERTY_EVENTS_TRUSTED_PROXIES: '1',
    ...settings,
  })
  const user = ['--reuid=property-events', '--regid=property-events', '--clear-groups']
  const program = ['node_modules/.bin/node', 'packages/cli/bin/property-events.mjs'].map((path) =>
    join('/opt/property-events', path),
  )
  const words = [
    ...user,
    'env',
    '-i',
    ...variables.map((pair) => pair.join('=')),
    ...program,
    'serve',
    '--drain',
    '0',
    '--log-level',
    'warn',
  ]
  nodes.push(spawn('setpriv', words, { cwd: '/', stdio: ['ignore', 'ignore', 'inherit'] }))
}

async function stopNodes(): Promise<void> {
  for (const node of nodes.splice(0)) {
    if (node.exitCode === null && node.kill('SIGTERM')) await once(node, 'exit')
  }
}

interface Keys {
  readonly publish: string
  readonly read: string
}

function keysIn(output: string): Keys {
  const [publish = '', read = ''] = output.match(/pev_\w+/g) ?? []
  assert.ok(read !== '', `two keys in ${output}`)
  return { publish, read }
}

/** `epoch heads`: how many events each feed has, of the restored store and of the one that is served. */
function assertSameHeads(output: string): void {
  const [, restored, served] = output
    .split(/^tenant .*$/m)
    .map((rows) =>
      Array.from(rows.matchAll(/ {2}(property|contact) +(\d+)/g), ([, feed, events]) => [feed, events]),
    )
  assert.ok(restored !== undefined && restored.some(([, events]) => events !== '0'), output)
  assert.deepEqual(restored, served)
}

function standIn(name: string, script: string): void {
  const path = join('/usr/local/bin', name)
  writeFileSync(path, `#!/bin/sh\nset -eu\n${script}\n`)
  chmodSync(path, 0o755)
}

function prepareMachine(): void {
  standIn('systemctl', 'if [ "$*" = "reload-or-restart nginx" ]; then nginx; fi')
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
  startNode({ PROPERTY_EVENTS_DATA: '/var/lib/property-events' })
  const output = blocks.map(run).join('\n')
  assert.doesNotMatch(output, /^fail /m)
  const keys = keysIn(output)
  await publishTwenty('http://127.0.0.1:8080', keys.publish)
  blocksOf('backup-and-restore.md', 'Back up a folder').map(run)
  // What the service of the backup does.
  run(
    'runuser -u property-events -- property-events backup /var/backups/property-events/one.db --data /var/lib/property-events',
  )
  const drill = blocksOf('backup-and-restore.md', 'Restore drill').map(run).join('\n')
  assert.doesNotMatch(drill, /^fail /m)
  assertSameHeads(drill)
  say('the restored folder has every event')
  await stopNodes()
}

async function publishTwenty(url: string, key: string): Promise<void> {
  for (let n = 0; n < 20; n += 1) {
    const answer = await fetch(`${url}/v1/property-events`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ payload: { agent_ref: randomUUID(), published: true } }),
    })
    assert.equal(answer.status, 201, await answer.text())
  }
}

async function followNodesAndProxy(): Promise<void> {
  const [roles, migrate, units, commands, proxy, restart, ...more] = blocksOf('nodes-and-proxy.md')
  assert.deepEqual(more, [], 'every block has its place here')
  run(roles ?? '')
  run(migrate ?? '')
  startNodes({ DATABASE: 'database', KEY_PEPPER: 'pepper' })
  run(units ?? '')
  const output = run(commands ?? '')
  assert.doesNotMatch(output, /^fail /m)
  const keys = keysIn(output)
  run(proxy ?? '')
  run(restart ?? '')
  await publishTwenty('http://127.0.0.1:8082', keys.publish)
  const heads = `curl -fsS --cacert /etc/property-events/tls/fullchain.pem --resolve feed.example.com:443:127.0.0.1 \
    -H 'x-api-key: ${keys.read}' https://feed.example.com/v1/heads`
  assert.match(run(heads), /"sequenceNumber":20/)
  await replacePepper(keys)
  const drill = blocksOf('backup-and-restore.md', 'Back up PostgreSQL').map(run).join('\n')
  assert.doesNotMatch(drill, /^fail /m)
  assertSameHeads(drill)
  say('the restored database has every event')
}

/** The nodes of the guide, with these secrets: files of /etc/property-events. */
function startNodes(secrets: Readonly<Record<string, string>>): void {
  const read = Object.entries(secrets).map(([name, file]) => {
    return [
      `PROPERTY_EVENTS_${name}`,
      readFileSync(join('/etc/property-events', file), 'utf8').trim(),
    ] as const
  })
  for (const node of [8081, 8082]) {
    startNode({
      ...variablesIn(`/opt/property-events/deploy/etc/${node}.env`),
      ...Object.fromEntries(read),
      PROPERTY_EVENTS_DATA: `/var/lib/property-events/${node}`,
    })
  }
}

/** Each key is hashed again when it is used. */
async function replacePepper({ publish, read }: Keys): Promise<void> {
  const [prepare = '', finish = '', tidy = '', ...more] = blocksOf('keys.md')
  assert.deepEqual(more, [])
  run(prepare)
  await stopNodes()
  startNodes({ DATABASE: 'database', KEY_PEPPER: 'pepper', OLD_KEY_PEPPER: 'old-pepper' })
  run(
    'until curl -fsS http://127.0.0.1:9481/readyz && curl -fsS http://127.0.0.1:9482/readyz; do sleep 1; done',
  )
  run(finish)
  const isHashedAnew = async (): Promise<boolean> => {
    for (const key of [publish, read])
      await fetch('http://127.0.0.1:8081/v1/heads', { headers: { 'x-api-key': key } })
    const { peppers } = JSON.parse(run('property-events pepper status --json')) as {
      peppers: { isCurrent: boolean; keys: number }[]
    }
    return peppers.every(({ isCurrent, keys }) => isCurrent || keys === 0)
  }
  await until(isHashedAnew, { what: 'keys that need the new pepper alone', timeoutMs: 60_000, everyMs: 500 })
  run(tidy)
  say('the pepper is replaced')
}

/** As systemd reads them. */
function variablesIn(path: string): Readonly<Record<string, string>> {
  const lines = readFileSync(path, 'utf8').split('\n')
  const pairs = lines.map((line) => /^(\w+)=(.*)$/.exec(line)?.slice(1) ?? [])
  return Object.fromEntries(
    pairs.flatMap(([name, value = '']) => (name === undefined ? [] : [[name, value]])),
  )
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
  await stopNodes()
  spawnSync('nginx', ['-s', 'stop'])
  await postgres[Symbol.asyncDispose]()
  rmSync(environmentFile, { force: true })
}
