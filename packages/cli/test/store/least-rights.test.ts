/** The roles of deploy/postgres on a real server: the one that nodes work with can do all that they do, and nothing beyond. */
import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { giveToServer, launchPostgres } from '../../../server/test/postgres/launch-postgres.ts'
import type { LaunchedPostgres } from '../../../server/test/postgres/launch-postgres.ts'
import { nodeRights } from '../../../server/src/store/postgres/node-rights.ts'
import { withClient } from '../../../server/test/postgres/support/standby.ts'
import { freePorts } from '../../../server/test/support/free-ports.ts'
import { signCertificate } from '../support/certificate.ts'
import { root } from '../support/documents.ts'
import { listEvents, removeFolder, run, runJson, start, temporaryFolder } from '../support/program.ts'

const folder = temporaryFolder()
const passwords = { owner: randomUUID(), node: randomUUID() }
const deployed = (name: string) => readFileSync(join(root, 'deploy/postgres', name), 'utf8')

/** What psql would send: its few commands are taken here, since it is not on every machine. */
async function asPsql(url: (database?: string) => string, text: string): Promise<void> {
  const [first = '', second = ''] = text.split('\\connect property_events')
  const statements = first
    .replaceAll(/^\\.*$/gm, '')
    .replaceAll(":'owner_password'", `'${passwords.owner}'`)
    .replaceAll(":'node_password'", `'${passwords.node}'`)
    .replaceAll(/^--.*$/gm, '')
    .split(';')
  await withClient(url(), async (client) => {
    for (const statement of statements) if (statement.trim() !== '') await client.query(statement)
  })
  if (second !== '') await withClient(url('property_events'), (client) => client.query(second))
}

