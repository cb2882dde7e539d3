import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { after, before, describe, it } from 'node:test'
import { listEvents, run, runJson, startMarket } from '../support/program.ts'
import type { Market } from '../support/program.ts'

interface Summary {
  readonly published: number
  readonly repeated: number
  readonly unchanged: number
  readonly refused: number
  readonly refusedLines?: readonly ToldLine[]
  readonly warnings?: readonly ToldLine[]
  readonly warningCounts?: Readonly<Record<string, number>>
}

interface ToldLine {
  readonly line: number
  readonly item?: number
  readonly code: string
  readonly pointer?: string
  readonly message: string
}

let market: Market
let environment: Readonly<Record<string, string>>
let files = 0
before(async () => {
  market = await startMarket()
  environment = { PROPERTY_EVENTS_URL: market.url, PROPERTY_EVENTS_KEY: market.publishKey }
})
after(() => market.close())

function fileOf(content: string | Buffer, ending = 'ndjson'): string {
  files += 1
  const path = join(market.folder, `file-${files}.${ending}`)
  writeFileSync(path, content)
  return path
}

/** What consumers need of a property that is shown: without it every line would get advice. */
const whole = {
  price_information: { price: 350_000 },
  media: [{ media_type: 1, media_url: 'https://images.example.com/front.jpg' }],
}

let subjects = 0
function newSubject(): string {
  subjects += 1
  return `7d1c3a54-5c1e-4c4f-8e0b-${String(subjects).padStart(12, '0')}`
}

function line(subject: string, more: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ payload: { agent_ref: subject, published: true, ...whole, ...more } })
}

async function count(): Promise<number> {
  return (await listEvents(market.url, market.readKey, 'pageSize=1')).body.availableCount
}

const totals = ({ published, repeated, unchanged, refused }: Summary) => [
  published,
  repeated,
  unchanged,
  refused,
]
const publish = (file: string, ...flags: readonly string[]) =>
  run(['publish', file, '--json', ...flags], { environment })

