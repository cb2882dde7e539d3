/**
 * Where one request ends and the next begins: with our own reading of plain requests and without it, and with a real nginx in front,
 * which reads the same bytes first. Nothing that was sent as a body is ever taken for a request.
 */
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { listPath, publish } from '../support/http-client.ts'
import { freePorts } from '../support/free-ports.ts'
import { needsNginx, startNginx } from '../support/nginx.ts'
import { onTransports } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { collect, head, open, openWithFarEnd, repliesIn, speak } from '../support/raw-socket.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

const patient = { waitMs: 30_000 }
const body = JSON.stringify({ payload: property() })
const { length } = body
const hex = length.toString(16)
const chunked = 'Transfer-Encoding: chunked'
/** What must not be taken for a request where it is a body, or stands after something broken. */
const inner = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'
const chunks = (size = hex, data = body, end = '0\r\n\r\n') => `${size}\r\n${data}\r\n${end}`
/** From the second on; the first is of the request line and the host. */
type Row = readonly [name: string, lines: readonly string[], sent: string]

/** Read as one publication; the next request is answered, too. */
const sound: readonly Row[] = [
  ['a length', [`Content-Length: ${length}`], body],
  ['a length in another spelling', [`CONTENT-LENGTH:\t  ${length} \t`], body],
  ['a length with zeros in front', [`Content-Length: 00${length}`], body],
  ['one chunk', [chunked], chunks()],
  ['chunks in another spelling', ['transfer-ENCODING:CHUNKED'], chunks(`000${hex.toUpperCase()}`)],
  ['several chunks', [chunked], `1\r\n${body[0]}\r\n${chunks((length - 1).toString(16), body.slice(1))}`],
  ['an extension of a chunk', [chunked], chunks(`${hex};a=b`)],
  ['a trailer', [chunked], chunks(hex, body, '0\r\nX-Trailer: 1\r\n\r\n')],
]

/** Refused with one answer, after which nothing is read. */
const broken: readonly Row[] = [
  ...['', '+5', '-5', '0x5', '5.0', '1e1', '5 5', '5,5', '5, 6', '5;', '\u00b2', '9'.repeat(30)].map(
    (text): Row => [`the length "${text.slice(0, 5)}"`, [`Content-Length: ${text}`], inner],
  ),
  ['two lengths', ['Content-Length: 5', 'Content-Length: 6'], inner],
  ['one length twice', ['Content-Length: 5', 'Content-Length: 5'], inner],
  ['a length and chunks', [`Content-Length: 5`, chunked], `0\r\n\r\n${inner}`],
  ['chunks and a length', [chunked, `Content-Length: 5`], `0\r\n\r\n${inner}`],
  ['a blank before the colon of a length', [`Content-Length : ${inner.length}`], inner],
  ['a blank before the colon of chunks', ['Transfer-Encoding : chunked'], `0\r\n\r\n${inner}`],
  ['a folded length', ['X-A: 1', ' Content-Length: 5'], inner],
  ['a folded value', ['X-A: 1', ' 2'], inner],
  ['a length after a bare line feed', [`X-A: 1\nContent-Length: ${inner.length}`], inner],
  ['a length after a bare carriage return', [`X-A: 1\rContent-Length: ${inner.length}`], inner],
  ['another coding', ['Transfer-Encoding: xchunked'], `0\r\n\r\n${inner}`],
  ['a coding after chunks', ['Transfer-Encoding: chunked, gzip'], `0\r\n\r\n${inner}`],
  ['no coding at all', ['Transfer-Encoding: identity'], inner],
  ['two codings', [chunked, 'Transfer-Encoding: identity'], `0\r\n\r\n${inner}`],
  ...['-1', '+1', '0x5', 'g', '', ' 5', 'f'.repeat(17)].map((size): Row => [
    `the chunk "${size.slice(0, 5)}"`,
    [chunked],
    chunks(size, inner),
  ]),
  ['a chunk that ends in a bare line feed', [chunked], `5\nhello\r\n0\r\n\r\n${inner}`],
  ['a chunk that is longer than it says', [chunked], chunks('5', inner)],
]

