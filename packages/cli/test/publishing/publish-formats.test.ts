/** Files that `publish` cannot take are named by what they are, and references that are not UUIDs get one. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { after, before, describe, it } from 'node:test'
import { subjectReference } from '../../src/publishing/reference.ts'
import { listEvents, run, runJson, runPrinted, startMarket } from '../support/program.ts'
import type { Market } from '../support/program.ts'

const blm = [
  '#HEADER#',
  'Version : 3',
  "EOF : '^'",
  "EOR : '~'",
  '',
  '#DEFINITION#',
  'AGENT_REF^ADDRESS_1^PRICE^~',
  '#DATA#',
  ...Array.from({ length: 50 }, (_, n) => `S${n}^${n} Mill Lane^450000^~`),
  '#END#',
].join('\r\n')
const rtdf = {
  network: { network_id: 5 },
  branch: { branch_id: 1566, channel: 1 },
  property: { agent_ref: 'S1', published: true },
}
const event = (agent_ref: string) => JSON.stringify({ payload: { agent_ref, published: true } })
const home = '7d1c3a54-5c1e-4c4f-8e0b-00000000f001'

let market: Market
let environment: Readonly<Record<string, string>>
before(async () => {
  market = await startMarket()
  environment = { PROPERTY_EVENTS_URL: market.url, PROPERTY_EVENTS_KEY: market.publishKey }
})
after(() => market.close())

async function count(): Promise<number> {
  return (await listEvents(market.url, market.readKey, 'pageSize=1')).body.availableCount
}

describe('publish, given another format', () => {
  const formats: readonly (readonly [string, string | Buffer, RegExp])[] = [
    ['BLM', blm, /This is a BLM file.*"payload".*property-events.*reference/],
    ['BLM with a byte order mark', `\ufeff${blm}`, /This is a BLM file/],
    ['BLM in UTF-16', Buffer.from(`\ufeff${blm}`, 'utf16le'), /This is a BLM file/],
    ['BLM in the other UTF-16', Buffer.from(`\ufeff${blm}`, 'utf16le').swap16(), /This is a BLM file/],
    ['BLM behind empty lines', `\r\n\r\n${blm}`, /This is a BLM file/],
    ['XML', '<?xml version="1.0"?>\n<clients>\n<client id="1"/>\n</clients>\n', /This is XML/],
    ['XML without a declaration', '<properties><property id="1"/></properties>', /This is XML/],
    ['a web page', '<!DOCTYPE html><html><title>Log in</title></html>', /an HTML page.*login page/],
    ['CSV', 'Ref,Price,Town\nA1,450000,Wimbledon\nA2,1,Leeds\n', /This is CSV/],
    [
      'CSV by other programs',
      '\ufeffRef;Office;"Asking price"\r\nA1;Wimbledon;"£ 450,000"\r\n',
      /This is CSV/,
    ],
    ['tab-separated text', 'Ref\tPrice\nA1\t450000\n', /This is CSV/],
    ['an RTDF call', JSON.stringify(rtdf), /RTDF.*"property" member as the payload/],
    ['an RTDF call, spread out', JSON.stringify(rtdf, undefined, '\t'), /RTDF/],
    ['RTDF calls, one a line', `${JSON.stringify(rtdf)}\n${JSON.stringify(rtdf)}\n`, /RTDF/],
    ['a list of RTDF calls', JSON.stringify([rtdf, rtdf], undefined, 2), /RTDF/],
    ['a ZIP archive', Buffer.from('504b030414000008', 'hex'), /a ZIP archive or a spreadsheet.*Unpack/],
    ['gzip', gzipSync(event(home)), /gzip.*gunzip -c/],
    ['an SQLite database', Buffer.from('SQLite format 3\0 more'), /an SQLite database/],
    ['events in UTF-16', Buffer.from(`\ufeff${event(home)}\n`, 'utf16le'), /UTF-16.*UTF-8/],
  ]
  const piped = new Set(['BLM', 'BLM in UTF-16', 'an RTDF call', 'gzip'])
  for (const [name, content, expected] of formats) {
    it(`names ${name} in one sentence with a remedy, and sends nothing`, async () => {
      const before = await count()
      const file = join(market.folder, 'other')
      writeFileSync(file, content)
      const given = [await run(['publish', file], { environment })]
      // What is piped is told apart by the same bytes: one text, one of other encoding, one JSON and one binary show it.
      if (piped.has(name)) given.push(await run(['publish', '-', '--json'], { environment, input: content }))
      for (const { code, stdout, stderr } of given) {
        assert.deepEqual([code, stdout], [1, ''])
        assert.match(stderr, expected)
        assert.equal(stderr.split('\n').length, 2, stderr)
      }
      assert.equal(await count(), before)
    })
  }

  it('still judges events line by line, whatever is on the other lines', async () => {
    const lines = ['not json, at all', event(home), 'a, b, c', '<xml/>']
    for (const [content, refused] of [
      [lines.join('\n'), 3],
      ['broken, and alone', 1],
      ['', 0],
      ['\ufeff', 0],
      [`{"network": 5}\n`, 1],
    ] as const) {
      const { stdout, stderr } = await run(['publish', '-', '--json'], { environment, input: content })
      assert.equal((JSON.parse(stdout) as { refused: number }).refused, refused, content + stderr)
    }
    const forced = await run(['publish', '-', '--json', '--format', 'ndjson'], {
      environment,
      input: 'a,b\nc,d',
    })
    assert.equal((JSON.parse(forced.stdout) as { refused: number }).refused, 2, forced.stderr)
  })
})

describe('a reference that is not a UUID', () => {
  const tenant = '0b5e1a4e-8a3c-4a55-9c3f-3f3f2b1a0001'

  it('is refused with what to send instead, wherever it is (D16)', async () => {
    const expected = /UUIDv5 of your own reference, which `property-events reference` creates/
    for (const item of [
      { payload: { agent_ref: '02072013_0406', published: true } },
      { payload: { agent_ref: 42, published: true } },
      { remove: { agentRef: 'S1' } },
    ]) {
      const response = await fetch(`${market.url}/v1/property-events`, {
        method: 'POST',
        headers: { 'x-api-key': market.publishKey, 'content-type': 'application/json' },
        body: JSON.stringify(item),
      })
      assert.equal(response.status, 400)
      const { errors } = (await response.json()) as { errors: readonly { message: string }[] }
      assert.match(errors[0]?.message ?? '', expected)
    }
    const file = await run(['publish', '-'], { environment, input: event('02072013_0406') })
    assert.match(file.stderr, expected)
  })

  it('becomes the UUIDv5 that other programs derive from the same words, for ever (D16, RFC 9562)', async () => {
    // Made with Python's uuid.uuid5(tenant, '1566\nsales\nS1'), and so on.
    for (const [args, expected] of [
      [['--branch', '1566', '--channel', 'sales', 'S1'], 'a7cfe13f-54c7-52e7-a6eb-0b05676972b2'],
      [['--branch', ' 1566 ', '--channel', 'sales', ' S1 '], 'a7cfe13f-54c7-52e7-a6eb-0b05676972b2'],
      [['--branch', '1566', '--channel', 'lettings', 'S1'], 'e019d4bc-5bb2-52e4-b58e-ac9ab839ec49'],
      [['--channel', 'sales', 'RÉF/£ 1'], 'f1e34d46-1015-527a-998d-932001b6a225'],
    ] as const) {
      const { code, stdout, stderr } = await run(['reference', '--tenant', tenant, ...args])
      assert.deepEqual([code, stdout], [0, `${expected}\n`], stderr)
    }
    const input = 'S1\r\n\r\nS2\n'
    const piped = await run(
      ['reference', '--tenant', tenant.toUpperCase(), '--channel', 'sales', '-', '--json'],
      { input },
    )
    assert.deepEqual(
      piped.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
      ['S1', 'S2'].map((reference) => ({
        reference,
        agentRef: subjectReference({ tenantId: tenant, branch: '', channel: 'sales', reference }),
      })),
    )
  })

  it('is published under it, and found by it', async () => {
    const { stdout } = await run(['reference', '--tenant', market.tenantId, '--channel', 'sales', 'S1'])
    const agent_ref = stdout.trim()
    await runJson(['publish', '-'], { environment, input: event(agent_ref) })
    const reading = { ...environment, PROPERTY_EVENTS_KEY: market.readKey }
    const found = await runJson<{ transactionId: string }>(['properties', 'get', agent_ref], {
      environment: reading,
    })
    assert.equal(found.transactionId, agent_ref)
    const byOwn = await run(['properties', 'get', 'S1'], { environment: reading })
    assert.match(byOwn.stderr, /"S1" is not the reference of a property.*`.* reference` creates one/)
    const help = /`(.* reference)`/.exec(byOwn.stderr)?.[1] ?? ''
    assert.equal((await runPrinted(`${help} --help`)).code, 0)
  })

  it('has to say which one it is', async () => {
    const base = ['reference', '--tenant', tenant]
    for (const [args, expected] of [
      [['reference', '--channel', 'sales', 'S1'], /--tenant/],
      [
        ['reference', '--tenant', 'Hill & Co', '--channel', 'sales', 'S1'],
        /--tenant must be the id of a tenant, a UUID/,
      ],
      [[...base, 'S1'], /--channel/],
      [[...base, '--channel', 'rent', 'S1'], /--channel must be sales or lettings/],
      [[...base, '--channel', 'sales', ''], /is not a reference/],
      [[...base, '--channel', 'sales', 'a\nb'], /"a\\u000ab" is not a reference/],
      [[...base, '--channel', 'sales', 'x'.repeat(201)], /1 to 200 characters/],
      [[...base, '--channel', 'sales', tenant], /is a UUID already/],
      [[...base, '--channel', 'sales', '--branch', 'a\nb', 'S1'], /--branch/],
    ] as const) {
      const { code, stdout, stderr } = await run(args)
      assert.deepEqual([code, stdout], [1, ''], args.join(' '))
      assert.match(stderr, expected)
    }
  })
})