describe('publish', () => {
  it('running it again on the same file stores only what has changed since (D14)', async () => {
    const subject = newSubject()
    const content = [line(subject), line(newSubject()), line(newSubject(), { status: 2 })].join('\n')
    const file = fileOf(content)
    const before = await count()
    const first = await runJson<Summary>(['publish', file], { environment })
    assert.deepEqual(totals(first), [3, 0, 0, 0])
    const again = await runJson<Summary>(['publish', file], { environment })
    assert.deepEqual(totals(again), [0, 0, 3, 0])
    assert.equal(await count(), before + 3)
    const piped = await run(['publish', '-', '--json'], { environment, input: content })
    assert.deepEqual(totals(JSON.parse(piped.stdout) as Summary), [0, 0, 3, 0])
  })

  it('a payload equal to its latest stores nothing, unless asked to (D14)', async () => {
    const subject = newSubject()
    const before = await count()
    const first = await runJson<Summary>(['publish', fileOf(`${line(subject)}\n`)], { environment })
    assert.deepEqual(totals(first), [1, 0, 0, 0])
    // A nightly file: other bytes around the same payload.
    const nightly = await runJson<Summary>(['publish', fileOf(`\n${line(subject)}\n`)], { environment })
    assert.deepEqual(totals(nightly), [0, 0, 1, 0])
    assert.equal(await count(), before + 1)
    const forced = await runJson<Summary>(
      ['publish', fileOf(`\n\n${line(subject)}`), '--unchanged', 'store'],
      {
        environment,
      },
    )
    assert.deepEqual(totals(forced), [1, 0, 0, 0])
    assert.equal(await count(), before + 2)
  })

  it('shows what consumers fall over, says how much more there is, and gives programs all of it (PROTOCOL §4.11)', async () => {
    const bare = { price_information: null, adress: { town: 'Ely' } }
    const lines = Array.from({ length: 12 }, () => line(newSubject(), bare)).join('\n')
    for (const flags of [['--dry-run'], []]) {
      const shown = await run(['publish', fileOf(lines), ...flags], { environment })
      assert.equal(shown.code, 0)
      assert.match(shown.stderr, /advice: line 1 at \/adress: adress is not a known field.*\(unknown_field\)/)
      assert.equal(shown.stderr.match(/^advice: /gm)?.length, 9, 'three of each code')
      assert.match(
        shown.stderr,
        /27 more remarks are not shown.*: (?:\w+ 12, ){2}\w+ 12\. --json lists them\./,
      )
    }
    const again = Array.from({ length: 12 }, () => line(newSubject(), bare)).join('\n')
    for (const flags of [['--dry-run'], []]) {
      const { stdout, stderr } = await publish(fileOf(again), ...flags)
      const { warnings = [], warningCounts } = JSON.parse(stdout) as Summary
      assert.deepEqual(warningCounts, { unknown_field: 12, missing_price: 12, material_information: 12 })
      assert.equal(warnings.length, 36)
      const [first] = warnings
      assert.deepEqual([first?.line, first?.pointer, first?.code], [1, '/adress', 'unknown_field'])
      assert.match(first?.message ?? '', /address is probably meant/)
      assert.doesNotMatch(stderr, /advice/i)
    }
  })

  it('faulty lines are left out and reported by number, the rest is stored in order (P11)', async () => {
    const good = Array.from({ length: 1100 }, () => line(newSubject()))
    const lines = [...good]
    lines.splice(3, 0, '{"payload":')
    lines.splice(700, 0, JSON.stringify({ payload: { agent_ref: 'not a uuid', published: true } }))
    lines.splice(701, 0, '')
    lines.splice(702, 0, JSON.stringify({ remove: { agentRef: newSubject() } }))
    lines.splice(1000, 0, JSON.stringify({ payload: { agent_ref: newSubject(), published: true }, price: 1 }))
    const before = await count()
    const { code, stdout } = await publish(fileOf(lines.join('\n')))
    assert.equal(code, 1)
    const summary = JSON.parse(stdout) as Summary
    assert.deepEqual(totals(summary), [1100, 0, 0, 4])
    assert.deepEqual(
      summary.refusedLines?.map((refused) => [refused.line, refused.code, refused.pointer]),
      [
        [4, 'invalid_json', ''],
        [701, 'not_a_uuid', '/payload/agent_ref'],
        [703, 'unknown_subject', '/remove/agentRef'],
        [1001, 'unknown_member', '/price'],
      ],
    )
    assert.equal(await count(), before + 1100)
    const stored = await listEvents(
      market.url,
      market.readKey,
      `pageSize=1000&page=${Math.ceil((before + 1100) / 1000)}`,
    )
    const subjectsStored = stored.body.items.map((event) => event['transactionId'])
    const tail = good
      .slice(-50)
      .map((text) => (JSON.parse(text) as { payload: { agent_ref: string } }).payload.agent_ref)
    assert.deepEqual(subjectsStored.slice(-50), tail)
  })

  it('a person reads which lines and why, without escape codes of the file', async () => {
    const file = fileOf(`{"payload":{"agent_ref":"${newSubject()}","published":true},"\u009b31mred":1}\n`)
    const { code, stdout, stderr } = await run(['publish', file], { environment })
    assert.equal(code, 1)
    assert.equal(stdout, '0 published, 0 repeated, 0 unchanged, 1 refused\n')
    assert.match(stderr, /^refused: line 1 at \/.*\(unknown_member\)$/m)
    assert(!stderr.includes('\u009b'))
  })

  it('more than a hundred faults in one request do not stop it (P11)', async () => {
    const lines = Array.from({ length: 300 }, (_, index) =>
      index % 2 === 0 ? line(newSubject()) : JSON.stringify({ payload: { agent_ref: 'x', published: true } }),
    )
    const { code, stdout } = await publish(fileOf(lines.join('\n')))
    assert.equal(code, 1)
    assert.deepEqual(totals(JSON.parse(stdout) as Summary), [150, 0, 0, 150])
  })

  it('an id that is taken by other content is refused alone (D14)', async () => {
    const id = newSubject()
    const event = (status: number) =>
      JSON.stringify({ id, payload: { agent_ref: newSubject(), published: true, status } })
    const { code, stdout } = await publish(fileOf([event(1), event(2), line(newSubject())].join('\n')))
    assert.equal(code, 1)
    const summary = JSON.parse(stdout) as Summary
    assert.deepEqual(totals(summary), [2, 0, 0, 1])
    assert.deepEqual(
      summary.refusedLines?.map((refused) => [refused.line, refused.code]),
      [[2, 'id_conflict']],
    )
  })

  it('takes a JSON array and a single object, spread out or not, digits kept (D22)', async () => {
    const [a, b, c] = [newSubject(), newSubject(), newSubject()]
    const array = `[\n  {"payload": {"agent_ref": "${a}", "published": true,\n   "price_information": {"price": 250000.00}}},\n {"payload": {"agent_ref": "x"}},\n ${line(b)}]`
    const { stdout } = await publish(fileOf(array, 'json'))
    const summary = JSON.parse(stdout) as Summary
    assert.deepEqual(totals(summary), [2, 0, 0, 1])
    assert.deepEqual(
      summary.refusedLines?.map(({ line, item }) => [line, item]),
      [[4, 2]],
    )
    const single = JSON.stringify({ payload: { agent_ref: c, published: true } }, undefined, 2)
    assert.deepEqual(
      totals(await runJson<Summary>(['publish', fileOf(single, 'json')], { environment })),
      [1, 0, 0, 0],
    )
    const newest = await listEvents(
      market.url,
      market.readKey,
      `pageSize=1000&page=${Math.ceil((await count()) / 1000)}`,
    )
    const event = newest.body.items.find((one) => one['transactionId'] === a)
    assert.equal(
      event?.['payload'],
      `{"agent_ref":"${a}","published":true,"price_information":{"price":250000.00}}`,
    )
  })

  it('takes a file that begins with a byte order mark, and lines that end as on Windows', async () => {
    const ndjson = fileOf(`\ufeff${line(newSubject())}\r\n${line(newSubject())}\r\n`)
    const json = fileOf(`\ufeff[\r\n${line(newSubject())}\r\n]`, 'json')
    assert.deepEqual(totals(await runJson<Summary>(['publish', ndjson], { environment })), [2, 0, 0, 0])
    assert.deepEqual(totals(await runJson<Summary>(['publish', json], { environment })), [1, 0, 0, 0])
  })

  it('a dry run stores nothing and says what would be refused', async () => {
    const before = await count()
    const { code, stdout } = await publish(
      fileOf([line(newSubject()), '{"payload":{}}'].join('\n')),
      '--dry-run',
    )
    assert.equal(code, 1)
    assert.deepEqual(totals(JSON.parse(stdout) as Summary), [1, 0, 0, 1])
    assert.equal(await count(), before)
  })

  it('publishes contacts to their own feed (D18)', async () => {
    const contact = JSON.stringify({ payload: { contact_ref: newSubject() } })
    const { code, stdout, stderr } = await publish(fileOf(contact), '--feed', 'contact')
    assert.equal(code, 0, stderr)
    const contacts = await listEvents(
      market.url,
      market.readKey,
      '',
      '/api/func/api/v1/contactevents/getevents',
    )
    assert.deepEqual(totals(JSON.parse(stdout) as Summary), [1, 0, 0, 0])
    assert.equal(contacts.body.availableCount, 1)
  })

  it('a key that may not publish, a wrong address or flag is told in a sentence, and leaves nothing in the temporary folder', async () => {
    // One of their own: in the machine's, other tests come and go.
    const temporary = join(market.folder, 'temporary')
    mkdirSync(temporary)
    const reading = { ...environment, PROPERTY_EVENTS_KEY: market.readKey }
    const file = fileOf(line(newSubject()))
    const cases: readonly (readonly [readonly string[], Readonly<Record<string, string>>, RegExp])[] = [
      [['publish', file], reading, /the scope property:publish.*403, missing_scope/],
      [['publish', '-'], reading, /missing_scope/],
      [
        ['publish', file],
        { PROPERTY_EVENTS_URL: market.url },
        /No API key is given: set PROPERTY_EVENTS_KEY/,
      ],
      [['publish', file, '--url', `${market.url}/nowhere`], environment, /404, path_not_found/],
      [['publish', `${file}.gone`], environment, /gone does not exist/],
      [['publish', market.folder], environment, /is neither a file nor a named pipe/],
      [['publish', file, '--feed', 'people'], environment, /--feed is "people"/],
      [['publish', file, '--unchanged', 'maybe'], environment, /--unchanged is "maybe"/],
      [['events', 'get', newSubject()], reading, /The feed has no event with the id 7d1c3a54-/],
      [['events', 'get', 'x'], environment, /is not the id of an event/],
      [['events', 'list'], environment, /scope property:read.*401, key_scope, request /],
    ]
    await Promise.all(
      cases.map(async ([args, variables, expected]) => {
        const { code, stdout, stderr } = await run(args, {
          environment: { ...variables, TMPDIR: temporary },
          input: line(newSubject()),
        })
        assert.equal(code, 1, stderr)
        assert.equal(stdout, '')
        assert.match(stderr, expected)
        assert(!stderr.includes('    at '), stderr)
      }),
    )
    assert.deepEqual(readdirSync(temporary), [])
  })

  it('refuses --tenant, which counted once, and says what counts instead', async () => {
    const ended = await run(['publish', '--tenant', market.tenantId, '-'], { environment, input: '' })
    assert.equal(ended.code, 1)
    assert.match(
      ended.stderr,
      /^publish takes no --tenant: events go to the tenant of the key, .* Leave --tenant out/,
    )
  })

  it('waits for a busy service and goes on (D10)', async () => {
    let asked = 0
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        // As a service that does not say which epoch its feeds are in.
        if (request.method === 'GET') {
          response.writeHead(404).end()
          return
        }
        asked += 1
        const busy = asked <= 2
        response.writeHead(busy ? 503 : 201, { 'content-type': 'application/json', 'retry-after': '0' })
        response.end(
          JSON.stringify(
            busy
              ? { code: 'overloaded', detail: 'Busy.' }
              : { events: [{ id: newSubject() }], repeated: false, warnings: [] },
          ),
        )
      })
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { code, stdout, stderr } = await publish(fileOf(line(newSubject())), '--url', url)
    server.close()
    assert.equal(code, 0, stderr)
    assert.deepEqual(totals(JSON.parse(stdout) as Summary), [1, 0, 0, 0])
    assert.match(stderr, /Busy\. \(503, overloaded\) Trying again in/)
  })

  it('does not take its key to where a redirect points', async () => {
    const seen: string[] = []
    const server = createServer((request, response) => {
      seen.push(request.url ?? '')
      response.writeHead(307, { location: '/elsewhere' }).end()
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { code, stderr } = await publish(fileOf(line(newSubject())), '--url', url)
    server.close()
    assert.equal(code, 1)
    assert.match(stderr, /^The address redirects \(307\) to .*\/elsewhere, which is not followed/)
    assert.deepEqual(
      seen.map((path) => path.split('?')[0]),
      ['/v1/heads', '/v1/property-events'],
    )
  })
})

