/** The PHP example with servers that send too much, payloads that cannot be read, and connections that cannot be trusted. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { FeedEvent } from '../packages/client/src/index.ts'
import {
  eventOf,
  eventsOf,
  ownReadsOver,
  pagesOver,
  urlOf,
} from '../packages/client/test/support/small-feed.ts'
import { answerAs, copied, folderFor, listening, serving, withPhp } from './php-runner.ts'

const isLong = process.env['PROPERTY_EVENTS_TEST_LONG'] !== undefined
const words = 'Tŷ Gwyn – £450 🏡 בית'
const withPayload = (event: FeedEvent, payload: unknown): FeedEvent => ({
  ...event,
  payload: payload as string,
})
/** More than a copy of this size needs. */
const mostMiB = 72

/** Sends `head`, and then the same piece for as long as somebody takes it, 2 GB at most. */
function withoutEnd(head: string, piece: string) {
  return (response: ServerResponse) => {
    response.write(head)
    let left = (2 * 2 ** 30) / piece.length
    const more = () => {
      while ((left -= 1) > 0 && !response.destroyed) {
        if (!response.write(piece)) {
          response.once('drain', more)
          return
        }
      }
      response.end()
    }
    response.on('error', () => undefined)
    more()
  }
}

/** A server that sends this to whoever asks for this path, and answers the rest as `feed` does. */
async function hostile(
  context: TestContext,
  path: string,
  send: (response: ServerResponse) => void,
  headers: Readonly<Record<string, string>> = {},
) {
  const rest = path.startsWith('/v1') ? ownReadsOver(feedOf(3)) : pagesOver(() => eventsOf(3))
  const server = createServer((request, response) => {
    response.on('error', () => undefined)
    if ((request.url ?? '').startsWith(path)) {
      response.writeHead(200, { 'content-type': 'application/json', ...headers })
      send(response)
      return
    }
    void answerAs(rest, request, response)
  })
  context.after(() => server.closeAllConnections())
  return `http://127.0.0.1:${await listening(context, server)}`
}

const feedOf = (count: number) => () => ({ tenantId: 't', epoch: 'a', events: eventsOf(count) })
const list = '/api/func/api/v1/events/getevents'
const snapshot = '/v1/property-events/snapshot'
const snapshotHead = { 'x-feed-head': '3', 'x-feed-epoch': 'a', 'x-feed-revision': '0' }
const megabyte = 'y'.repeat(2 ** 20)
const event = JSON.stringify(eventOf(1, 'p1'))

