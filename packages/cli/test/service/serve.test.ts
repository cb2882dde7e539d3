import assert from 'node:assert/strict'
import {
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { makeTenant } from '../support/make-tenant.ts'
import {
  listEvents,
  removeFolder,
  runAlone as run,
  runJson,
  runPrinted,
  start,
  startUntil,
  temporaryFolder,
} from '../support/program.ts'
import type { ServiceLine } from '../support/program.ts'

const root = temporaryFolder()
after(() => removeFolder(root))

/** One sentence or two, no stack. */
function assertSentence(stderr: string, expected: RegExp): void {
  assert.match(stderr, expected)
  assert.equal(stderr.trimEnd().split('\n').length, 1, stderr)
  assert(!/\bat .*:\d+/.test(stderr) && !stderr.includes('Error:'), stderr)
}

describe('serve', () => {
  it('prints its address in one line of JSON, and makes no key that nobody asked for (D11)', async () => {
    const data = ['--data', join(root, 'first')]
    const first = await start(['serve', ...data, '--base-path', '/feeds/'])
    const { url, metricsUrl, ...rest } = first.line
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/feeds$/)
    assert.match(metricsUrl, /^http:\/\/127\.0\.0\.1:\d+\/metrics$/)
    assert.deepEqual(rest, {})
    assert.deepEqual(await runJson(['keys', 'list', ...data]), [])
    assert.equal((await fetch(metricsUrl)).status, 200)
    assert.equal((await fetch(`${url}/openapi.json`)).status, 200)
    const stopped = await first.stop()
    assert.equal(stopped.code, 0, stopped.stderr)
    assert.equal(stopped.stdout.split('\n').length, 2, 'nothing but the line on stdout')

    const second = await start(['serve', ...data])
    assert.equal((await second.stop('SIGINT')).code, 0)
  })

  it('lets as many requests wait for events as it is told: of a key, and on a node (PROTOCOL §8, L3)', async () => {
    const data = join(root, 'waiting')
    const flags = ['--waiting-requests', '1']
    const environment = { PROPERTY_EVENTS_WAITING_REQUESTS_PER_NODE: '2' }
    const running = await start(['serve', '--data', data, ...flags], { environment })
    const { keys } = await makeTenant({ data }, 'Tŷ Gwyn – £', { a: ['read'], b: ['read'], c: ['read'] })
    const leaving = new AbortController()
    const open = async ({ key }: { readonly key: string }): Promise<number> => {
      const target = `${running.line.url}/v1/property-events/stream?after=head`
      const { status } = await fetch(target, { headers: { 'x-api-key': key }, signal: leaving.signal })
      return status
    }
    assert.deepEqual([await open(keys.a), await open(keys.a)], [200, 429])
    assert.deepEqual([await open(keys.b), await open(keys.c)], [200, 429])
    leaving.abort()
    assert.equal((await running.stop()).code, 0)
  })

  it('shows a person a summary with what to do next', async () => {
    const data = join(root, "a person's")
    const running = await startUntil(['serve', '--data', data], /website.*\n$/)
    assert.match(running.text, /│ Property Events {2}http:\/\/127\.0\.0\.1:\d+/)
    const url = /http:\S+/.exec(running.text)?.[0] ?? ''
    const lines = running.text.split('\n').filter((line) => line.includes(' create '))
    assert.equal(lines.length, 3)
    const printed = []
    for (const line of lines) {
      const { code, stdout, stderr } = await runPrinted(line, { cwd: root })
      assert.equal(code, 0, stderr)
      printed.push(stdout.trim())
    }
    assert.equal((await listEvents(url, printed[2] ?? '')).status, 200)
    assert.equal((await running.stop('SIGINT')).code, 0)

    const again = await startUntil(['serve', '--data', data], /┘\n/)
    const { stdout } = await again.stop()
    assert(!stdout.includes(' create '), 'there is a tenant')
  })

  it('says that a restored store can be read, and what publishing waits for (D13)', async () => {
    const data = ['--data', join(root, 'restored')]
    await (await start(['serve', '--data', join(root, 'original')])).stop()
    mkdirSync(join(root, 'restored'))
    const copy = join(root, 'restored', 'property-events.db')
    assert.equal((await run(['backup', copy, '--data', join(root, 'original')])).code, 0)
    const running = await startUntil(['serve', ...data], /has received\.\n$/)
    assert.match(running.text, /^│ Publishing {7}waits for `epoch start` +│$/m)
    const readyz = new URL('/readyz', /http:\S+\/metrics/.exec(running.text)?.[0])
    const waiting = await fetch(readyz)
    assert.deepEqual([waiting.status, await waiting.text()], [200, 'read only\n'])
    const line = /^.* epoch start .*$/m.exec(running.text.replace(/^│.*$/gm, ''))?.[0] ?? ''
    const begun = await runPrinted(line.replace(' N', ' 7'), { cwd: root })
    assert.equal(begun.code, 0, begun.stderr)
    const open = await fetch(readyz)
    assert.deepEqual([open.status, await open.text()], [200, 'ok\n'])
    assert.equal((await running.stop()).code, 0)

    await run(['backup', join(root, 'again.db'), ...data])
    mkdirSync(join(root, 'again'))
    renameSync(join(root, 'again.db'), join(root, 'again', 'property-events.db'))
    const machine = await start(['serve', '--data', join(root, 'again')])
    assert.equal((machine.line as ServiceLine & { publishing?: string }).publishing, 'epoch_required')
    assert.equal((await machine.stop()).code, 0)
  })

  it('refuses a folder that is being served, with a sentence', async () => {
    const data = ['--data', join(root, 'twice')]
    const running = await start(['serve', ...data])
    const { code, stdout, stderr } = await run(['serve', ...data, '--port', '0'])
    assert.equal(code, 1)
    assert.equal(stdout, '')
    assertSentence(stderr, /Another process is serving the data folder .* Stop it first/)
    assert.equal((await running.stop()).code, 0)
    const again = await start(['serve', ...data])
    assert.equal((await again.stop()).code, 0)
  })

  it('refuses a taken port, with a sentence that names it, and releases the folder', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const data = ['--data', join(root, 'port')]
    const taken = await run(['serve', ...data, '--port', String(port), '--metrics-port', '0'])
    assert.equal(taken.code, 1)
    assertSentence(taken.stderr, new RegExp(`Port ${port} is taken\\. Stop .* --port`))
    const metrics = await run(['serve', ...data, '--port', '0', '--metrics-port', String(port)])
    assert.equal(metrics.code, 1)
    assertSentence(metrics.stderr, new RegExp(`Port ${port} for metrics is taken\\. .* --metrics-port`))
    server.close()
    const running = await start(['serve', ...data])
    assert.equal((await running.stop()).code, 0)
  })

  it('refuses a folder it cannot make, with a sentence', async () => {
    const file = join(root, 'a-file')
    writeFileSync(file, '')
    const { code, stderr } = await run(['serve', '--data', join(file, 'store'), '--port', '0'])
    assert.equal(code, 1)
    assertSentence(stderr, /a-file.* Choose another path/)
  })

  it('refuses a store of a newer program, one with other event types, and a file that is not a store (D12)', async () => {
    const folder = join(root, 'refused')
    const data = ['--data', folder, '--port', '0']
    await (await start(['serve', '--data', folder])).stop()
    const other = await run(['serve', ...data, '--catalogue', 'published-0'])
    assert.equal(other.code, 1)
    assertSentence(other.stderr, /created with other event types/)
    const started = await run(['serve', ...data, '--start-sequence', '500'])
    assert.equal(started.code, 1)
    assertSentence(started.stderr, /start sequence 0, and 500 is asked for/)

    const db = new DatabaseSync(join(folder, 'property-events.db'))
    db.exec('PRAGMA user_version = 999')
    db.close()
    const newer = await run(['serve', ...data])
    assert.equal(newer.code, 1)
    assertSentence(newer.stderr, /has schema 999.* Start the newer program/)

    const foreign = join(root, 'foreign')
    mkdirSync(foreign)
    writeFileSync(
      join(foreign, 'property-events.db'),
      'this is somebody’s shopping list, and it is long enough to be read',
    )
    const { code, stderr } = await run(['serve', '--data', foreign, '--port', '0'])
    assert.equal(code, 1)
    assertSentence(stderr, /no Property Events store/)
  })

  it('refuses a pepper file that is damaged, with a sentence (D11)', async () => {
    const folder = join(root, 'pepper')
    await (await start(['serve', '--data', folder])).stop()
    assert.equal(statSync(join(folder, 'pepper')).mode & 0o777, 0o600)
    writeFileSync(join(folder, 'pepper'), 'damaged')
    const { code, stderr } = await run(['serve', '--data', folder, '--port', '0'])
    assert.equal(code, 1)
    assertSentence(stderr, /does not hold a pepper/)
  })

  it('keeps the start sequence and the event types a store was created with (D12, D13)', async () => {
    const folder = join(root, 'kept')
    await (
      await start(['serve', '--data', folder, '--catalogue', 'published-0', '--start-sequence', '500'])
    ).stop()
    const again = await start(['serve', '--data', folder])
    assert.equal((await again.stop()).code, 0)
  })

  it('has after the next start what was acknowledged while it stopped (P7)', async () => {
    const data = ['--data', join(root, 'drain')]
    const running = await start(['serve', ...data])
    const { keys } = await makeTenant({ data: join(root, 'drain') }, 'Hill & Co', {
      publisher: ['publish'],
      reader: ['read'],
    })
    const { publisher, reader } = keys
    const acknowledged: string[] = []
    const warm = Promise.withResolvers<void>()
    let number = 0
    const publish = async () => {
      const id = `7d1c3a54-5c1e-4c4f-8e0b-${String((number += 1)).padStart(12, '0')}`
      const answer = await fetch(`${running.line.url}/v1/property-events`, {
        method: 'POST',
        headers: { 'x-api-key': publisher.key, 'content-type': 'application/json' },
        body: JSON.stringify({ id, payload: { agent_ref: id, published: true } }),
      })
      if (answer.status === 201) acknowledged.push(id)
      if (acknowledged.length === 20) warm.resolve()
    }
    const publishUntilRefused = async () => {
      for (let turn = 0; turn < 100; turn += 1) await publish()
    }
    const publishers = Promise.allSettled(Array.from({ length: 5 }, publishUntilRefused))
    await warm.promise
    const stopped = await running.stop()
    assert.equal(stopped.code, 0, stopped.stderr)
    await publishers
    assert(acknowledged.length >= 20)

    const again = await start(['serve', ...data])
    const page = await listEvents(again.line.url, reader.key, 'pageSize=1000')
    const stored = new Set(page.body.items.map((event) => event['id']))
    assert.deepEqual(
      acknowledged.filter((id) => !stored.has(id)),
      [],
    )
    assert.equal((await again.stop()).code, 0)
  })

  it('a second signal ends it at once', async () => {
    const data = ['--data', join(root, 'signals')]
    const running = await start(['serve', ...data])
    await runJson(['tenants', 'create', 'Hill & Co', ...data])
    const { key } = await runJson<{ key: string }>([
      'keys',
      'create',
      '--tenant',
      'Hill & Co',
      '--scope',
      'publish',
      ...data,
    ])
    // A request whose body does not come keeps the first signal waiting.
    const socket = connect(Number(new URL(running.line.url).port), '127.0.0.1')
    socket.on('error', () => undefined)
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.write(
      `POST /v1/property-events HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\nExpect: 100-continue\r\n` +
        'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n',
    )
    const answered = await new Promise<string>((resolve) =>
      socket.once('data', (text) => resolve(text.toString())),
    )
    assert.match(answered, /^HTTP\/1\.1 100/)
    socket.write('{')
    running.child.kill('SIGTERM')
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.equal(running.child.exitCode, null, 'it waits for the request')
    const { code } = await running.stop('SIGTERM')
    assert.equal(code, 143)
    socket.destroy()
  })
})

