/**
 * Heads that are read past Node's HTTP parser. Whatever is read there, the parser must read the same from the same bytes: as
 * one request, with nothing before it and nothing behind it. What is not read there goes to the parser, so refusing too much
 * is slow and never wrong.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { after, before, describe, it, mock } from 'node:test'
import { getHeapSnapshot } from 'node:v8'
import * as fc from 'fast-check'
import { defaultLimits } from '../../src/http/limits.ts'
import type { Operation } from '../../src/http/operation.ts'
import { createRouter } from '../../src/http/router.ts'
import { plainHeads } from '../../src/http/transport/plain-head.ts'
import { getPath, listPath } from '../support/http-client.ts'
import { isLongRun } from '../support/on-engines.ts'
import { speak } from '../support/raw-socket.ts'

const key = 'pev_La74n6cBwVE0_secret'
const tag = '"a-1-2-x"'
const plain = [
  `GET ${listPath}?page=3&pageSize=100 HTTP/1.1`,
  'Host: feed.example:8080',
  `x-api-key: ${key}`,
  'Accept: application/json',
  'Accept-Encoding: gzip, deflate',
  `If-None-Match: ${tag}`,
  'X-Request-Id: ask-1',
  'X-Forwarded-For: 192.0.2.1',
  'Connection: keep-alive',
  'User-Agent: a client/1.0 (of somebody)',
] as const
const textOf = (lines: readonly string[]) => `${lines.join('\r\n')}\r\n\r\n`
const bytesOf = (text: string) => Buffer.from(text, 'latin1')
const operation = (method: Operation['method'], path: string): Operation => ({
  method,
  path,
  mediaType: 'application/json',
  access: undefined,
  schema: () => ({ operationId: path, summary: '', description: '', tags: [], security: [], response: {} }),
  prepare: () => () => ({ kind: 'none' }),
})
const operations: readonly Operation[] = [
  operation('GET', listPath),
  operation('GET', `${getPath}/:eventId`),
  operation('POST', '/v1/property-events'),
  { ...operation('GET', '/stream'), transport: 'node' },
]
const router = createRouter({ operations, basePath: '', limits: defaultLimits })
const newReader = (limits = defaultLimits) => plainHeads(limits, router)

const payload = '{"payload":{}}'
const publication = [
  'POST /v1/property-events?dryRun=true HTTP/1.1',
  'Host: feed.example:8080',
  `x-api-key: ${key}`,
  'Content-Type: application/json',
  `Content-Length: ${payload.length}`,
  'Accept: */*',
  'X-Request-Id: ask-1',
  'X-Forwarded-For: 192.0.2.1',
  'Connection: keep-alive',
  'User-Agent: a client/1.0 (of somebody)',
] as const