describe('the PHP example keeps no more than it needs of what a server sends', () => {
  const cases: readonly (readonly [string, string, (response: ServerResponse) => void, RegExp])[] = [
    ['a line without end', snapshot, withoutEnd('{"id":"', megabyte), /a line than 4 MB/],
    ['a page without end', list, withoutEnd('{"items":[{"payload":"', megabyte), /more than 24 MB/],
    ['events without end', list, withoutEnd('{"items":[', `${event},`.repeat(1_000)), /more than 24 MB/],
    ['heads without end', '/v1/heads', withoutEnd('{"heads":["', megabyte), /more than 24 MB/],
    [
      'a page of lists in lists',
      list,
      (response) => response.end(`{"items":[${'[0],'.repeat(5_000_000)}0]}`),
      /more parts than it can have/,
    ],
    ['blanks without end', list, withoutEnd('', ' '.repeat(2 ** 20)), /more than 24 MB/],
  ]
  for (const [what, path, send, sentence] of cases) {
    it(`${what}: it stops`, withPhp, async (context) => {
      const url = await hostile(context, path, send, path === snapshot ? snapshotHead : {})
      const ended = await copied(folderFor(context), url, { ATTEMPTS: '2' })
      assert.equal(ended.code, 1)
      assert.match(ended.words, sentence)
      assert.ok(ended.peakMiB < mostMiB, `${ended.peakMiB} MiB`)
    })
  }

  it('payloads that become large when they are read: their homes are odd', withPhp, async (context) => {
    const bomb = `{"agent_ref":"p2","x":[${'[0],'.repeat(60_000)}0]}`
    const long = `{"agent_ref":"p2","x":"${'y'.repeat(600 * 1024)}"}`
    for (const payload of [bomb, long]) {
      const events = Array.from({ length: 20 }, (_, index) =>
        withPayload(eventOf(index + 1, `p${index + 1}`), payload.replaceAll('p2', `p${index + 1}`)),
      )
      const own = ownReadsOver(() => ({
        tenantId: 't',
        epoch: 'a',
        events: [...events, eventOf(21, 'last')],
      }))
      const ended = await copied(folderFor(context), await serving(context, own))
      assert.equal(ended.code, 0, ended.words.slice(0, 500))
      assert.ok(ended.properties['last'] !== undefined)
      assert.ok(ended.peakMiB < mostMiB, `${ended.peakMiB} MiB`)
    }
  })

  it('headers without end, in one line and in many', withPhp, async (context) => {
    for (const piece of ['y'.repeat(2 ** 16), `x: ${'y'.repeat(500)}\r\n`.repeat(100)]) {
      const server = createTcpServer((socket) => {
        socket.on('error', () => undefined)
        socket.write('HTTP/1.1 200 OK\r\na: b')
        if (piece.startsWith('x')) socket.write('\r\n')
        const more = () => {
          while (!socket.destroyed && socket.write(piece));
          if (!socket.destroyed) socket.once('drain', more)
        }
        more()
      })
      const url = `http://127.0.0.1:${await listening(context, server)}`
      const ended = await copied(folderFor(context), url)
      assert.equal(ended.code, 1)
      assert.match(ended.words, /headers are longer than 64 KB/)
      assert.ok(ended.peakMiB < 16, `${ended.peakMiB} MiB`)
    }
  })

  it('a compressed answer that nobody asked for is not unpacked', withPhp, async (context) => {
    const packed = gzipSync(Buffer.alloc(200 * 2 ** 20))
    const url = await hostile(context, list, (response) => response.end(packed), {
      'content-encoding': 'gzip',
    })
    const ended = await copied(folderFor(context), url, { ATTEMPTS: '1' })
    assert.equal(ended.code, 1)
    assert.ok(ended.peakMiB < mostMiB, `${ended.peakMiB} MiB`)
  })

  it('reads what comes in chunks, however they are cut', withPhp, async (context) => {
    const home = { agent_ref: 'p1', published: true, details: { description: words.repeat(500) } }
    const body = JSON.stringify({
      items: [withPayload(eventOf(1, 'p1'), JSON.stringify(home))],
      page: 1,
      pageSize: 100,
      availableCount: 1,
      totalPages: 1,
    })
    const url = await hostile(context, list, (response) => {
      const bytes = Buffer.from(body)
      for (let from = 0; from < bytes.length; from += 777) response.write(bytes.subarray(from, from + 777))
      response.end()
    })
    const ended = await copied(folderFor(context), url)
    assert.deepEqual([ended.code, ended.properties['p1']?.payload], [0, home])
  })

  it(
    'refuses an event of another tenant wherever it stands, on a page, in a run and in a snapshot',
    withPhp,
    async (context) => {
      const mixed = eventsOf(9).map((one, index) => (index === 6 ? { ...one, tenantId: 'other' } : one))
      const began = feedOf(3)()
      const own = () => ownReadsOver(() => ({ tenantId: 't', epoch: 'a', events: mixed }))
      for (const feed of [pagesOver(() => mixed), own()]) {
        const ended = await copied(folderFor(context), await serving(context, feed))
        assert.equal(ended.code, 1)
        assert.match(ended.words, /event 7 of tenant other/)
        assert.equal(ended.properties['p7'], undefined)
      }
      const folder = folderFor(context)
      assert.equal(
        (
          await copied(
            folder,
            await serving(
              context,
              ownReadsOver(() => began),
            ),
          )
        ).code,
        0,
      )
      const later = await copied(folder, await serving(context, own()))
      assert.match(later.words, /event 7 of tenant other/)
      assert.equal(Object.keys(later.properties).length, 3)
    },
  )
})

