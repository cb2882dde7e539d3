/** What `doctor` says of planted problems: each is found, named, and given a remedy that works as it stands. */
import assert from 'node:assert/strict'
import {
  chmodSync,
  closeSync,
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { catalogues } from '@property-events/protocol'
import { findPeppers, openStorage } from '@property-events/server'
import { launchPostgres } from '../../../server/test/postgres/launch-postgres.ts'
import type { LaunchedPostgres } from '../../../server/test/postgres/launch-postgres.ts'
import { startStandby, withClient } from '../../../server/test/postgres/support/standby.ts'
import { startTransactionPooler } from '../../../server/test/postgres/support/transaction-pooler.ts'
import { draft, tenantA } from '../../../server/test/store/support/drafts.ts'
import { erase, subject } from '../../../server/test/store/support/erasing.ts'
import { publish } from '../../../server/test/store/support/read-back.ts'
import { testClock } from '../../../server/test/store/support/test-clock.ts'
import { newEndpoint, secretNamed } from '../../../server/test/store/support/webhooks.ts'
import { newSecret, sealSecret } from '../../../server/src/webhooks/secret.ts'
import { removeFolder, run, runJson, start, temporaryFolder } from '../support/program.ts'

interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly detail: string
  readonly remedy?: string
}

/** What was said of each problem, in the order of the tests. */
const said: string[] = []
const snapshotFile = new URL('doctor-findings.txt', import.meta.url)

const root = temporaryFolder()
let folders = 0
function folderOf(): string {
  folders += 1
  const folder = join(root, `data-${folders}`)
  mkdirSync(folder)
  return folder
}

let madeStore: Promise<string> | undefined

/** A store with one tenant and one key, closed: a copy of one that is made once. */
async function store(): Promise<string> {
  madeStore ??= makeStore()
  const folder = folderOf()
  cpSync(await madeStore, folder, { recursive: true })
  return folder
}

async function makeStore(): Promise<string> {
  const folder = folderOf()
  const data = ['--data', folder]
  const made = await openStorage({ kind: 'sqlite', folder, create: true, catalogue: catalogues.default })
  await made.close()
  writeFileSync(join(folder, 'pepper'), 'ab'.repeat(32), { mode: 0o600 })
  const { tenantId } = await runJson<{ tenantId: string }>(['tenants', 'create', 'Hill & Co', ...data])
  await runJson(['keys', 'create', '--tenant', tenantId, '--scope', 'read', ...data])
  return folder
}

