/** The program on a PostgreSQL database: two nodes on one store, and the commands beside them. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { testDatabases } from '../../../server/test/postgres/test-databases.ts'
import type { TestDatabases } from '../../../server/test/postgres/test-databases.ts'
import { withClient } from '../../../server/test/postgres/support/standby.ts'
import { makeTenant, placeOf } from '../support/make-tenant.ts'
import { listEvents, removeFolder, run, runJson, start, temporaryFolder } from '../support/program.ts'
import type { Running } from '../support/program.ts'

interface Found {
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly remedy?: string
}

const root = temporaryFolder()
const started: Running[] = []

async function startNode(...given: Parameters<typeof start>): Promise<Running> {
  const running = await start(...given)
  started.push(running)
  return running
}

describe('a store in PostgreSQL', () => {
  let databases: TestDatabases
  before(async () => {
    databases = await testDatabases()
  })
  after(async () => {
    // Only after a failure is one of them still there.
    for (const { child } of started) child.kill('SIGKILL')
    await databases[Symbol.asyncDispose]()
    removeFolder(root)
  })

  it('is served by two nodes at once, each showing what the other took in (P8, P12)', async () => {
    const environment = {
      PROPERTY_EVENTS_DATABASE: await databases.create(),
      PROPERTY_EVENTS_KEY_PEPPER: 'the same on every node',
    }
    const one = await startNode(['serve', '--data', join(root, 'one')], { environment })
    const two = await startNode(['serve', '--data', join(root, 'two')], { environment })
    const wanted = { read: ['read'], publish: ['publish'] }
    const { keys } = await makeTenant(placeOf(environment), 'Hill & Co', wanted)
    const payload = { agent_ref: '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10', published: true }
    const published = await fetch(`${one.line.url}/v1/property-events`, {
      method: 'POST',
      headers: { 'x-api-key': keys.publish.key, 'content-type': 'application/json' },
      body: JSON.stringify({ payload }),
    })
    assert.equal(published.status, 201, await published.text())
    const page = await listEvents(two.line.url, keys.read.key)
    assert.equal(page.body.availableCount, 1)
    for (const node of [one, two]) assert.equal((await node.stop()).code, 0)
  })

  it('is copied by PostgreSQL itself: backup names the commands, and what a restored store needs (D13)', async () => {
    const file = join(root, 'o’r copi 🏡')
    const database = 'postgres://feed:hunter2@db.example.com/feed'
    const { code, stdout, stderr } = await run(['backup', file, '--database', database])
    assert.deepEqual([code, stdout], [1, ''])
    assert.ok(stderr.includes(`\npg_dump --format=custom --file='${file}' ADDRESS\n`), stderr)
    assert.ok(stderr.includes(`\npg_restore --no-owner --dbname=ADDRESS '${file}'\n`), stderr)
    assert.match(stderr, / epoch start --continue-after N --database ADDRESS\n/)
    assert.equal(existsSync(file), false)
  })

  it('is copied from a data folder and back, checked feed by feed, and the copies serve (P9)', async () => {
    const folder = join(root, 'source')
    const market = await startNode(['demo', '--no-live', '--data', folder])
    const { tenants = [] } = market.line
    const url = await databases.create()
    type Copied = { tenantId: string; feed: string; events: number; checksum: string }[]
    const there = await runJson<Copied>(['copy', '--from', folder, '--to', url])
    const [tenant] = tenants
    const before = await listEvents(market.line.url, tenant?.readKey ?? '')
    assert.equal((await market.stop()).code, 0)
    assert.equal(
      there.find(({ tenantId, feed }) => tenantId === tenant?.tenantId && feed === 'property')?.events,
      before.body.availableCount,
    )
    // Again: nothing is new, and nothing is copied twice.
    assert.deepEqual(await runJson<Copied>(['copy', '--from', folder, '--to', url]), there)
    const back = join(root, 'back')
    const byFeed = (feeds: Copied) =>
      feeds.toSorted((a, b) => (a.tenantId + a.feed < b.tenantId + b.feed ? -1 : 1))
    const returned = await runJson<Copied>(['copy', '--from', url, '--to', back])
    assert.deepEqual(byFeed(returned), byFeed(there))
    // The keys work where the pepper is.
    copyFileSync(join(folder, 'pepper'), join(back, 'pepper'))
    const served = await startNode(['serve', '--data', back])
    assert.deepEqual((await listEvents(served.line.url, tenant?.readKey ?? '')).body, before.body)
    assert.equal((await served.stop()).code, 0)
    const other = await run(['copy', '--from', folder, '--to', folder])
    assert.match(other.stderr, /two different stores/)
    for (const [from, to] of [
      [folder, `${folder}/`],
      [url, spelledAnew(url)],
    ] as const) {
      const same = await run(['copy', '--from', from, '--to', to])
      assert.equal(same.code, 1, same.stderr)
      assert.match(same.stderr, /the same store under two names/)
    }
    // Publishing has moved there: what was left behind is not copied over it, and nothing stops there.
    // With the pepper's text in place of its file.
    const pepper = readFileSync(join(back, 'pepper'), 'utf8').trim()
    rmSync(join(back, 'pepper'))
    const environment = { PROPERTY_EVENTS_KEY_PEPPER: pepper }
    const moved = await startNode(['serve', '--data', back], { environment })
    const publish = () =>
      fetch(`${moved.line.url}/v1/property-events`, {
        method: 'POST',
        headers: { 'x-api-key': tenant?.publishKey ?? '', 'content-type': 'application/json' },
        body: JSON.stringify({ payload: { agent_ref: randomUUID(), published: true } }),
      })
    assert.equal((await publish()).status, 201)
    const late = await run(['copy', '--from', url, '--to', back])
    assert.match(late.stderr, /one that the source does not have/)
    assert.equal((await publish()).status, 201)
    assert.equal((await moved.stop()).code, 0)
  })

  it('is looked through by doctor, with the server it lies on', async () => {
    const folder = join(root, 'examined')
    const database = await databases.create()
    const examine = async (): Promise<readonly Found[]> => {
      const { stdout } = await run([
        'doctor',
        '--json',
        '--port',
        '0',
        '--data',
        folder,
        '--database',
        database,
      ])
      return JSON.parse(stdout)
    }
    const storeOf = (findings: readonly Found[]) => findings.find(({ check }) => check === 'store')
    assert.equal(storeOf(await examine())?.status, 'warn', 'there is none yet')
    const node = await startNode(['serve', '--data', folder, '--database', database])
    const healthy = await examine()
    assert.deepEqual(
      healthy.filter(({ status }) => status === 'fail'),
      [],
    )
    assert.deepEqual(
      healthy.slice(4).map(({ check }) => check),
      [
        'database',
        'version',
        'primary',
        'durability',
        'checksums',
        'database size',
        'sessions',
        'messages',
        'connections',
        'database clock',
        'snapshots',
        'role',
        'schema',
        'compression',
        'clock',
        'pepper',
      ],
    )
    assert.equal((await node.stop()).code, 0)
    await withClient(database, (client) =>
      client.query('UPDATE store SET schema_version = 99, needs_epoch = true'),
    )
    const sick = await examine()
    assert.deepEqual(
      sick.flatMap(({ check, status }) => (status === 'fail' ? [check] : [])),
      ['schema', 'epoch'],
    )
    for (const { status, remedy } of sick) assert.equal(remedy === undefined, status === 'ok')
  })

  it('makes no key where the pepper of its nodes is not, and says where to look (D11)', async () => {
    const database = await databases.create()
    const node = await startNode(['serve', '--data', join(root, 'node'), '--database', database])
    const { tenantId } = await runJson<{ tenantId: string }>([
      'tenants',
      'create',
      'Hill & Co',
      '--database',
      database,
    ])
    const create = (...place: readonly string[]) =>
      run(['keys', 'create', '--tenant', tenantId, '--scope', 'read', '--database', database, ...place])
    // On another machine: the folder may be missing, or be for something else; the store may have no key yet.
    for (const folder of [join(root, 'missing'), root]) {
      const refused = await create('--data', folder)
      assert.equal(refused.code, 1, refused.stdout)
      assert.equal(refused.stdout, '')
      assert.match(refused.stderr, /has no pepper.*--data.*PROPERTY_EVENTS_KEY_PEPPER/)
      assert(!existsSync(join(folder, 'pepper')))
    }
    const made = await create('--data', join(root, 'node'))
    assert.equal(made.code, 0, made.stderr)
    assert.equal((await listEvents(node.line.url, made.stdout.trim())).status, 200)
    assert.equal((await node.stop()).code, 0)
  })

  it('that is not there is one finding of doctor, which keeps the password to itself', async () => {
    const nowhere = ['--database', 'postgres://me:secret@127.0.0.1:1/none', '--data', join(root, 'nothing')]
    const { code, stdout } = await run(['doctor', '--port', '0', ...nowhere])
    assert.equal(code, 1)
    assert.match(stdout, /^fail {2}database +127\.0\.0\.1:1\/none cannot be used .*\n +→ Check the address/m)
    assert.doesNotMatch(stdout, /secret/)
  })

  it('that cannot be reached, or is none, is told in a sentence without its password', async () => {
    const nowhere = ['--database', 'postgres://me:secret@127.0.0.1:1/none']
    const refused = await run(['tenants', 'list', ...nowhere])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /^The database cannot be reached .*--database/)
    assert.doesNotMatch(refused.stderr, /secret/)
    const noSocket = [
      '--database',
      `postgres:///none?user=me&host=${encodeURIComponent(join(root, 'no socket'))}`,
    ]
    const local = await run(['tenants', 'list', ...noSocket])
    assert.equal(local.code, 1)
    assert.match(local.stderr, /^The database cannot be reached .*--database/)
    const empty = await run(['tenants', 'list', '--database', await databases.create()])
    assert.match(empty.stderr, /^There is no Property Events store in this database\./)
  })
})

/** Another address of the same database. */
function spelledAnew(address: string): string {
  const url = new URL(address)
  url.searchParams.set('application_name', 'another')
  return url.href
}