describe('of a home whose payload cannot be read, the PHP example', () => {
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  const home = (fields: string) => `{"agent_ref":"p2","published":true,${fields}}`
  /** Payloads, and what the copy holds of each: nothing, or the value of `price`. */
  const odd: readonly (readonly [string, unknown])[] = [
    ['a null', null],
    ['the text null', 'null'],
    ['an empty text', ''],
    ['JSON that was written twice', JSON.stringify(home('"price":1'))],
    ['a list', '[1]'],
    ['a number', '5'],
    ['513 levels', home(`"x":${deep(513)}`)],
    ['5,000 levels', home(`"x":${deep(5_000)}`)],
    ['JSON that is cut off', home('"price":1').slice(0, -4)],
  ]
  const mended: readonly (readonly [string, string, unknown])[] = [
    ['a number that is infinite', home('"price":1e400,"text":"1e400"'), null],
    ['one that is written out', home(`"price":-${'9'.repeat(400)}`), null],
    [
      'half of a surrogate pair',
      home(`"price":"\\ud83c ${words} \\\\ud83c \\ud83c\\udfe1"`),
      `\ufffd ${words} \\ud83c 🏡`,
    ],
    ['bytes that are no UTF-8', home('"price":"\ud800"'), '\ufffd'],
  ]

  /** Twelve homes, the second of which has this payload: in the service's own reads or in the list, and after a first read of good ones or without. */
  async function read(
    context: TestContext,
    way: 'own reads' | 'pages',
    payload: unknown,
    hasBefore: boolean,
  ) {
    const folder = folderFor(context)
    const good = eventsOf(12)
    const feed = (events: readonly FeedEvent[], epoch: string) =>
      way === 'pages' ? pagesOver(() => events) : ownReadsOver(() => ({ tenantId: 't', epoch, events }))
    const spoiled = withPayload(eventOf(13, 'p2'), payload)
    if (hasBefore) assert.equal((await copied(folder, await serving(context, feed(good, 'a')))).code, 0)
    // Another epoch has the whole feed read again.
    const events = [...good.filter(({ sequenceNumber }) => sequenceNumber !== 2), spoiled]
    return copied(folder, await serving(context, feed(events, 'b')))
  }

  for (const way of ['own reads', 'pages'] as const) {
    it(`keeps what it has, copies all others and says why, by ${way}`, withPhp, async (context) => {
      for (const [what, payload] of odd) {
        for (const hasBefore of isLong ? [true, false] : [true]) {
          const { code, words: said, properties } = await read(context, way, payload, hasBefore)
          assert.equal(code, 0, `${what}: ${said}`)
          assert.equal(Object.keys(properties).length, hasBefore ? 12 : 11, what)
          assert.match(said, /^p2 is left as it is: The payload /m, what)
        }
      }
    })
  }

  it(
    'copies it without the value that no copy could hold, and all others whole',
    withPhp,
    async (context) => {
      for (const [what, payload, price] of mended) {
        const { code, words: said, properties } = await read(context, 'own reads', payload, false)
        assert.equal(code, 0, `${what}: ${said}`)
        assert.equal(Object.keys(properties).length, 12, what)
        assert.deepEqual(
          Object.entries(properties['p2']?.payload ?? {}).find(([name]) => name === 'price'),
          ['price', price],
          what,
        )
      }
    },
  )

  it('takes payloads that are objects and not texts, whatever is in them', withPhp, async (context) => {
    const page = (payload: string) =>
      `{"items":[${JSON.stringify(eventOf(1, 'p1'))},{"id":"e2","sequenceNumber":2,"eventType":0,"transactionId":"p2","createdDate":"","payload":${payload}}],"page":1,"pageSize":100,"availableCount":2,"totalPages":1}`
    for (const [payload, count] of [
      [home('"price":1e400'), 2],
      [home('"price":"\\ud800"'), 2],
      [home(`"x":${deep(600)}`), 1],
      ['null', 1],
    ] as const) {
      const feed: typeof fetch = async (input) =>
        urlOf(input).pathname.endsWith('/getevents')
          ? new Response(page(payload))
          : new Response('no', { status: 404 })
      const { code, words: said, properties } = await copied(folderFor(context), await serving(context, feed))
      assert.equal(code, 0, said)
      assert.equal(Object.keys(properties).length, count, payload.slice(0, 40))
    }
  })

  it('still removes it where the event says so, with no payload to read', withPhp, async (context) => {
    const events = [...eventsOf(3), withPayload(eventOf(4, 'p2', { published: false }), null)]
    const own = ownReadsOver(() => ({ tenantId: 't', epoch: 'a', events }))
    const { code, properties } = await copied(folderFor(context), await serving(context, own))
    assert.deepEqual([code, Object.keys(properties)], [0, ['p1', 'p3']])
  })
})

