import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { until } from '../../../server/test/support/until.ts'
import { fileCopy, folderCopy } from '../../src/sync/local-copy.ts'
import { run, runJson, runUntil, startMarket } from '../support/program.ts'
import type { Market } from '../support/program.ts'

interface Summary {
  readonly readBy: string
  readonly events: number
  readonly changes: number
  readonly removals: number
  readonly held: number
}

let market: Market
let environment: Readonly<Record<string, string>>
before(async () => {
  market = await startMarket()
  environment = { PROPERTY_EVENTS_URL: market.url, PROPERTY_EVENTS_KEY: market.readKey }
})
after(() => market.close())

/** What takes too long to be run each time. */
const whenLong = { skip: process.env['PROPERTY_EVENTS_TEST_LONG'] === '1' ? false : 'only in test:long' }

const refOf = (index: number) => `7d1c3a54-5c1e-4c4f-8e0b-${String(index).padStart(12, '0')}`

async function publish(events: readonly object[]): Promise<void> {
  const response = await fetch(`${market.url}/v1/property-events`, {
    method: 'POST',
    headers: { 'x-api-key': market.publishKey, 'content-type': 'application/json' },
    body: JSON.stringify(events),
  })
  assert.equal(response.status, 201, await response.text())
}

const property = (index: number, more: object = {}) => ({
  payload: {
    agent_ref: refOf(index),
    published: true,
    price_information: { price: 100_000 + index },
    ...more,
  },
})

const emptyEvent = {
  tenantId: '10000000-0000-4000-8000-000000000000',
  sequenceNumber: 1,
  eventType: 0,
  eventTypeShortCode: 'PropertyPublished',
  payload: '{}',
  transactionId: '',
  id: '',
  createdDate: '2026-01-01T00:00:00.0000000',
}