interface Parsed<Method = string | undefined> {
  readonly method: Method
  readonly target: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

function readPlainly(
  reader: ReturnType<typeof newReader>,
  bytes: Buffer,
): Parsed<'GET' | 'POST'> | undefined {
  const read = reader(bytes)
  if (read === undefined) return undefined
  const { method, target, lines, key: given, body } = read
  const headers: Record<string, unknown> = Object.fromEntries(lines.values)
  if (given !== undefined) headers['x-api-key'] = given.toString('latin1')
  if (body !== undefined) headers['content-length'] = body.length
  const { connection = 'keep-alive' } = headers
  assert.equal(lines.closes, String(connection).toLowerCase() === 'close')
  assert.deepEqual(lines.head.hosts, 'host' in headers ? [headers['host']] : [])
  assert.equal(lines.head.headerCount, Object.keys(headers).length)
  return { method, target, headers, body: body?.toString('latin1') ?? '' }
}

describe('a head that is read past the parser', () => {
  /** What the parser made of the bytes since they were sent. */
  let requests: IncomingMessage[] = []
  let body = ''
  let broken = 0
  // Whether a request has a host is not for its reader to say.
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    requests.push(request)
    request.on('data', (bytes: Buffer) => (body += bytes.toString('latin1')))
    request.on('end', () => {
      response.shouldKeepAlive = false
      response.end()
    })
  })
  server.on('clientError', (_error, socket) => {
    broken += 1
    socket.destroy()
  })
  let port = 0
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    port = typeof address === 'object' ? (address?.port ?? 0) : 0
  })
  after(() => server.close())

  async function parse(bytes: Buffer): Promise<Parsed | undefined> {
    requests = []
    body = ''
    broken = 0
    await speak(port, bytes)
    const [request, ...more] = requests
    if (request === undefined || more.length > 0 || broken > 0) return undefined
    const { method, url = '', complete } = request
    assert.ok(complete)
    const headers: Record<string, unknown> = { ...request.headers }
    if ('content-length' in headers) headers['content-length'] = Number(headers['content-length'])
    return { method, target: url, headers, body }
  }

  it('is what clients send, with any of these headers left out, in any order and spelling (D9)', async () => {
    const [line, host, keyLine, ...rest] = plain
    const some = fc.shuffledSubarray([...rest, 'Accept-Language: *', 'sec-fetch-mode: cors', 'X-Empty:'])
    const spelled = fc.tuple(some, fc.boolean()).map(([lines, upper]) => {
      const all = [host, keyLine, ...lines]
      return upper ? all.map((text) => text.replace(/^[^:]+/, (name) => name.toUpperCase())) : all
    })
    await fc.assert(
      fc.asyncProperty(spelled, async (lines) => {
        const bytes = bytesOf(textOf([line, ...lines]))
        const read = readPlainly(newReader(), bytes)
        assert.equal(read?.headers['x-api-key'], key)
        assert.deepEqual(read, await parse(bytes))
      }),
      { numRuns: 50 },
    )
  })

  it('is what the parser reads from the same bytes, however they were broken (D9, P11)', async () => {
    const pieces = [
      ['\r\n', '\n', '\r', ' ', '\t', ':', '\0', '\u0080', '#', ',', ';', '/', '\r\n\r\n', '\r\n '],
      ['Content-Length: 4\r\n', 'Content-Length: 0\r\n', 'Transfer-Encoding: chunked\r\n', 'Expect: x\r\n'],
      ['Host: b\r\n', 'Connection: Upgrade\r\n', 'Upgrade: h2c\r\n', 'Proxy-Connection: close\r\n'],
      [`x-api-key: ${key}\r\n`, 'X-Feed-Min-Sequence: 1\r\n', 'GET / HTTP/1.1\r\n', 'HTTP/1.0', 'body'],
    ]
    // Blanks without end in front of a byte that is not allowed: an expression that tries every division of them stands still.
    const piece = fc.constantFrom(...pieces.flat(), `X:${' '.repeat(15_000)}\0`, `X:${' a'.repeat(7_000)}\0`)
    const whole = fc.constantFrom(textOf(plain), textOf(publication) + payload)
    const change = fc.record({ at: fc.nat(1_000), remove: fc.nat(3), insert: fc.option(piece, { nil: '' }) })
    const broken = fc.tuple(whole, fc.array(change, { maxLength: 3 })).map(([asked, changes]) => {
      let text = asked
      for (const { at, remove, insert } of changes) {
        const place = at % (text.length + 1)
        text = text.slice(0, place) + insert + text.slice(place + remove)
      }
      return text
    })
    const readCounts = { GET: 0, POST: 0 }
    await fc.assert(
      fc.asyncProperty(broken, async (text) => {
        const bytes = bytesOf(text)
        const read = readPlainly(newReader(), bytes)
        if (read === undefined) return
        readCounts[read.method] += 1
        assert.deepEqual(read, await parse(bytes))
      }),
      { numRuns: isLongRun ? 50_000 : 3_000 },
    )
    assert.ok(readCounts.GET > 25 && readCounts.POST > 25, JSON.stringify(readCounts))
  })

  it('has a body only if all of it is there, announced once, and in an unambiguous spelling (D9)', () => {
    const reads = (lines: readonly string[], sent: string = payload) =>
      newReader()(bytesOf(textOf(lines) + sent)) !== undefined
    const without = (name: string) => publication.filter((text) => !text.startsWith(name))
    const length = (text: string) => [...without('Content-Length'), `Content-Length: ${text}`]
    assert.ok(reads(publication))
    assert.ok(reads(length('0'), ''))
    for (const sent of ['', payload.slice(1), `${payload} `]) assert.ok(!reads(publication, sent), sent)
    for (const text of ['', '-14', '+14', '0x0e', '14, 14', '14;', '1 4', '14.0', '1e1', '\xb2'])
      assert.ok(!reads(length(text)), text)
    assert.ok(!reads([...publication, `Content-Length: ${payload.length}`]))
    assert.ok(!reads(without('Content-Length')))
    assert.ok(!reads(without('Content-Length'), ''))
    for (const more of ['Transfer-Encoding: chunked', 'Expect: 100-continue', 'Trailer: X-A'])
      assert.ok(!reads([...publication, more]), more)
    const bytes = bytesOf(textOf(publication) + payload)
    assert.ok(newReader({ ...defaultLimits, maxBodyBytes: payload.length })(bytes))
    assert.ok(!newReader({ ...defaultLimits, maxBodyBytes: payload.length - 1 })(bytes))
  })

  it('is never one of an operation that only Node’s HTTP answers (P5)', () => {
    const reads = (path: string) => newReader()(bytesOf(textOf([`GET ${path} HTTP/1.1`, ...plain.slice(1)])))
    assert.equal(reads('/v1/nothing')?.routed.route, 'none')
    assert.equal(reads(listPath)?.routed.route, listPath)
    for (const path of ['/stream', '/stream?page=1', '/%73tream', 'http://feed.example/stream'])
      assert.equal(reads(path), undefined, path)
  })

  it('is never one that wants more than a read, or says it in another version of HTTP (D9)', () => {
    const [line, ...rest] = plain
    const withLine = (more: string) =>
      textOf([line, ...rest.filter((text) => !text.startsWith('Connection')), more])
    assert.ok(newReader()(bytesOf(withLine('Connection: Close')))?.lines.closes)
    const framing = [
      'Content-Length: 0',
      'Transfer-Encoding: chunked',
      'Expect: 100-continue',
      'Trailer: X-A',
    ]
    const hops = [
      'Upgrade: h2c',
      'Connection: Upgrade',
      'Connection: close, x',
      'Connection:',
      'Proxy-Connection: a',
    ]
    const others = ['Host: other', `x-api-key: ${key}`, 'Accept: text/html', 'X-A : 1', 'X-A: 1\r\n 2', 'X-A']
    for (const more of [...framing, ...hops, ...others])
      assert.equal(newReader()(bytesOf(withLine(more))), undefined, more)
    for (const version of ['HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'http/1.1', 'HTTP/1.1 ', '']) {
      const other = line.replace('HTTP/1.1', version)
      assert.equal(newReader()(bytesOf(textOf([other, ...rest]))), undefined, version)
    }
  })

  it('is the same whether the head before it on the connection was like it or not (D9)', () => {
    // Of the same length, so that only what they say tells them apart.
    const ids = ['X-Request-Id: ask-1', 'X-Request-Id: ask-2', 'X-Request-Id:\tsk-1', 'X-Request-Id : sk-1']
    const rest = ['If-None-Match: "a1"', 'If-None-Match: "a2"', 'Connection: close  ', 'Content-Length: 100']
    const ofBodies = ['Content-Length: 14', 'Content-Length: 15', 'Content-Length: 1x', 'Content-Length: 14 ']
    const types = ['Content-Type: application/json', 'Content-Type: application/j-on']
    const words = fc.constantFrom(...ids, ...rest, ...ofBodies, ...types)
    const lines = fc.record({
      line: fc.constantFrom(
        plain[0],
        `GET ${listPath} HTTP/1.1`,
        `GET ${getPath}/x HTTP/1.1`,
        'GET / HTTP/1.1',
        publication[0],
      ),
      body: fc.constantFrom('', payload, `${payload} `),
      host: fc.constantFrom(plain[1], plain[1].replace(':', '/')),
      before: fc.array(words, { maxLength: 3 }),
      key: fc.constantFrom(
        plain[2],
        plain[2].replace('secret', 'terces'),
        plain[2].replace('secret', 'a\r\nb:c'),
      ),
      behind: fc.array(words, { maxLength: 3 }),
    })
    // Most are plain: what is compared otherwise is nothing with nothing.
    const benign = fc.constantFrom(...ids.slice(0, 2), ...rest.slice(0, 2))
    const plainLines = fc.record({
      line: fc.constantFrom(plain[0], `GET ${listPath} HTTP/1.1`, `GET ${getPath}/x HTTP/1.1`),
      body: fc.constant(''),
      host: fc.constant(plain[1]),
      before: fc.uniqueArray(benign, { maxLength: 2, selector: (each) => each.split(':')[0] }),
      key: fc.constantFrom(plain[2], plain[2].replace('secret', 'terces')),
      behind: fc.constant([]),
    })
    const mixed = fc.oneof({ weight: 2, arbitrary: plainLines }, lines)
    let readAgain = 0
    fc.assert(
      fc.property(fc.array(mixed, { minLength: 2, maxLength: 6 }), (heads) => {
        const reader = newReader()
        for (const { line, host, before, key, behind, body } of heads) {
          const bytes = bytesOf(textOf([line, host, ...before, key, ...behind]) + body)
          const fresh = readPlainly(newReader(), bytes)
          const read = readPlainly(reader, bytes)
          assert.deepEqual(read, fresh)
          if (read !== undefined) readAgain += 1
        }
      }),
      { numRuns: 5_000 },
    )
    assert.ok(readAgain > 5_000, `only ${readAgain} heads were plain`)
  })

  it('is not kept with its key (D11)', () => {
    const reader = newReader()
    const bytes = bytesOf(textOf(plain))
    const making = mock.method(Buffer, 'from')
    const read = reader(bytes)
    making.mock.restore()
    assert.ok(read)
    const kept = making.mock.calls.map(({ result }) => String(result))
    assert.ok(kept.some((text) => text.includes('User-Agent')))
    for (const text of kept) assert.ok(!text.includes(key))
  })

  it('is remembered without the text that its key stood in (D11)', async () => {
    const reader = newReader()
    // Made of bytes and sent as bytes: no text of this test's own has it.
    const secret = Buffer.from(randomBytes(16).toString('hex'), 'latin1')
    const [before, behind] = textOf(plain)
      .replace('ask-1', 'ask-by-somebody-1')
      .replace('192.0.2.1', '192.0.2.1, 192.0.2.17')
      .replace(tag, `"${'a-tag'.repeat(4)}"`)
      .split('secret')
    const bytes = Buffer.concat([bytesOf(before ?? ''), secret, bytesOf(behind ?? '')])
    assert.ok(reader(bytes))
    // The engine remembers the text that an expression matched last.
    assert.match('other text', /text/)
    const snapshot: Buffer[] = []
    for await (const chunk of getHeapSnapshot()) snapshot.push(Buffer.from(chunk))
    const held = Buffer.concat(snapshot)
    assert.ok(held.includes('ask-by-somebody-1'))
    assert.ok(!held.includes(secret))
    assert.ok(reader(bytes))
  })

  it('is not plain if it is longer, or has more lines, than the service allows (D9)', () => {
    const lines = (count: number) => Array.from({ length: count }, (_, index) => `X-${index}: 1`)
    const reads = (more: readonly string[]) => newReader()(bytesOf(textOf([...plain, ...more]))) !== undefined
    assert.ok(reads(lines(defaultLimits.maxHeaders - plain.length + 1)))
    assert.ok(!reads(lines(defaultLimits.maxHeaders - plain.length + 2)))
    assert.ok(!reads([`X-A: ${'x'.repeat(defaultLimits.maxHeaderBytes)}`]))
  })
})