describe('events', () => {
  it('list and get show what is in the feed, hostile text made harmless', async () => {
    const subject = newSubject()
    const id = newSubject()
    const event = { id, payload: { agent_ref: subject, published: true, directions: 'left\u009b2J\u202e' } }
    await runJson(['publish', fileOf(JSON.stringify(event))], { environment })
    const reading = { ...environment, PROPERTY_EVENTS_KEY: market.readKey }
    const got = await runJson<Record<string, unknown>>(['events', 'get', id.toUpperCase()], {
      environment: reading,
    })
    assert.equal(got['id'], id)
    assert.deepEqual(JSON.parse(String(got['payload'])), event.payload)
    const person = await run(['events', 'get', id], { environment: reading })
    assert.equal(person.code, 0)
    assert.match(person.stdout, /"directions": "left\\u009b2J\\u202e"/)
    assert(!/[\u009b\u202e]/.test(person.stdout))

    const page = await runJson<{ pageSize: number; items: readonly unknown[] }>(
      ['events', 'list', '--page-size', '2', '--type', 'SalesPropertyEvents', '--from', '2020-01-01'],
      { environment: reading },
    )
    assert.deepEqual([page.pageSize, page.items.length], [2, 2])
    const ahead = new Date(Date.now() + 2 * 3_600_000).toISOString().slice(0, 16)
    for (const [offset, some] of [
      ['+03:00', true],
      ['+01:00', false],
      ['z', false],
    ] as const) {
      const { items } = await runJson<{ items: readonly unknown[] }>(
        ['events', 'list', '--from', `${ahead}${offset}`],
        { environment: reading },
      )
      assert.equal(items.length > 0, some, offset)
    }
    const table = await run(['events', 'list', '--page-size', '2'], { environment: reading })
    assert.match(table.stdout, /^number +created/)
    assert.match(table.stdout, /page 1 of \d+, \d+ events\n$/)
  })
})