describe('sync', () => {
  it('keeps a folder with a file for each property, again and again (spec §1)', async () => {
    await publish(Array.from({ length: 30 }, (_, index) => property(index)))
    const folder = join(market.folder, 'copy')
    const first = await runJson<Summary>(['sync', folder], { environment })
    assert.equal(first.readBy, 'numbers')
    assert.equal(first.held, 30)
    const files = () => readdirSync(folder).filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    assert.equal(files().length, 30)
    const entry = JSON.parse(readFileSync(join(folder, `${refOf(3)}.json`), 'utf8')) as Record<
      string,
      unknown
    >
    assert.equal(entry['subjectId'], refOf(3))
    assert.deepEqual(entry['payload'], property(3).payload)

    await publish([property(3, { status: 2 }), { remove: { agentRef: refOf(4) } }])
    const second = await runJson<Summary>(['sync', folder], { environment })
    assert.deepEqual([second.changes, second.removals, second.held], [2, 1, 29])
    assert.ok(!existsSync(join(folder, `${refOf(4)}.json`)))
    assert.match(readFileSync(join(folder, `${refOf(3)}.json`), 'utf8'), /"status":2/)
    assert.equal((await runJson<Summary>(['sync', folder], { environment })).changes, 0)
  })

  it('refuses a folder with JSON files of others, and leaves it as it was', async () => {
    const folder = join(market.folder, 'project')
    mkdirSync(folder)
    const names = ['package.json', 'settings.json', 'tsconfig.json']
    for (const name of names) writeFileSync(join(folder, name), '{}\n')
    const { code, stdout, stderr } = await run(['sync', folder], { environment })
    assert.deepEqual(readdirSync(folder), names)
    assert.equal(code, 1)
    assert.equal(stdout, '')
    assert.match(
      stderr,
      /project is not a copy that sync has created: it contains package\.json and 2 more .*Name a new .*folder/,
    )
    // A file that is not JSON is in nobody's way.
    const readme = join(market.folder, 'with a readme')
    mkdirSync(readme)
    writeFileSync(join(readme, 'README.md'), 'Copies are kept here.\n')
    await runJson<Summary>(['sync', readme], { environment })
    assert.ok(existsSync(join(readme, 'README.md')))
  })

  it('never counts or touches a file of its folder that is not named by a reference', async () => {
    const folder = join(market.folder, 'shared')
    const { held } = await runJson<Summary>(['sync', folder], { environment })
    const others = ['notes.json', 'x-notes.json', `${refOf(3)}-old.json`]
    for (const name of others) writeFileSync(join(folder, name), '{}\n')
    writeFileSync(join(folder, `${refOf(999)}.json`), '{}\n')
    // Read anew, as after a restore: what the feed does not have goes.
    const checkpoint = join(folder, '.checkpoint')
    const kept = JSON.parse(readFileSync(checkpoint, 'utf8')) as Record<string, unknown>
    writeFileSync(checkpoint, JSON.stringify({ ...kept, reading: { kind: 'start' } }))
    const again = await runJson<Summary>(['sync', folder], { environment })
    for (const name of others) assert.ok(existsSync(join(folder, name)), name)
    assert.ok(!existsSync(join(folder, `${refOf(999)}.json`)))
    assert.equal(again.held, held)
  })

  it('names the file of a reference that is not a UUID by its digest, and finds it again', async () => {
    const folder = join(market.folder, 'of another server')
    const event = emptyEvent
    const subjectIds = ['../flat 7', refOf(1), 'package']
    mkdirSync(folder)
    const copy = folderCopy(folder)
    for (const subjectId of subjectIds) await copy.put({ subjectId, event })
    await copy.flush(true)
    writeFileSync(join(folder, '.checkpoint'), '{}')
    assert.ok(!existsSync(join(folder, 'package.json')))
    const opened = folderCopy(folder)
    assert.equal(await opened.countOf(['package', 'tsconfig']), 1)
    assert.deepEqual((await Array.fromAsync(opened.subjects())).sort(), subjectIds)
    for (const subjectId of subjectIds) await opened.remove(subjectId)
    await opened.flush(true)
    assert.deepEqual(readdirSync(folder), ['.checkpoint'])
  })

  it('keeps a payload as its publisher wrote it, in one line and in UTF-8', async () => {
    const folder = join(market.folder, 'as written')
    const file = join(market.folder, 'as written.ndjson')
    mkdirSync(folder)
    const payloads = [
      '{ "price": 250000.00, "size": 12345678901234567890, "caption": "Tŷ gwyn – £1 🏡 \\ud83c" }',
      '{\r\n  "caption": "over\\nlines"\n}',
      '{"caption":"half \ud83c"}',
    ]
    const expected = [
      payloads[0],
      String.raw`{"caption":"over\nlines"}`,
      String.raw`{"caption":"half \ud83c"}`,
    ]
    const copies = [folderCopy(folder), await fileCopy(file)]
    for (const copy of copies) {
      for (const [index, payload] of payloads.entries()) {
        const subjectId = refOf(index)
        const event = { ...emptyEvent, sequenceNumber: index + 1, payload }
        await copy.put({ subjectId, event })
      }
      await copy.flush(true)
    }
    const texts = payloads.map((_, index) => readFileSync(join(folder, `${refOf(index)}.json`), 'utf8'))
    assert.equal(readFileSync(file, 'utf8'), texts.join(''))
    for (const [index, text] of texts.entries()) {
      assert.ok(text.endsWith(`,"payload":${expected[index]}}\n`), text)
      assert.equal(JSON.parse(text).sequenceNumber, index + 1)
    }
  })

  it('keeps one NDJSON file in the same way', async () => {
    const file = join(market.folder, 'copy.ndjson')
    const first = await runJson<Summary>(['sync', file], { environment })
    const lines = () =>
      readFileSync(file, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { subjectId: string; payload: { status?: number } })
    assert.equal(lines().length, first.held)
    await publish([property(5, { status: 6 }), property(31)])
    const second = await runJson<Summary>(['sync', file], { environment })
    // Status 6 makes it a letting: its removal from sales is an event of its own (D23), superseded at once.
    assert.deepEqual([second.events, second.changes, second.held], [3, 2, first.held + 1])
    assert.equal(lines().find(({ subjectId }) => subjectId === refOf(5))?.payload.status, 6)
  })

  it('opens an NDJSON file of more than 512 MiB, the longest text there is', whenLong, async () => {
    const file = join(market.folder, 'large.ndjson')
    await runJson<Summary>(['sync', file], { environment })
    // A pipe, so that it takes no disk; and one property again and again, so that it takes no memory.
    rmSync(file)
    execFileSync('mkfifo', [file])
    const line = JSON.stringify({ subjectId: refOf(1), payload: 'x'.repeat(99_000) })
    const script = 'yes "$1" | head -n 5500 > "$2"'
    const writer = spawn('/bin/sh', ['-c', script, 'sh', line, file], { stdio: 'ignore' })
    const { code, stdout, stderr } = await run(['sync', file], { environment })
    writer.kill()
    assert.equal(code, 0, stderr)
    assert.equal(stdout, '0 events read; the copy holds 1\n')
  })

  it('stops before it empties a copy, says how to continue, and then continues', async () => {
    const folder = join(market.folder, 'large')
    await publish(Array.from({ length: 60 }, (_, index) => property(100 + index)))
    const { held } = await runJson<Summary>(['sync', folder], { environment })
    await publish(Array.from({ length: 60 }, (_, index) => ({ remove: { agentRef: refOf(100 + index) } })))
    const refused = await run(['sync', folder], { environment })
    assert.equal(refused.code, 1)
    assert.match(
      refused.stderr,
      /with these 60, [\d,]+ of [\d,]+ listings would be gone within 24 h .*--allow-mass-removal/,
    )
    const allowed = await runJson<Summary>(['sync', folder, '--allow-mass-removal'], { environment })
    assert.equal(allowed.held, held - 60)
  })

  it('names the fault in a sentence: a key, an address, a file of something else', async () => {
    const folder = join(market.folder, 'none')
    const wrongKey = await run(['sync', folder], {
      environment: { ...environment, PROPERTY_EVENTS_KEY: 'wrong' },
    })
    assert.equal(wrongKey.code, 1)
    assert.match(wrongKey.stderr, /not a whole key/)
    const other = join(market.folder, 'other.ndjson')
    writeFileSync(other, '{"something":"else"}\n')
    const wrongFile = await run(['sync', other], { environment })
    assert.match(wrongFile.stderr, /not a copy that sync has created/)
    assert.doesNotMatch(wrongKey.stderr + wrongFile.stderr, /\n\s+at /)
  })
})