const next = head('GET /next HTTP/1.1', 'X-Request-Id: next', 'Connection: close')
const bytesOf = ({ tenant }: TestService, [, lines, sent]: Row) => {
  const usual = [`x-api-key: ${tenant.publishKey}`, 'Content-Type: application/json']
  return head('POST /v1/property-events?dryRun=true HTTP/1.1', ...usual, ...lines) + sent + next
}

onTransports('the framing of requests', (transport) => {
  let service: TestService
  const seen = (path: string) => service.logLines.filter((line) => line.includes(path)).length
  before(async () => {
    service = await startTestService(transport)
    await publish(
      service,
      Array.from({ length: 200 }, () => ({ payload: property() })),
    )
  })
  after(() => service.stop())

  /** Whole, and divided where it hurts most. */
  async function say(bytes: string, cut: number): Promise<string> {
    const { socket, far } = await openWithFarEnd(service.port)
    const answered = collect(socket, patient)
    socket.write(Buffer.from(bytes.slice(0, cut), 'latin1'))
    await until(() => far.bytesRead === cut || far.destroyed)
    if (cut < bytes.length && !far.destroyed) socket.write(Buffer.from(bytes.slice(cut), 'latin1'))
    const { text, closed } = await answered
    assert.ok(closed)
    return text
  }
  const cutsOf = (bytes: string) => {
    const end = bytes.indexOf('\r\n\r\n')
    return [bytes.length, 10, end + 2, end + 4, end + 6, bytes.indexOf('GET /next')]
  }

  it('reads a body in every allowed spelling as one, and what follows as the next request (D9, P11)', async () => {
    for (const row of sound) {
      const bytes = bytesOf(service, row)
      for (const cut of cutsOf(bytes)) {
        const statuses = repliesIn(await say(bytes, cut)).map(({ status }) => status)
        assert.deepEqual(statuses, [200, 404], `${row[0]}, cut at ${cut}`)
      }
    }
  })

  it('refuses every other spelling once, and reads nothing after it (D9, P11)', async () => {
    const earlier = seen('/next')
    for (const row of broken) {
      const bytes = bytesOf(service, row)
      for (const cut of cutsOf(bytes)) {
        const text = await say(bytes, cut)
        const statuses = repliesIn(text).map(({ status }) => status)
        assert.ok(
          statuses.length === 1 && [400, 413].includes(statuses[0] ?? 0),
          `${row[0]}, cut at ${cut}: ${text}`,
        )
        assert.match(text, /^connection: close\r$/im)
      }
    }
    assert.equal(seen('/smuggled'), 0)
    assert.equal(seen('/next'), earlier)
  })

  it('reads what looks like a request as a body if it is one (D9, P11)', async () => {
    for (const row of [
      ['a length', [`Content-Length: ${inner.length}`], inner],
      ['chunks', [chunked], chunks(inner.length.toString(16), inner)],
    ] as const satisfies readonly Row[]) {
      const statuses = repliesIn(await say(bytesOf(service, row), 40)).map(({ status }) => status)
      assert.deepEqual(statuses, [400, 404], row[0])
    }
    assert.equal(seen('/smuggled'), 0)
  })

  it('answers a request with Upgrade as any other, and nothing that came in the same segment (D9)', async () => {
    const key = `x-api-key: ${service.tenant.readKey}`
    const upgrade = ['Connection: Upgrade', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__']
    for (const [line, status] of [
      [`GET ${listPath}?pageSize=1`, 200],
      ['GET /nothing', 404],
      ['GET /v1/property-events/snapshot', 200],
    ] as const) {
      const text = await say(head(`${line} HTTP/1.1`, key, ...upgrade) + inner + next, 20)
      assert.deepEqual(
        repliesIn(text).map((reply) => reply.status),
        [status],
      )
      assert.match(text, /^connection: close\r$/im)
    }
    // The same after requests that were answered on the bare socket.
    const list = head(`GET ${listPath}?pageSize=1 HTTP/1.1`, key)
    const socket = await open(service.port)
    socket.write(list)
    await once(socket, 'data')
    const answered = collect(socket, patient)
    socket.write(list + head(`GET ${listPath}?pageSize=1 HTTP/1.1`, key, ...upgrade) + inner)
    const { text, closed } = await answered
    assert.ok(closed)
    assert.deepEqual(
      repliesIn(text).map((reply) => reply.status),
      [200, 200],
    )
    assert.equal(seen('/smuggled'), 0)
  })

  it('never says 100 Continue inside another answer, however requests follow each other (D9)', async () => {
    const { readKey, publishKey } = service.tenant
    const expecting = head(
      'POST /v1/property-events?dryRun=true HTTP/1.1',
      `x-api-key: ${publishKey}`,
      'Content-Type: application/json',
      `Content-Length: ${length}`,
      'Expect: 100-continue',
      'Connection: close',
    )
    const before = [`${listPath}?pageSize=100`, '/v1/property-events/snapshot', '/v1/heads'].map((path) =>
      head(`GET ${path} HTTP/1.1`, `x-api-key: ${readKey}`),
    )
    for (let round = 0; round < 50; round += 1) {
      const first = before[round % before.length] ?? ''
      const socket = await open(service.port)
      let isAsked = false
      // The body is sent once it was asked for.
      const answered = collect(socket, {
        ...patient,
        until(text) {
          if (!isAsked && text.includes('HTTP/1.1 100 Continue')) {
            isAsked = true
            socket.write(body)
          }
          return false
        },
      })
      socket.write(round % 2 === 0 ? first + first + expecting : first)
      if (round % 2 === 1) socket.write(first + expecting)
      const { text } = await answered
      assert.deepEqual(
        repliesIn(text).map(({ status }) => status),
        [200, 200, 100, 200],
      )
    }
  })

  describe('behind nginx', { skip: needsNginx }, () => {
    let proxy: ChildProcess | undefined
    let folder = ''
    let port = 0
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'property-events-nginx-'))
      const [free = 0] = await freePorts(1)
      port = free
      proxy = await startNginx(folder, port, [service.port, service.port])
    })
    after(async () => {
      // Killed at once it would leave its worker behind.
      if (proxy?.exitCode === null && proxy.kill('SIGTERM')) await once(proxy, 'exit')
      await rm(folder, { recursive: true, force: true })
    })

    it('reads the requests that nginx reads, and each client gets the answer to its own (D9, P11)', async () => {
      const accepted: string[] = []
      for (const [index, row] of [...sound, ...broken].entries()) {
        const from = service.logLines.length
        const { text, closed } = await speak(port, bytesOf(service, row), patient)
        assert.ok(closed, row[0])
        const replies = repliesIn(text)
        // nginx takes fewer spellings of a length than we do, and puts some right that are broken.
        const [first] = replies
        if (first?.status === 200) accepted.push(row[0])
        else assert.ok(first !== undefined && first.status >= 400, `${row[0]}: ${text}`)
        // Over the same connections to the service: an answer to something else would be seen here.
        const usualId = `usual-${index}`
        const usual = head('GET /usual HTTP/1.1', `X-Request-Id: ${usualId}`, 'Connection: close')
        const [last] = repliesIn((await speak(port, usual, patient)).text)
        // One line says of the node that a proxy stands in front of it.
        const requests = () => service.logLines.slice(from).filter((line) => line.includes('"requestId"'))
        const logged = () => requests().map((line) => String(JSON.parse(line).requestId))
        await until(() => logged().includes(usualId))
        // What nginx refuses itself has no id.
        const told = [...replies, last].map((reply) => reply?.requestId ?? '').filter((id) => id !== '')
        assert.deepEqual(logged(), told, row[0])
      }
      assert.ok(accepted.length > 4, String(accepted))
    })
  })
})
