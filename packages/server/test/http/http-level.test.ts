/** Below what HTTP clients let one send: bytes on a socket. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { it } from 'node:test'
import {
  call,
  contactGetPath,
  contactListPath,
  getPath,
  listPath,
  problemOf,
  publish,
} from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'
import { collect, head, open, speak } from '../support/raw-socket.ts'

onEngines(
  'HTTP',
  {
    byNode: true,
    limits: { maxBodyBytes: 20_000, headersTimeoutMs: 1_200, requestTimeoutMs: 2_400, timeoutCheckMs: 100 },
  },
  (service) => {
    const key = () => `x-api-key: ${service().tenant.readKey}`
    const publishLines = () => [`x-api-key: ${service().tenant.publishKey}`, 'Content-Type: application/json']
    const say = (request: string, waitMs?: number) =>
      speak(service().port, request, waitMs === undefined ? {} : { waitMs })
    const statusesOf = (text: string) =>
      [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))
    const bodyOf = (text: string) => problemOf({ text: text.slice(text.indexOf('\r\n\r\n') + 4) })

    it('keeps a connection after refusing a body that came with its head (D9)', async () => {
      const refused = head('POST /v1/property-events HTTP/1.1', 'Content-Length: 2', 'X-A: \u00e9') + '{}'
      // The first request takes its connection to Node's HTTP; the second is then read from the socket by Node itself.
      const socket = await open(service().port)
      const answered = collect(socket, { until: (text) => statusesOf(text).length === 2 })
      socket.write(Buffer.from(refused, 'latin1'))
      await once(socket, 'data')
      socket.write(Buffer.from(refused, 'latin1'))
      const { text } = await answered
      assert.deepEqual(statusesOf(text), [401, 401])
      assert.equal(/^connection: close/im.test(text), false)
    })

    for (const [name, request] of [
      ['a NUL in a header', head(`GET ${listPath} HTTP/1.1`, 'X-A: a\0b')],
      ['no header name', head(`GET ${listPath} HTTP/1.1`, ': x')],
      ['a raw byte in the path', head(`GET ${listPath}\u00ff HTTP/1.1`)],
      ['a space in the target', head(`GET ${listPath} ${listPath} HTTP/1.1`)],
      ['a method of its own', head(`GETT ${listPath} HTTP/1.1`)],
      ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
      ['two Hosts', `GET ${listPath} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`],
      ['no Host', `GET ${listPath} HTTP/1.1\r\nX-A: 1\r\n\r\n`],
      ['a Host that is none', `GET ${listPath} HTTP/1.1\r\nHost: a/b@c\r\n\r\n`],
    ] as const) {
      it(`refuses ${name} with 400 and closes the connection (D9, P11)`, async () => {
        const answer = await say(request)
        assert.equal(answer.status, 400, answer.text)
        assert.ok(answer.closed)
        assert.match(answer.text, /^connection: close/im)
        assert.equal(bodyOf(answer.text).status, 400)
        assert.equal(answer.text.match(/HTTP\/1\.1 /g)?.length, 1)
      })
    }

    it('answers HTTP/1.0 as the last of its connection, and refuses HTTP before it and after 1.1 (D9)', async () => {
      for (const lines of ['', 'Host: a\r\n', 'Connection: keep-alive\r\n']) {
        const answer = await say(`GET ${listPath} HTTP/1.0\r\n${lines}${key()}\r\n\r\n`)
        assert.equal(answer.status, 200, answer.text)
        assert.match(answer.text, /^connection: close\r$/im)
        assert.ok(answer.closed)
      }
      for (const request of [
        `GET ${listPath}\r\n\r\n`,
        head(`GET ${listPath} HTTP/2.0`),
        head(`GET ${listPath} HTTP/9.9`),
      ]) {
        const answer = await say(request)
        assert.ok([400, 505].includes(answer.status), answer.text)
        assert.ok(answer.closed)
      }
      assert.equal((await say(head(`GET ${listPath} HTTP/1.2`))).status, 505)
    })

    it('refuses a fragment in the target (D9)', async () => {
      const answer = await say(head(`GET ${listPath}#top HTTP/1.1`, key(), 'Connection: close'))
      assert.equal(answer.status, 400)
      assert.equal(bodyOf(answer.text).code, 'invalid_target')
    })

    it('serves an absolute target by its path, whatever host it names (D9)', async () => {
      const answer = await say(
        head(`GET http://elsewhere.example${listPath}?pageSize=1 HTTP/1.1`, key(), 'Connection: close'),
      )
      assert.equal(answer.status, 200)
      const problem = await say(head('GET http://elsewhere.example/nope HTTP/1.1', 'Connection: close'))
      assert.equal(bodyOf(problem.text).instance, '/nope')
    })

    it('answers 405 with Allow to a method the path does not have, and never runs it (D9)', async () => {
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND', 'PURGE', 'QUERY']) {
        for (const path of [listPath, `${getPath}/x`, listPath.toUpperCase()]) {
          const answer = await say(head(`${method} ${path} HTTP/1.1`, 'Connection: close'))
          assert.equal(answer.status, 405, `${method} ${path}`)
          assert.match(answer.text, /^allow: GET, HEAD, OPTIONS\r$/im)
        }
      }
      for (const method of ['PUT', 'DELETE', 'PATCH']) {
        const answer = await call(service(), '/v1/property-events', { method })
        assert.equal(answer.status, 405)
        assert.equal(answer.headers.allow, 'GET, HEAD, POST, OPTIONS')
      }
      const connect = await say(head('CONNECT 127.0.0.1:80 HTTP/1.1'))
      assert.ok(connect.closed && (connect.status === 0 || connect.status >= 400))
    })

    it('answers OPTIONS with 204 and Allow, without a key and without CORS (D9)', async () => {
      for (const [path, allow] of [
        [listPath, 'GET, HEAD, OPTIONS'],
        ['/v1/contact-events', 'GET, HEAD, POST, OPTIONS'],
        ['/openapi.json', 'GET, HEAD, OPTIONS'],
        ['/v1/admin/keys/x', 'GET, HEAD, PATCH, OPTIONS'],
        ['*', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
      ] as const) {
        const answer = await say(
          head(
            `OPTIONS ${path} HTTP/1.1`,
            'Origin: https://example.org',
            'Access-Control-Request-Method: GET',
            'Connection: close',
          ),
        )
        assert.equal(answer.status, 204, path)
        assert.match(answer.text, new RegExp(`^allow: ${allow}\r$`, 'im'))
        assert.doesNotMatch(answer.text, /access-control/i)
      }
      assert.equal((await call(service(), '/nope', { method: 'OPTIONS' })).status, 404)
    })

    it('answers 404 with a hint to a slash too many, and plainly to anything else (D9)', async () => {
      for (const path of [`${listPath}/`, `${listPath.toUpperCase()}/`, '/v1/heads/']) {
        const hinted = problemOf(await call(service(), path, { key: service().tenant.readKey }))
        assert.equal(hinted.code, 'path_not_found')
        assert.match(hinted.detail, /Leave out the slash/)
      }
      for (const path of [
        '/nope',
        '//',
        `/x${listPath}`,
        '/v1',
        '/api/func/api/v2/events/getevents',
        '/%2e%2e/%2e%2e/etc/passwd',
        '/.env',
        listPath.replaceAll('/', '//'),
        '/__proto__',
        '/v1/property-events/x',
        '/V1/HEADS',
        '/V1/HEADS/',
      ]) {
        const answer = await call(service(), path, { key: service().tenant.readKey })
        assert.equal(answer.status, 404, path)
        assert.doesNotMatch(problemOf(answer).detail, /slash/, path)
        assert.equal(answer.headers['content-type'], 'application/json')
      }
    })

    it('refuses too many or too large headers with 431, and a long target with 414 or 431 (D9)', async () => {
      const many = Array.from({ length: 3_000 }, (_, index) => `a${index}: 1`)
      for (const lines of [many, many.slice(0, 101), [`X-A: ${'x'.repeat(20_000)}`]]) {
        const answer = await say(head(`GET ${listPath} HTTP/1.1`, key(), 'Connection: close', ...lines))
        assert.equal(answer.status, 431)
        assert.equal(bodyOf(answer.text).code, 'headers_too_large')
      }
      assert.equal(
        (await say(head(`GET ${listPath} HTTP/1.1`, key(), 'Connection: close', ...many.slice(0, 90))))
          .status,
        200,
      )
      const long = await say(
        head(`GET ${listPath}?x=${'x'.repeat(8_000)} HTTP/1.1`, key(), 'Connection: close'),
      )
      assert.equal(long.status, 414)
      assert.equal(bodyOf(long.text).code, 'target_too_long')
      assert.ok(
        [414, 431].includes((await say(head(`GET ${listPath}?x=${'x'.repeat(20_000)} HTTP/1.1`))).status),
      )
      // A path is told by its length, without a look at what it says: to decode all of it takes longer than to answer.
      for (const [path, status, code] of [
        [`/${'%25'.repeat(400)}`, 414, 'target_too_long'],
        [`/v1/property-events/${'x'.repeat(1_500)}`, 414, 'target_too_long'],
        [`http://a/v1/property-events/${'%zz'.repeat(500)}?x=1`, 414, 'target_too_long'],
        [`/${'x'.repeat(900)}?x=${'x'.repeat(6_000)}`, 404, 'path_not_found'],
      ] as const) {
        const answer = await say(head(`GET ${path} HTTP/1.1`, key(), 'Connection: close'))
        assert.equal(answer.status, status, path)
        assert.equal(bodyOf(answer.text).code, code)
      }
    })

    it('cuts off headers that come too slowly with 408 (D9)', async () => {
      const socket = await open(service().port)
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n')
      const drip = setInterval(() => socket.write('x'), 50)
      const answer = await collect(socket, { waitMs: 10_000 })
      clearInterval(drip)
      assert.equal(answer.status, 408)
      assert.ok(answer.closed)
      assert.equal(bodyOf(answer.text).code, 'request_timeout')
    })

    it('refuses a body over the limit without reading the rest, declared or chunked (D9)', async () => {
      const declared = await say(
        head('POST /v1/property-events HTTP/1.1', ...publishLines(), 'Content-Length: 20001'),
      )
      assert.equal(declared.status, 413)
      assert.equal(bodyOf(declared.text).code, 'body_too_large')
      assert.ok(declared.closed)
      const chunk = `5000\r\n${' '.repeat(0x5000)}\r\n`
      const chunked = await say(
        head('POST /v1/property-events HTTP/1.1', ...publishLines(), 'Transfer-Encoding: chunked') + chunk,
      )
      assert.equal(chunked.status, 413)
      assert.ok(chunked.closed)
      const huge = await say(
        head('POST /v1/property-events HTTP/1.1', ...publishLines(), 'Content-Length: 99999999999999'),
      )
      assert.equal(huge.status, 413)
      const body = JSON.stringify({ payload: property() }).padEnd(20_000)
      const exact = await call(service(), '/v1/property-events', {
        method: 'POST',
        key: service().tenant.publishKey,
        headers: { 'content-type': 'application/json' },
        body,
      })
      assert.equal(exact.status, 201)
    })

    it('gets its answer through to a client that is still sending a body nobody wants (D9)', async () => {
      const body = Buffer.alloc(8_000_000, 32)
      for (const [key, status] of [
        [service().tenant.publishKey, 413],
        ['nonsense', 401],
      ] as const) {
        const socket = await open(service().port)
        socket.write(
          head(
            'POST /v1/property-events HTTP/1.1',
            `x-api-key: ${key}`,
            'Content-Type: application/json',
            `Content-Length: ${body.length}`,
          ),
        )
        socket.write(body)
        const answer = await collect(socket)
        assert.equal(answer.status, status)
        assert.ok(answer.text.endsWith('}'))
      }
    })

    for (const [name, tail, status] of [
      ['a method of its own', head('BREW / HTTP/1.1'), 400],
      ['no HTTP at all', 'xxxxx', 400],
      ['a broken header', `GET ${listPath} HTTP/1.1\r\nbad header\r\n\r\n`, 400],
    ] as const) {
      it(`answers the requests before ${name}, and only then refuses that (D9, P11)`, async () => {
        const body = JSON.stringify({ payload: property() })
        const publish = head(
          'POST /v1/property-events HTTP/1.1',
          ...publishLines(),
          `Content-Length: ${body.length}`,
        )
        const stored = await say(publish + body + tail)
        assert.deepEqual(statusesOf(stored.text), [201, status])
        assert.ok(stored.closed)
        const list = head(`GET ${listPath}?pageSize=1 HTTP/1.1`, key())
        const twice = await say(list + list + tail)
        assert.deepEqual(statusesOf(twice.text), [200, 200, status])
        assert.ok(twice.closed)
      })
    }

    it('answers a request that is the last by its own word, and nothing behind it (D9)', async () => {
      const body = JSON.stringify({ payload: property() })
      const publish = head(
        'POST /v1/property-events HTTP/1.1',
        ...publishLines(),
        `Content-Length: ${body.length}`,
        'Connection: close',
      )
      const answer = await say(publish + body + head(`GET ${listPath}?pageSize=1 HTTP/1.1`, key()))
      assert.deepEqual(statusesOf(answer.text), [201])
      assert.ok(answer.closed)
    })

    it('refuses chunk extensions without end (D9)', async () => {
      const answer = await say(
        head('POST /v1/property-events HTTP/1.1', ...publishLines(), 'Transfer-Encoding: chunked') +
          `1;${'x'.repeat(100_000)}`,
      )
      assert.ok(answer.status >= 400 && answer.status < 500)
      assert.ok(answer.closed)
    })

    it('asks for a body only if it wants it, and knows no other expectation (D9)', async () => {
      const expecting = (lines: readonly string[]) =>
        head('POST /v1/property-events HTTP/1.1', ...lines, 'Expect: 100-continue', 'Content-Length: 100')
      const wanted = await speak(service().port, expecting(publishLines()), {
        until: (text) => text.includes('\r\n\r\n'),
      })
      assert.match(wanted.text, /^HTTP\/1\.1 100 Continue/)
      const unwanted = await say(expecting(['Content-Type: application/json']), 300)
      assert.equal(unwanted.status, 401)
      assert.doesNotMatch(unwanted.text, / 100 /)
      const odd = await say(head(`GET ${listPath} HTTP/1.1`, key(), 'Expect: foo', 'Connection: close'))
      assert.equal(odd.status, 417)
      assert.equal(bodyOf(odd.text).code, 'expectation_failed')
    })

    const refusals = [
      'text/plain',
      'text/xml',
      'text/html, text/*',
      'application/json;q=0',
      '*/*;q=0',
      'application/*;q=0.0, text/html',
      'application/json;q=0, */*',
    ]

    it('sends JSON from the contract’s operations whatever Accept says (D9)', async () => {
      const { events } = await publish(service(), { payload: property() })
      const other = await publish(service(), { payload: contact() }, { feed: 'contact' })
      const paths = [
        listPath,
        contactListPath,
        `${getPath}/${events[0]?.id}`,
        `${contactGetPath}/${other.events[0]?.id}`,
      ]
      for (const path of paths.flatMap((one) => [one, one.replace('/api/', '/API/')])) {
        for (const accept of refusals) {
          const answer = await call(service(), path, { key: service().tenant.readKey, headers: { accept } })
          assert.equal(answer.status, 200, `${path} ${accept}: ${answer.text}`)
          assert.equal(answer.headers['content-type'], 'application/json')
        }
        const refused = await call(service(), path, { headers: { accept: 'text/plain' } })
        assert.equal(refused.status, 401)
      }
    })

    it('answers 406 on our own routes when JSON is refused, and JSON to everybody else (D9)', async () => {
      const list = (accept: string) =>
        call(service(), '/v1/property-events?after=0', { key: service().tenant.readKey, headers: { accept } })
      for (const accept of refusals) {
        const answer = await list(accept)
        assert.equal(answer.status, 406, accept)
        assert.equal(problemOf(answer).code, 'not_acceptable')
      }
      for (const accept of [
        '*/*',
        'application/*',
        'APPLICATION/JSON',
        'text/html, */*;q=0.1',
        '',
        'application/json; charset=utf-8',
        'text/xml;q=0.9, application/json;q=0.001',
        '*/*;q=0, application/json',
      ]) {
        assert.equal((await list(accept)).status, 200, accept)
      }
      assert.equal((await call(service(), '/docs', { headers: { accept: 'application/json' } })).status, 406)
    })

    it('survives clients that go away in the middle (P11)', async () => {
      await Promise.all(
        Array.from({ length: 30 }, async (_, index) => {
          const socket = await open(service().port)
          socket.on('error', () => undefined)
          socket.write(head(`GET ${listPath} HTTP/1.1`, key()).slice(0, 40 + index * 10))
          if (index % 2 === 0)
            socket.write(
              head('POST /v1/property-events HTTP/1.1', ...publishLines(), 'Content-Length: 500') + '{"pay',
            )
          socket.destroy()
        }),
      )
      const answer = await call(service(), listPath, { key: service().tenant.readKey })
      assert.equal(answer.status, 200)
    })

    it('answers with the caller’s request id when it is a sane one (D20)', async () => {
      const idOf = async (id: string) =>
        String((await call(service(), '/nope', { headers: { 'x-request-id': id } })).headers['x-request-id'])
      assert.equal(await idOf('abc-123_X.y'), 'abc-123_X.y')
      for (const id of ['', 'x'.repeat(65), 'a b', '<script>', 'a,b', 'é'])
        assert.notEqual(await idOf(id), id)
    })
  },
)