/** A road to the market that a test can close: while it is `cut` it hangs up, while it is `silent` nothing comes back. */
async function openRoad(state: 'open' | 'cut' | 'silent') {
  const sockets = new Set<Socket>()
  const road = { state, url: '', server: createServer(), close: () => {} }
  road.server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    if (road.state === 'cut') socket.destroy()
    if (road.state !== 'open') return
    const onward = connect(Number(new URL(market.url).port), '127.0.0.1')
    onward.on('error', () => socket.destroy())
    socket.on('close', () => onward.destroy())
    socket.pipe(onward).pipe(socket)
  })
  road.server.listen(0, '127.0.0.1')
  await once(road.server, 'listening')
  road.url = `http://127.0.0.1:${(road.server.address() as AddressInfo).port}`
  road.close = () => {
    road.server.close()
    for (const socket of sockets) socket.destroy()
  }
  return road
}

describe('sync, interrupted', () => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`says that it was stopped before its end, and fails with 130 (${signal})`, async () => {
      const road = await openRoad('silent')
      const target = join(market.folder, `stopped by ${signal}`)
      const args = ['sync', target, '--url', road.url, ...(signal === 'SIGTERM' ? ['--json'] : [])]
      const asked = once(road.server, 'connection')
      const running = await runUntil(args, asked, { environment })
      const { code, stdout, stderr } = await running.stop(signal)
      road.close()
      assert.equal(code, 130, stderr)
      assert.match(stderr, /^Stopped before the copy was up to date\. .*Run the command again/m)
      if (signal === 'SIGINT') assert.match(stdout, /^0 events read; the copy holds 0\n$/)
      else assert.equal((JSON.parse(stdout) as { ended: string }).ended, 'aborted')
    })
  }

  it('ends well when it follows: stopping is how that ends', async () => {
    const road = await openRoad('silent')
    const args = ['sync', join(market.folder, 'followed'), '--follow', '--url', road.url]
    const running = await runUntil(args, once(road.server, 'connection'), { environment })
    const { code, stderr } = await running.stop()
    road.close()
    assert.equal(code, 0, stderr)
  })
})

describe('sync --follow into a file', () => {
  it('has each change in the file before the next one comes', async () => {
    const file = join(market.folder, 'followed.ndjson')
    const holds = async (subjectId: string) => {
      const isThere = () => existsSync(`${file}.checkpoint`) && readFileSync(file, 'utf8').includes(subjectId)
      await until(isThere, { what: `${subjectId} in the file` })
    }
    const running = await runUntil(['sync', file, '--follow'], holds(refOf(1)), { environment })
    await publish([property(400)])
    await holds(refOf(400))
    const { code, stderr } = await running.stop()
    assert.equal(code, 0, stderr)
  })
})

describe('sync, while the service is away', () => {
  /** Waits by chance are short ones, so that many attempts are soon over. */
  const nodeArguments = ['--import', 'data:text/javascript,Math.random=()=>0.001']

  it('follows from the start: says what it waits for, and continues when that comes', async () => {
    const road = await openRoad('cut')
    const target = join(market.folder, 'away')
    const args = ['sync', target, '--follow', '--json', '--url', road.url]
    const running = await runUntil(args, /Trying again/, { environment, nodeArguments })
    road.state = 'open'
    const isThere = () => existsSync(join(target, '.checkpoint'))
    await until(isThere, { what: 'the checkpoint', timeoutMs: 60_000 })
    const { code, stdout, stderr } = await running.stop()
    road.close()
    assert.equal(code, 0, stderr)
    assert.match(stderr, /^http:\S+ does not answer \(.+\)\. Waiting for it\.$/m)
    assert.match(stderr, /^http:\S+ answers again\.$/m)
    const { held, changes } = JSON.parse(stdout) as Summary
    assert.ok(held > 0 && changes >= held, stdout)
  })

  it('says what it waits for, and finally why it gave up', async () => {
    const road = await openRoad('cut')
    const target = join(market.folder, 'given up.ndjson')
    const args = ['sync', target, '--url', road.url]
    const { code, stderr } = await run(args, { environment, nodeArguments })
    road.close()
    assert.equal(code, 1)
    assert.ok(!existsSync(target), 'nothing is written before anything came')
    assert.match(stderr, /^http:\S+ does not answer \(.+\)\. Waiting for it\.\nGET .*\n$/)
  })
})