describe('roles with the least rights', () => {
  let server: LaunchedPostgres
  let port = 0
  const addressOf = (role: 'owner' | 'node', more = '') =>
    `postgres://property_events_${role}:${passwords[role]}@localhost:${port}/property_events${more}`
  before(async () => {
    ;[port = 0] = await freePorts(1)
    server = await launchPostgres({
      initdb: ['--auth-host=scram-sha-256'],
      settings: { listen_addresses: 'localhost', port: String(port) },
    })
    const url = (database?: string) => `${server.url(database)}?port=${port}`
    await asPsql(url, deployed('roles.sql'))
    const made = await runJson(['migrate', '--database', addressOf('owner')])
    assert.deepEqual(made, { created: true })
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
    removeFolder(folder)
  })

  const doctorOf = async (address: string) => {
    const { stdout } = await run(['doctor', '--json', '--port', '0', '--data', folder, '--database', address])
    const findings: { check: string; status: string; detail: string; remedy?: string }[] = JSON.parse(stdout)
    return findings.find(({ check }) => check === 'role')
  }

  it('doctor names the right that is missing, and its remedy is enough', async () => {
    assert.equal((await doctorOf(addressOf('node')))?.status, 'ok', 'as roles.sql leaves it')
    await withClient(addressOf('owner'), (client) =>
      client.query(`REVOKE DELETE ON ALL TABLES IN SCHEMA public FROM property_events_node;
        REVOKE INSERT ON event FROM property_events_node`),
    )
    const lacking = await doctorOf(addressOf('node'))
    assert.equal(lacking?.status, 'fail')
    const [, remedy = ''] = /^As property_events_owner: (.*)$/.exec(lacking.remedy ?? '') ?? []
    await withClient(addressOf('owner'), (client) => client.query(remedy))
    assert.equal((await doctorOf(addressOf('node')))?.status, 'ok')
  })

  it('nodes and commands work with theirs: serving, keys, the pepper, maintenance, a new epoch', async () => {
    const environment = {
      PROPERTY_EVENTS_DATABASE: addressOf('node'),
      PROPERTY_EVENTS_KEY_PEPPER: 'the same on every node',
    }
    const node = await start(['serve', '--data', join(folder, 'node')], { environment })
    after(() => node.child.kill('SIGKILL'))
    const again = await runJson(['migrate'], { environment })
    assert.deepEqual(again, { created: false })
    await runJson(['tenants', 'create', 'Hill & Co'], { environment })
    const keyFor = async (scope: string) => {
      const args = ['keys', 'create', '--tenant', 'Hill & Co', '--scope', scope]
      return (await runJson<{ key: string }>(args, { environment })).key
    }
    const [readKey, publishKey] = [await keyFor('read'), await keyFor('publish')]
    const publish = async () => {
      const answer = await fetch(`${node.line.url}/v1/property-events?unchanged=skip`, {
        method: 'POST',
        headers: { 'x-api-key': publishKey, 'content-type': 'application/json' },
        body: JSON.stringify([{ payload: { agent_ref: randomUUID(), published: true } }]),
      })
      assert.equal(answer.status, 201, await answer.text())
    }
    await publish()
    assert.equal((await listEvents(node.line.url, readKey, 'from=2020-01-01')).body.availableCount, 1)
    for (const args of [
      ['maintenance', 'on'],
      ['maintenance', 'off'],
      ['pepper', 'finish'],
      ['epoch', 'start', '--continue-after', '50'],
      ['tenants', 'suspend', 'Hill & Co'],
      ['tenants', 'resume', 'Hill & Co'],
    ]) {
      const { code, stderr } = await run(args, { environment })
      assert.equal(code, 0, `${args.join(' ')}: ${stderr}`)
    }
    const { code, stderr } = await node.stop()
    assert.equal(code, 0, stderr)
    assert.doesNotMatch(stderr, /permission denied/)
  })

  it('are on each table exactly those that a node needs', async () => {
    const { rows } = await withClient(addressOf('owner'), (client) =>
      client.query<{ name: string; rights: string }>(`
        SELECT relname AS name, string_agg(privilege_type, ', ' ORDER BY privilege_type) AS rights
        FROM pg_class, aclexplode(relacl) WHERE grantee = 'property_events_node'::regrole GROUP BY relname`),
    )
    const given = Object.fromEntries(rows.map(({ name, rights }) => [name, rights]))
    const needed = Object.entries(nodeRights).map(([name, rights]) => [name, rights.toSorted().join(', ')])
    assert.deepEqual(given, Object.fromEntries(needed))
  })

  it('the owner compacts the store, and the role of nodes is refused and referred to the owner (D17)', async () => {
    const as = (role: 'node' | 'owner') => ({ environment: { PROPERTY_EVENTS_DATABASE: addressOf(role) } })
    const refused = await run(['compact', '--always'], as('node'))
    assert.equal(refused.code, 1)
    assert.match(
      refused.stderr,
      /may not rewrite tables of property_events_owner\. Run the command with the address/,
    )
    const done = await runJson<{ compacted: boolean }>(['compact', '--always'], as('owner'))
    assert.equal(done.compacted, true)
  })

  it('the role of nodes can neither change the schema, nor delete an event, nor make another role', async () => {
    for (const statement of [
      'DELETE FROM event',
      'TRUNCATE event',
      'DROP TABLE event',
      'ALTER TABLE event ADD COLUMN more text',
      'CREATE TABLE more (a int)',
      'CREATE TEMP TABLE more (a int)',
      'CREATE SCHEMA more',
      'DROP FUNCTION now_ticks()',
      'CREATE ROLE more',
      'CREATE DATABASE more',
      'DELETE FROM tenant',
      'DELETE FROM key',
      'DELETE FROM audit',
      'UPDATE audit SET actor = actor',
      'SET ROLE property_events_owner',
      `COPY event TO PROGRAM 'cat'`,
    ]) {
      const outcome = await withClient(addressOf('node'), (client) =>
        client.query(statement).then(
          () => 'done',
          (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : 'other'),
        ),
      )
      assert.equal(outcome, '42501', statement)
    }
  })

  it('both speak TLS to a server that has it, and refuse one whose certificate is another’s', async () => {
    const { certificate } = signCertificate(folder, 'localhost')
    const held = join(server.dataFolder, 'tls')
    mkdirSync(held, { mode: 0o700 })
    for (const name of ['fullchain.pem', 'privkey.pem']) copyFileSync(join(folder, name), join(held, name))
    await server.halt('fast')
    await giveToServer(held)
    const tls = { ssl: 'on', ssl_cert_file: 'tls/fullchain.pem', ssl_key_file: 'tls/privkey.pem' }
    await server.start(tls)
    const verified = `?sslmode=verify-full&sslrootcert=${encodeURIComponent(certificate)}`
    assert.deepEqual(await runJson(['migrate', '--database', addressOf('owner', verified)]), {
      created: false,
    })
    const { rows } = await withClient(addressOf('node', verified), (client) =>
      client.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'),
    )
    assert.deepEqual(rows, [{ ssl: true }])
    const unknown = await run(['tenants', 'list', '--database', addressOf('node', '?sslmode=verify-full')])
    assert.equal(unknown.code, 1)
    const otherName = addressOf('node', verified).replace('@localhost', '@127.0.0.1')
    const refused = await run(['tenants', 'list', '--database', otherName])
    assert.equal(refused.code, 1, refused.stdout)
  })
})