/** What differs from run to run and from machine to machine. */
function steady(text: string): string {
  return text
    .replaceAll(root, 'ROOT')
    .replaceAll(/[^\s`]*property-events\.mjs/g, 'property-events')
    .replaceAll(/and \d+ more/g, 'and N more')
    .replaceAll(/\/\S*property-events-postgres-\S*?\/(first|sibling-\w+)/g, 'SOCKET')
    .replaceAll(/%2F\S*property-events-postgres-\S*?%2F(first|sibling-\w+)/g, 'SOCKET')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
    .replaceAll(/\b\d{4,5} (on 127|is the)/g, 'PORT $1')
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'MOMENT')
    .replaceAll(/\d+\.\d+ GB/g, 'N GB')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID')
    .replaceAll(/data-\d+/g, 'data')
    .replaceAll(/version \d+; this program (knows|needs) \d+/g, 'version N; this program $1 N')
}

/** Runs doctor, notes what it says is wrong, and sees that just these checks say so. */
async function diagnosed(problem: string, args: readonly string[], checks: readonly string[]): Promise<void> {
  const ports = args.includes('--port') ? [] : ['--port', '0', '--metrics-port', '0']
  const { stdout, stderr, code } = await run(['doctor', '--json', ...ports, ...args])
  assert.equal(stderr, '')
  const findings = JSON.parse(stdout) as readonly Finding[]
  // Whatever the machine's disk is like; npm's PostgreSQL has no lz4.
  const wrong = findings.filter(
    ({ check, status }) => status !== 'ok' && !['disk space', 'flush speed', 'compression'].includes(check),
  )
  assert.equal(code, wrong.some(({ status }) => status === 'fail') ? 1 : 0)
  for (const { check, remedy } of wrong) assert.ok(remedy, check)
  const lines = wrong.map(
    ({ check, status, detail, remedy }) =>
      `  ${status} ${check}: ${steady(detail)}\n    → ${steady(remedy ?? '')}`,
  )
  said.push(`${problem}\n${lines.join('\n')}\n`)
  assert.deepEqual(
    wrong.map(({ check }) => check),
    checks,
  )
}

describe('doctor finds', () => {
  let server: LaunchedPostgres
  /** A store on the server, and the folder with its pepper. */
  let place: readonly string[]
  before(async () => {
    server = await launchPostgres({ initdb: ['--data-checksums'] })
    const made = await openStorage({
      kind: 'postgres',
      url: server.url(),
      create: true,
      catalogue: catalogues.default,
    })
    await made.close()
    const folder = folderOf()
    writeFileSync(join(folder, 'pepper'), 'ab'.repeat(32), { mode: 0o600 })
    place = ['--data', folder, '--database']
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
    removeFolder(root)
  })

  it('a file whose pages lead nowhere', async () => {
    const folder = await store()
    const path = join(folder, 'property-events.db')
    const file = openSync(path, 'r+')
    // In the middle of the file, away from the first page.
    writeSync(file, Buffer.alloc(8_192, 0x5a), 0, 8_192, 4_096 * 6)
    closeSync(file)
    const { stdout } = await run(['doctor', '--json', '--port', '0', '--data', folder])
    const checks = (JSON.parse(stdout) as readonly Finding[]).filter(({ status }) => status === 'fail')
    assert.match(checks.map(({ check }) => check).join(), /^(integrity|store)/)
  })

  it('an event of which a bit has changed', async () => {
    const folder = await store()
    const db = new Database(join(folder, 'property-events.db'))
    db.exec(`INSERT INTO event (place, feed_no, created, sequence, id, subject, code, state, json, checksum)
      VALUES (1 << 40 | 1, 1, 17000000000000000, 1, zeroblob(16), zeroblob(16), 'PropertyPublished', 'full', zeroblob(9), 7)`)
    db.close()
    await diagnosed('an event of which a bit has changed', ['--data', folder, '--deep'], ['events'])
  })

  it('a pepper that is gone', async () => {
    const folder = await store()
    rmSync(join(folder, 'pepper'))
    await diagnosed('a pepper that is gone', ['--data', folder], ['pepper'])
  })

  it('another pepper than the keys were made with', async () => {
    const folder = await store()
    writeFileSync(join(folder, 'pepper'), 'cd'.repeat(32), { mode: 0o600 })
    await diagnosed('another pepper than the keys were made with', ['--data', folder], ['pepper'])
  })

  it('a pepper that others can read', async (context) => {
    if (process.platform === 'win32') return context.skip('Windows has no such rights')
    const folder = await store()
    chmodSync(join(folder, 'pepper'), 0o644)
    await diagnosed('a pepper that others can read', ['--data', folder], ['pepper'])
  })

  it('webhooks whose secret the pepper does not open: sealed with another, or damaged (PROTOCOL §16)', async () => {
    const folder = await store()
    const url = server.url()
    const peppersOf = (given: string) => findPeppers({ folder: undefined, given: given.repeat(32) }) ?? []
    const [[present], [other]] = [peppersOf('ab'), peppersOf('cd')]
    assert.ok(present && other)
    const database = [...place, url]
    const { tenantId } = await runJson<{ tenantId: string }>(['tenants', 'create', 'Tŷ £ 🏡', ...database])
    await runJson(['keys', 'create', '--tenant', tenantId, '--scope', 'read', ...database])
    for (const [name, where, opening] of [
      ['a secret', ['--data', folder], { kind: 'sqlite', folder }],
      ['a secret in a database', database, { kind: 'postgres', url }],
    ] as const) {
      await using opened = await openStorage({ ...opening, create: false })
      const [key] = await opened.keys.keys()
      assert.ok(key)
      const made: string[] = []
      for (const [pepper, isWhole] of [
        [present, true],
        [present, false],
        [other, true],
      ] as const) {
        const [grant] = key.grants
        const endpoint = newEndpoint({ keyId: key.keyId, tenantId: grant?.tenantId ?? '', rights: {} })
        const sealed = sealSecret(pepper, endpoint.endpointId, newSecret())
        if (!isWhole) sealed[20] = (sealed[20] ?? 0) ^ 1
        const secret = secretNamed('', { sealed, pepperId: pepper.pepperId })
        assert.equal(await opened.webhooks.create({ ...endpoint, secret }, 'cli:test'), 'created')
        made.push(endpoint.endpointId)
      }
      const [whole, damaged, sealedElsewhere] = made
      assert.ok(whole && damaged && sealedElsewhere)
      await diagnosed(`${name} sealed with another pepper, and a damaged one`, where, ['webhook secrets'])
      await opened.webhooks.remove(damaged, 'cli:test')
      await diagnosed(`${name} sealed with another pepper`, where, ['webhook secrets'])
      await opened.webhooks.remove(sealedElsewhere, 'cli:test')
      const { stdout } = await run(['doctor', '--json', '--port', '0', ...where])
      assert.doesNotMatch(stdout, /webhook secrets/)
    }
  })

  it('a store of a newer program', async () => {
    const folder = await store()
    const db = new Database(join(folder, 'property-events.db'))
    db.pragma('user_version = 99')
    db.close()
    await diagnosed('a store of a newer program', ['--data', folder], ['schema'])
  })

  it('a store from before 0.1.0', async () => {
    const folder = await store()
    const db = new Database(join(folder, 'property-events.db'))
    db.pragma('application_id = 0x50455654')
    db.close()
    await diagnosed('a store from before 0.1.0', ['--data', folder], ['store'])
  })

  it('a restored copy', async () => {
    const [folder, restored] = [await store(), folderOf()]
    await runJson(['backup', join(restored, 'property-events.db'), '--data', folder])
    writeFileSync(join(restored, 'pepper'), 'ab'.repeat(32), { mode: 0o600 })
    await diagnosed('a restored copy', ['--data', restored], ['epoch'])
  })

  it('an erasure that waits to be overwritten for longer than a week (D17)', async () => {
    const folder = await store()
    const url = server.url()
    const { clock } = testClock(new Date(Date.now() - 8.5 * 86_400_000).toISOString())
    for (const place of [
      { kind: 'sqlite', folder } as const,
      { kind: 'postgres', url, readConnections: 1 } as const,
    ]) {
      await using opened = await openStorage({ ...place, create: false, clock })
      const tenant = { tenantId: tenantA, name: 'Elm', createdMs: 0, suspended: false }
      await opened.tenants.createTenant(tenant, 'cli:test')
      await publish(opened, [draft({ subject: 'p' })])
      await erase(opened, subject('p'))
    }
    await diagnosed('an erasure that waits to be overwritten', ['--data', folder], ['erasures'])
    await diagnosed('the same in a database', [...place, url], ['erasures'])
    await runJson(['compact', '--database', url])
    const { stdout } = await run(['doctor', '--json', '--port', '0', ...place, url])
    assert.doesNotMatch(stdout, /"erasures"/)
  })

  it('a proxy that nodes were not told of', async () => {
    const folder = await store()
    const told = { nodeId: randomUUID(), place: 'here, process 1', pepperIds: [], ignoresProxy: true }
    const opened = await openStorage({ kind: 'sqlite', folder, create: false })
    await opened.nodes.announce(told)
    await opened.close()
    await diagnosed('a proxy that nodes were not told of', ['--data', folder], ['proxy'])
    const url = server.url()
    const database = await openStorage({ kind: 'postgres', url, create: false })
    await database.nodes.announce(told)
    await diagnosed('a proxy that nodes of a database were not told of', [...place, url], ['proxy'])
    await database.nodes.retire(told.nodeId)
    await database.close()
  })

  it('holds that have expired', async () => {
    const folder = await store()
    const url = server.url()
    const hold = {
      kind: 'hold' as const,
      holdId: randomUUID(),
      subjectId: randomUUID(),
      ground: 'complaint' as const,
      caseRef: undefined,
      actor: 'cli:test',
      addedMs: 0,
      untilMs: 1,
      reportedMs: undefined,
      endedMs: undefined,
      endedBy: undefined,
    }
    for (const [name, where, opening] of [
      ['a hold that has expired', ['--data', folder], { kind: 'sqlite', folder }],
      ['a hold in a database that has expired', [...place, url], { kind: 'postgres', url }],
    ] as const) {
      const opened = await openStorage({ ...opening, create: false })
      const [tenant] = await opened.tenants.tenants()
      const tenantId = tenant?.tenantId ?? randomUUID()
      const made = { tenantId, name: 'Agency', createdMs: 0, suspended: false }
      await opened.tenants.createTenant(made, 'cli:test', { sameName: 'allowed' })
      const record = { ...hold, key: { tenantId, feed: 'contact' as const } }
      await opened.importRecords([record], 'cli:test')
      await diagnosed(name, where, ['holds'])
      await opened.holds.end(tenantId, hold.holdId, 'cli:test')
      await opened.close()
    }
  })

  it('ports that other programs have, the one of metrics too', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as AddressInfo
    const folder = await store()
    const here = ['--data', folder]
    await diagnosed('the port is taken', [...here, '--port', String(port), '--metrics-port', '0'], ['port'])
    await diagnosed(
      'the metrics port is taken',
      [...here, '--port', '0', '--metrics-port', String(port)],
      ['metrics port'],
    )
    taken.close()
    await diagnosed(
      'one port for both',
      [...here, '--port', String(port), '--metrics-port', String(port)],
      ['metrics port'],
    )
  })

  it('no port taken by the service itself, and says where it listens, whatever ports it is asked about', async () => {
    const folder = await store()
    const served = await start(['serve', '--data', folder])
    const { url, metricsUrl } = served.line
    const checked = async (...flags: readonly string[]): Promise<readonly (string | undefined)[]> => {
      const { stdout } = await run(['doctor', '--json', '--data', folder, ...flags])
      const findings = JSON.parse(stdout) as readonly Finding[]
      const ports = findings.filter(({ check }) => check.endsWith('port'))
      assert.deepEqual(
        ports.map(({ check, status }) => `${check} ${status}`),
        ['port ok', 'metrics port ok'],
      )
      return ports.map(({ detail }) => /(?:listens|are) at (\S+)$/.exec(detail)?.[1])
    }
    assert.deepEqual(await checked(), [url, metricsUrl])
    assert.deepEqual(await checked('--port', new URL(url).port), [url, metricsUrl])
    await served.stop('SIGKILL')
    assert.deepEqual(await checked('--port', '0', '--metrics-port', '0'), [undefined, undefined])
  })

  it('a database that is not there, and one that nobody answers for', async () => {
    await diagnosed('no such database', [...place, server.url('nowhere')], ['database'])
    await diagnosed('nobody answers', [...place, 'postgres://me:hunter2@127.0.0.1:1/none'], ['database'])
    assert.doesNotMatch(said.join(''), /hunter2/)
  })

  it('a standby in place of its primary', async () => {
    await using standby = await startStandby(server)
    await diagnosed('a standby in place of its primary', [...place, standby.url()], ['primary'])
  })

  it('a pooler that shares sessions', async () => {
    await using pooler = await startTransactionPooler(server.socketFile)
    await diagnosed('a pooler that shares sessions', [...place, pooler.url()], ['sessions', 'messages'])
  })

  it('a role that lacks rights, and one that may not bring the schema up to date', async () => {
    await withClient(server.url(), (client) => client.query('CREATE ROLE node LOGIN'))
    const url = server.url().replace('postgres@', 'node@')
    await diagnosed('a role that lacks rights', [...place, url], ['role'])
    await withClient(server.url(), (client) =>
      client.query(`GRANT USAGE ON SCHEMA public TO node;
        GRANT ALL ON ALL TABLES IN SCHEMA public TO node; GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO node;
        UPDATE store SET schema_version = schema_version - 1`),
    )
    try {
      await diagnosed('a role that may not bring the schema up to date', [...place, url], ['schema'])
    } finally {
      await withClient(server.url(), (client) =>
        client.query('UPDATE store SET schema_version = schema_version + 1'),
      )
    }
  })

  it('a role that may not make a store', async () => {
    await withClient(server.url(), (client) =>
      client.query('CREATE SCHEMA empty; GRANT USAGE ON SCHEMA empty TO node'),
    )
    const url = `${server.url().replace('postgres@', 'node@')}?options=-c%20search_path%3Dempty`
    await diagnosed('a role that may not make a store', [...place, url], ['store'])
  })

  it('settings under which a power cut or a disk destroys what was published', async () => {
    await using careless = await launchPostgres({
      initdb: ['--no-data-checksums'],
      settings: { fsync: 'off' },
    })
    const made = await openStorage({
      kind: 'postgres',
      url: careless.url(),
      create: true,
      catalogue: catalogues.default,
    })
    await made.close()
    await diagnosed('careless settings', [...place, careless.url()], ['durability', 'checksums'])
  })

  it('all of it in the same words as before: read the difference, then rewrite the file with UPDATE=1', () => {
    const text = said.join('\n')
    if (process.env['UPDATE'] === '1') writeFileSync(snapshotFile, text)
    assert.equal(text, readFileSync(snapshotFile, 'utf8'))
  })
})