function keptLine(folder: string): ServiceLine {
  return JSON.parse(readFileSync(join(folder, 'demo-keys.json'), 'utf8')) as ServiceLine
}

/** The link of a demo signs in to its console, which shows the pictures of the market. */
async function checkConsole({ url, console: link = '' }: ServiceLine): Promise<void> {
  const { origin } = new URL(url)
  assert.ok(link.startsWith(`${origin}/console/#login=`), link)
  const answer = await fetch(`${origin}/console/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify({ login: new URL(link).hash.replace('#login=', '') }),
  })
  assert.equal(answer.status, 201)
  const session = (await answer.json()) as { images: unknown; key: { label: string } }
  assert.deepEqual(session.images, { own: true, hosts: [] })
  assert.equal(session.key.label, 'demo operator')
}

describe('demo', () => {
  const folder = join(root, 'demo')
  let first: ServiceLine
  before(async () => {
    const running = await start(['demo', '--no-live', '--data', folder])
    first = running.line
    await check(first)
    const { code, stderr } = await running.stop()
    assert.equal(code, 0, stderr)
  })

  async function check(line: ServiceLine): Promise<void> {
    assert((line.tenants ?? []).length >= 2)
    for (const tenant of line.tenants ?? []) {
      assert.deepEqual(Object.keys(tenant), ['tenantId', 'name', 'readKey', 'publishKey'])
      const contacts = '/api/func/api/v1/contactevents/getevents'
      const all = await listEvents(line.url, tenant.readKey, 'pageSize=1')
      const sales = await listEvents(line.url, tenant.readKey, 'pageSize=1&apiEventType=salesproperty')
      const people = await listEvents(line.url, tenant.readKey, 'pageSize=1', contacts)
      assert(all.body.availableCount >= 1000)
      assert(sales.body.availableCount > 0 && sales.body.availableCount < all.body.availableCount)
      assert(people.body.availableCount >= 50)
      assert.equal(all.body.items[0]?.['tenantId'], tenant.tenantId)
      const publishing = await fetch(`${line.url}/v1/property-events`, {
        method: 'POST',
        headers: { 'x-api-key': tenant.publishKey, 'content-type': 'application/json' },
        body: '[]',
      })
      assert.equal(publishing.status, 400, 'the key may publish, the body is empty')
    }
  }

  it('keeps its keys, for its owner only, and its market: the second start prints the same and loads nothing', async () => {
    const file = join(folder, 'demo-keys.json')
    assert.equal(statSync(file).mode & 0o777, 0o600)
    const running = await start(['demo', '--no-live', '--data', folder])
    const ofOneStart = { url: '', metricsUrl: '', console: '' }
    assert.deepEqual({ ...running.line, ...ofOneStart }, { ...first, ...ofOneStart })
    await checkConsole(running.line)
    const [tenant] = running.line.tenants ?? []
    const before = await listEvents(running.line.url, tenant?.readKey ?? '', 'pageSize=1')
    assert.equal((await running.stop()).code, 0)

    unlinkSync(file)
    const without = await start(['demo', '--no-live', '--data', folder])
    assert.notDeepEqual(
      without.line.tenants,
      first.tenants,
      'keys cannot be read back, so there are new ones',
    )
    await check(without.line)
    const [again] = without.line.tenants ?? []
    const now = await listEvents(without.line.url, again?.readKey ?? '', 'pageSize=1')
    assert.deepEqual(now.body, before.body)
    assert.equal((await without.stop()).code, 0)
  })

  it('replaces a key that has stopped working', async () => {
    const kept: ServiceLine = JSON.parse(readFileSync(join(folder, 'demo-keys.json'), 'utf8')) as ServiceLine
    await runJson(['keys', 'revoke', kept.tenants?.[0]?.readKey ?? '', '--data', folder])
    const running = await start(['demo', '--no-live', '--data', folder])
    assert.notEqual(running.line.tenants?.[0]?.readKey, kept.tenants?.[0]?.readKey)
    assert.equal(running.line.tenants?.[0]?.publishKey, kept.tenants?.[0]?.publishKey)
    await check(running.line)
    assert.equal((await running.stop()).code, 0)
  })

  it('has a market that reaches up to its first start and never beyond it (D25)', async () => {
    const running = await start(['demo', '--no-live', '--data', folder])
    const [tenant] = running.line.tenants ?? []
    const total = async (query: string): Promise<number> =>
      (await listEvents(running.line.url, tenant?.readKey ?? '', `pageSize=1&${query}`)).body.availableCount
    const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
    assert((await total(`from=${day(7)}`)) >= 10, 'the last week has changes')
    assert.equal(await total(`from=${day(-1)}`), 0)
    assert((await total(`to=${day(365)}`)) >= 500, 'there are years of history')
    assert.equal((await running.stop()).code, 0)
  })

  it('shows a person lines for a shell, after which a curl and the same from `env` work', async () => {
    const running = await startUntil(['demo', '--no-live', '--data', folder], /^eval .*\n$/m)
    const [variables = ''] = /^export PROPERTY_EVENTS_URL=.*$/m.exec(running.text) ?? []
    const [curl = ''] = /^curl .*$/m.exec(running.text) ?? []
    const [again = ''] = /^eval .*$/m.exec(running.text) ?? []
    const request = curl.replace(/^curl/, 'printf "%s\\n"')
    const asked = await runPrinted(`${variables}\n${request}`, { cwd: root })
    const [, header = '', url = ''] = asked.stdout.split('\n')
    const answer = await fetch(url, { headers: { 'x-api-key': header.replace('x-api-key: ', '') } })
    assert.equal(answer.status, 200)
    const show = 'echo "$PROPERTY_EVENTS_URL $PROPERTY_EVENTS_KEY $PROPERTY_EVENTS_PUBLISH_KEY $TENANT $DATA"'
    const [printed, fromEnv] = await Promise.all([
      runPrinted(`${variables}\n${show}`, { cwd: root }),
      runPrinted(`${again}\n${show}`, { cwd: root }),
    ])
    assert.equal(fromEnv.stderr, '')
    assert.equal(fromEnv.stdout, printed.stdout)
    assert.match(printed.stdout, /^http:\S+ pev_\w+ pev_\w+ [0-9a-f-]{36} \S+\n$/)
    const other = await runJson<Record<string, string>>([
      'env',
      '--data',
      folder,
      '--tenant',
      'Garthwick Moor',
    ])
    assert.equal(other['readKey'], keptLine(folder).tenants?.[2]?.readKey)
    const nobody = await run(['env', '--data', folder, '--tenant', 'Nobody'])
    assertSentence(nobody.stderr, /no agency "Nobody"; it has Hartsease/)
    assert.equal((await running.stop()).code, 0)
  })

  it('`env` says how to start a demo if none runs, prints nothing, and accepts no other service as one', async () => {
    for (const [data, words] of [
      [join(root, 'no-demo'), /No demo has been started with the data folder .*demo --data/],
      [folder, /http.*, the demo of this folder, does not answer.*demo --data/],
    ] as const) {
      const { code, stdout, stderr } = await run(['env', '--data', data])
      assert.deepEqual([code, stdout], [1, ''])
      assertSentence(stderr, words)
    }
    const other = await start(['serve', '--data', join(root, 'other')])
    const file = join(folder, 'demo-keys.json')
    const kept = keptLine(folder)
    writeFileSync(file, JSON.stringify({ ...kept, url: other.line.url }))
    const mistaken = await run(['env', '--data', folder])
    assertSentence(mistaken.stderr, /is not the demo of this folder/)
    writeFileSync(file, '{"url": 7}')
    assertSentence((await run(['env', '--data', folder])).stderr, /No demo has been started/)
    writeFileSync(file, JSON.stringify(kept))
    assert.equal((await other.stop()).code, 0)
  })

  it('draws its photographs itself, and says where they are if it listens elsewhere', async () => {
    const running = await startUntil(['demo', '--no-live', '--data', folder], /^eval .*\n$/m)
    const url = /http:\S+/.exec(running.text)?.[0] ?? ''
    const [tenant] = keptLine(folder).tenants ?? []
    const { body } = await listEvents(url, tenant?.readKey ?? '', 'pageSize=1')
    const [address = ''] =
      /http:[^"\\]+\/pictures\/[^"\\]+\.webp/.exec(String(body.items[0]?.['payload'])) ?? []
    assert.notEqual(new URL(address).origin, url, 'the first start was on another port')
    const picture = await fetch(url + new URL(address).pathname, { headers: { connection: 'close' } })
    assert.deepEqual([picture.status, picture.headers.get('content-type')], [200, 'image/webp'])
    await picture.bytes()
    const { code, stderr } = await running.stop()
    assert.equal(code, 0)
    assert.match(stderr, new RegExp(`photographs of this market are at ${new URL(address).origin}`))
  })

  it('does not mingle with a store that holds tenants of its own', async () => {
    const own = join(root, 'own')
    await (await start(['serve', '--data', own])).stop()
    await runJson(['tenants', 'create', 'Hill & Co', '--data', own])
    const { code, stderr } = await run(['demo', '--no-live', '--data', own, '--port', '0'])
    assert.equal(code, 1)
    assertSentence(stderr, /holds other tenants/)
    assert(!readdirSync(own).includes('demo-keys.json'))
  })
})