describe('sync from an address that redirects', () => {
  it('says at once which address to use, whether it follows or not, and sends its key nowhere else', async (context) => {
    const asked: string[] = []
    const server = createHttpServer((request, response) => {
      asked.push(request.url ?? '')
      response.writeHead(301, { location: `https://127.0.0.1:1${request.url}` }).end()
    }).listen(0, '127.0.0.1')
    context.after(() => server.close())
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    for (const more of [[], ['--follow']]) {
      asked.length = 0
      const target = join(market.folder, 'redirected')
      const { code, stderr } = await run(['sync', target, ...more, '--url', url], { environment })
      assert.equal(code, 1, stderr)
      assert.match(
        stderr,
        /^GET \S+ The address redirects \(301\) to https:.* Use https:\/\/127\.0\.0\.1:1 as/,
      )
      assert.equal(new Set(asked).size, asked.length, 'nothing is asked twice')
    }
  })
})

describe('events tail', () => {
  it('shows the last events, as text or as JSON', async () => {
    await publish([property(200), property(201)])
    const shown = await run(['events', 'tail', '--last', '2', '--no-follow'], { environment })
    assert.equal(shown.code, 0, shown.stderr)
    assert.equal(shown.stdout.trimEnd().split('\n').length, 2)
    assert.match(shown.stdout, new RegExp(`PropertyPublished .*${refOf(201)} .* new\n$`))
    const { stdout } = await run(['events', 'tail', '--last', '1', '--no-follow', '--json'], { environment })
    assert.equal((JSON.parse(stdout) as { transactionId: string }).transactionId, refOf(201))
  })
})

describe('properties', () => {
  it('get shows how a property is now', async () => {
    await publish([property(300, { status: 1 })])
    const { stdout } = await run(['properties', 'get', refOf(300)], { environment })
    assert.match(stdout, /PropertyPublished\n\{\n {2}"agent_ref"/)
    const unknown = await run(['properties', 'get', refOf(999)], { environment })
    assert.match(unknown.stderr, /no event of the property/)
    assert.equal(unknown.code, 1)
    const noUuid = await run(['properties', 'get', '42'], { environment })
    assert.match(noUuid.stderr, /"42" is not the reference of a property/)
  })

  it('history shows every version and what changed in it', async () => {
    const features = (...names: readonly string[]) => ({
      details: { features: names, description: 'x'.repeat(500) },
    })
    await publish([
      property(301, { status: 1, ...features('Garden') }),
      property(301, {
        status: 2,
        ...features('Garden', 'Garage\u001b[2J'),
        price_information: { price: 90_000.5 },
      }),
      { remove: { agentRef: refOf(301), reason: 9 } },
    ])
    const { stdout } = await run(['properties', 'history', refOf(301)], { environment })
    const lines = stdout.trimEnd().split('\n')
    assert.deepEqual(
      lines.map((line) => line.replace(/^\d+ {2}\S+ \S+ UTC/, '#')),
      [
        '#  PropertyPublished',
        '  first version',
        '#  PropertyUpdated',
        '  ~ /price_information/price: 100301 → 90000.5',
        '  ~ /status: 1 → 2',
        '  + /details/features/1: "Garage\\u001b[2J"',
        '#  PropertyUnpublished',
        '  ~ /published: true → false',
        '  + /removal_reason: 9',
      ],
    )
    const machine = await run(['properties', 'history', refOf(301), '--json'], { environment })
    const [first, second] = machine.stdout
      .trimEnd()
      .split('\n')
      .map((line): { readonly changes: unknown; readonly changesAbsent?: string } => JSON.parse(line))
    assert.deepEqual([first?.changes, first?.changesAbsent], [null, 'first_version'])
    assert.deepEqual(second?.changes, [
      { pointer: '/price_information/price', from: 100_301, to: 90_000.5 },
      { pointer: '/status', from: 1, to: 2 },
      { pointer: '/details/features/1', to: 'Garage\u001b[2J' },
    ])
  })
})
