/** The PHP that receives webhooks: what a foreign library signs is taken, everything else refused; and a website's tables are right behind it. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, it } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { createClient } from '@property-events/client'
import { spawnProgram, startMarket } from '../packages/cli/test/support/program.ts'
import { freePorts } from '../packages/server/test/support/free-ports.ts'
import { until } from '../packages/server/test/support/until.ts'
import { withPhp, withPhpAndSqlite } from './php-runner.ts'

const folder = join(import.meta.dirname, 'php')
const secretOf = (fill: number, length = 32) => `whsec_${Buffer.alloc(length, fill).toString('base64')}`
const secret = secretOf(7)
const id = 'msg_0192f0d0_42'
const body = JSON.stringify({ type: 'property.event', data: { caption: 'Tŷ â gardd – £450,000 🏡' } })

interface Case {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  readonly secrets: string | readonly string[]
}

function signed(text = body, key = secret, at = new Date()): Case {
  const headers = {
    'webhook-id': id,
    'Webhook-Timestamp': String(Math.floor(at.getTime() / 1_000)),
    'WEBHOOK-SIGNATURE': new Webhook(key).sign(id, at, text),
  }
  return { body: text, headers, secrets: key }
}

/** What `PropertyWebhook::verify` makes of each: the message, or the class of what it throws. */
function verified(cases: readonly Case[]): readonly unknown[] {
  const code = `require ${JSON.stringify(join(folder, 'PropertyWebhook.php'))};
    while (($line = fgets(STDIN)) !== false) {
      $case = json_decode($line, true);
      try { $answer = PropertyWebhook::verify($case['body'], $case['headers'], $case['secrets']); }
      catch (Exception $error) { $answer = get_class($error); }
      echo json_encode($answer), "\\n";
    }`
  const input = cases.map((one) => `${JSON.stringify(one)}\n`).join('')
  const { stdout, stderr, status } = spawnSync('php', ['-d', 'error_reporting=-1', '-r', code], {
    input,
    encoding: 'utf8',
  })
  assert.equal(status, 0, stdout + stderr)
  return stdout
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line))
}

describe('PropertyWebhook::verify', withPhp, () => {
  it('hands out what a foreign library has signed, 100 of 100, also with two secrets', () => {
    const keys = Array.from({ length: 100 }, (_, index) => secretOf(index, 24 + (index % 40)))
    const cases = keys.map((key, index) => {
      const one = signed(body, key)
      return index % 2 === 0 ? one : { ...one, secrets: [secretOf(200), key] }
    })
    const { type, data } = JSON.parse(body) as { readonly type: string; readonly data: object }
    assert.deepEqual(
      verified(cases),
      cases.map(() => ({ id, type, data })),
    )
  })

  it('refuses everything else', () => {
    const good = signed()
    const { 'WEBHOOK-SIGNATURE': signature = '', ...unsigned } = good.headers
    const withHeaders = (headers: Readonly<Record<string, string>>): Case => ({
      ...good,
      headers: { ...good.headers, ...headers },
    })
    const refused = [
      { ...good, secrets: secretOf(8) },
      { ...good, body: `${body} ` },
      { ...good, headers: unsigned },
      { ...good, headers: {} },
      withHeaders({ 'webhook-id': 'msg_0192f0d0_43' }),
      withHeaders({ 'Webhook-Timestamp': 'now' }),
      withHeaders({ 'Webhook-Timestamp': '1' }),
      withHeaders({ 'WEBHOOK-SIGNATURE': 'v1,' }),
      withHeaders({ 'WEBHOOK-SIGNATURE': signature.replace('v1,', 'v2,') }),
      withHeaders({ 'WEBHOOK-SIGNATURE': `${'v1,Zm9v '.repeat(10)}${signature}` }),
      signed(body, secret, new Date(Date.now() - 360_000)),
      signed(body, secret, new Date(Date.now() + 360_000)),
      signed('[]'),
      signed('{"type":1}'),
      signed('not JSON'),
    ]
    assert.deepEqual(
      verified(refused),
      refused.map(() => 'InvalidWebhookException'),
    )
    const wrongSecrets = ['', 'whsec_', 'whsec_???', 'hush'].map((secrets) => ({ ...good, secrets }))
    assert.deepEqual(
      verified(wrongSecrets),
      wrongSecrets.map(() => 'InvalidArgumentException'),
    )
  })
})

describe('receive-webhook.php', withPhpAndSqlite, () => {
  const place = mkdtempSync(join(tmpdir(), 'property-events-php-webhook-'))
  const ended: (() => void | Promise<void>)[] = [() => rmSync(place, { recursive: true })]
  after(async () => {
    for (const end of ended.toReversed()) await end()
  })

  it('keeps the tables of a website in step, and refuses what nobody has signed', async () => {
    const market = await startMarket()
    ended.push(() => market.close())
    const [port = 0] = await freePorts(1)
    const database = join(place, 'listings.db')
    const server = spawn('php', ['-S', `127.0.0.1:${port}`, join(folder, 'receive-webhook.php')], {
      stdio: 'ignore',
      env: {
        ...process.env,
        WEBHOOK_SECRET: secret,
        PROPERTY_EVENTS_URL: market.url,
        PROPERTY_EVENTS_KEY: market.readKey,
        DATABASE: `sqlite:${database}`,
      },
    })
    ended.push(() => void server.kill('SIGKILL'))
    const url = `http://127.0.0.1:${port}/`
    const statusOf = (headers: Readonly<Record<string, string>>) =>
      fetch(url, { method: 'POST', body, headers }).then(
        ({ status }) => status,
        () => undefined,
      )
    await until(async () => (await statusOf({})) === 400, { what: 'the receiver' })
    const publisher = createClient({ baseUrl: market.url, key: market.publishKey })
    const homes = Array.from({ length: 12 }, (_, index) => ({
      payload: {
        agent_ref: `7d1c3a54-5c1e-4c4f-8e0b-${String(index).padStart(12, '0')}`,
        published: true,
        address: { display_address: `${index} Heol y Môr – £450,000 🏡` },
      },
    }))
    const environment = { PROPERTY_EVENTS_URL: market.url, PROPERTY_EVENTS_KEY: market.readKey }
    const listener = spawnProgram(['listen', '--forward-to', url, '--secret', secret, '--after', '0'], {
      environment,
    })
    ended.push(() => void listener.kill('SIGKILL'))
    listener.stdout?.resume()
    listener.stderr?.resume()
    await publisher.publish(homes)
    const listed = () => {
      // The first message makes the file and its tables.
      if (!existsSync(database)) return []
      const opened = new DatabaseSync(database, { readOnly: true, timeout: 10_000 })
      const isMade = opened.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'listings'`).get() !== undefined
      const rows = isMade
        ? opened.prepare('SELECT display_address FROM listings ORDER BY reference').all()
        : []
      opened.close()
      return rows
    }
    await until(() => listed().length === homes.length, { what: 'all homes' })
    assert.equal(listed()[0]?.['display_address'], '0 Heol y Môr – £450,000 🏡')
    await publisher.publish([
      { remove: { agentRef: homes[0]?.payload.agent_ref ?? '', reason: 'Withdrawn' } },
    ])
    await until(() => listed().length === homes.length - 1, { what: 'the removal' })
    assert.equal(await statusOf({ ...signed().headers, 'webhook-id': 'forged' }), 400)
  })
})