describe('a connection that the PHP example cannot trust ends it at once, and it says why', () => {
  const make = (folder: string, ...words: readonly string[]) => {
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const { status, stderr } = spawnSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-keyout',
        key,
        '-out',
        certificate,
        '-subj',
        '/CN=feed',
        ...words,
      ],
      { encoding: 'utf8' },
    )
    assert.equal(status, 0, stderr)
    return { key: readFileSync(key), cert: readFileSync(certificate), path: certificate }
  }
  const withTls = {
    skip:
      withPhp.skip ||
      (spawnSync('openssl', ['version']).status === 0 ? false : 'openssl is not installed here: not tried'),
  }

  async function refused(url: string, folder: string, sentence: RegExp, start: readonly string[] = []) {
    const environment = { SSL_CERT_FILE: start[0] ?? '/dev/null' }
    // Eight attempts would take half a minute and more.
    const began = process.hrtime.bigint()
    const { code, words: said } = await copied(folder, url, environment)
    assert.equal(code, 1)
    assert.match(said, sentence)
    assert.doesNotMatch(said, /was tried/)
    assert.ok(process.hrtime.bigint() - began < 10_000_000_000n)
  }

  it('a certificate of nobody, one that is over, and one of another name', withTls, async (context) => {
    const folder = folderFor(context)
    let asked = 0
    const at = async (files: { readonly key: Buffer; readonly cert: Buffer }) => {
      const server = createTlsServer(files, (_, response) => {
        asked += 1
        response.end('{}')
      })
      return `https://127.0.0.1:${await listening(context, server)}`
    }
    const own = make(folder, '-days', '30', '-addext', 'subjectAltName=IP:127.0.0.1')
    await refused(
      await at(own),
      folder,
      /certificate that cannot be verified: it is signed by nobody but itself/,
    )
    const ended = join(folder, 'ended.pem')
    const again = ['x509', '-in', own.path, '-signkey', join(folder, 'key.pem'), '-days', '-1', '-out', ended]
    assert.equal(spawnSync('openssl', again).status, 0)
    const over = { key: own.key, cert: readFileSync(ended) }
    await refused(await at(over), folder, /cannot be verified: it expired on \d{4}-\d\d-\d\d/)
    const other = make(folder, '-days', '30', '-addext', 'subjectAltName=DNS:other.example.com')
    await refused(await at(other), folder, /cannot be verified: it was made for another name/, [other.path])
    assert.equal(asked, 0, 'no key goes there')
  })

  it('a port that does not speak TLS, and a name that no host has', withTls, async (context) => {
    const folder = folderFor(context)
    const plain = createServer((_, response) => void response.end('{}'))
    await refused(
      `https://127.0.0.1:${await listening(context, plain)}`,
      folder,
      /does not speak TLS as it should: .*https:\/\/ and the port are right/,
    )
    await refused('https://no-such-host.invalid', folder, /no host with the name no-such-host\.invalid/)
  })
})