describe('events list, asked for what there cannot be', () => {
  it('names the flag, what was given and what is allowed', async () => {
    const reading = { ...environment, PROPERTY_EVENTS_KEY: market.readKey }
    for (const [flag, value, expected] of [
      ['--page', '0', / page: "0" is not allowed.* \(400, invalid_parameter, request \S+\)$/m],
      ['--page-size', '100000', / pageSize: "100000".*1000/],
      ['--from', 'yesterday', / from: "yesterday".*YYYY-MM-DD/],
      ['--type', 'sale', / apiEventType: "sale".*salesproperty/],
      ['--page', '1e3', /--page is "1e3", but must be a whole number/],
      ['--page-size', 'x\u001b[2J', /--page-size is "x\\u001b\[2J", but must be a whole number/],
    ] as const) {
      const { code, stdout, stderr } = await run(['events', 'list', flag, value], { environment: reading })
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(stderr, expected)
    }
  })

  it('asks a service that does not answer once, since somebody waits', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await new Promise((resolve) => server.close(resolve))
    const { stderr } = await run(['events', 'list', '--url', url], { environment })
    assert.equal(
      stderr,
      `${url} does not answer (ECONNREFUSED). Is the service running, and is PROPERTY_EVENTS_URL or --url right?\n`,
    )
  })
})

describe('generate', () => {
  it('prints events that can be published as they are, the same for the same seed', async () => {
    const args = ['generate', '--events', '300', '--seed', 'a', '--average-bytes', '1000']
    const [first, again, other] = await Promise.all([
      run(args),
      run(args),
      run(['generate', '--events', '300', '--seed', 'b', '--average-bytes', '1000']),
    ])
    assert.equal(first.code, 0)
    assert.equal(first.stdout.split('\n').length, 301)
    assert.equal(again.stdout, first.stdout)
    assert.notEqual(other.stdout, first.stdout)
    const published = await run(['publish', '-', '--json'], { environment, input: first.stdout })
    assert.equal(published.code, 0, published.stderr)
    assert.deepEqual(totals(JSON.parse(published.stdout) as Summary), [300, 0, 0, 0])
  })

  it('prints a nightly file: each property on the market once, and a second night stores nothing', async () => {
    const { code, stdout } = await run(['generate', '--properties', '60', '--seed', 'night'])
    assert.equal(code, 0)
    const lines = stdout.trimEnd().split('\n')
    const payloads = lines.map((line) => (JSON.parse(line) as { payload: Record<string, unknown> }).payload)
    assert.equal(new Set(payloads.map((payload) => payload['agent_ref'])).size, 60)
    assert.ok(payloads.every((payload) => payload['published'] === true))
    const night = () => run(['publish', '-', '--json'], { environment, input: stdout })
    assert.deepEqual(totals(JSON.parse((await night()).stdout) as Summary), [60, 0, 0, 0])
    const [stored] = totals(JSON.parse((await night()).stdout) as Summary)
    assert.equal(stored, 0)
  })

  it('makes a nightly file or a history, and says so where neither or both are asked for', async () => {
    for (const args of [[], ['--events', '2', '--properties', '2']]) {
      const { code, stderr } = await run(['generate', ...args])
      assert.equal(code, 1)
      assert.match(stderr, /Give --properties or --events, and not both/)
    }
  })

  it('ends without a word when its reader has seen enough', async () => {
    const door = fileURLToPath(new URL('../../bin/property-events.mjs', import.meta.url))
    const child = spawn(process.execPath, [door, 'generate', '--events', '1000000'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    child.stdout.once('data', () => child.stdout.destroy())
    const code = await new Promise((resolve) => child.once('close', resolve))
    assert.equal(stderr, '')
    assert.equal(code, 0)
  })

  it('refuses numbers it cannot mean', async () => {
    const { code, stderr } = await run(['generate', '--events', '1e3', '--average-bytes', '10'])
    assert.equal(code, 1)
    assert.match(stderr, /--events is "1e3".*\n--average-bytes is "10"/)
  })
})
