/**
 * Connections are answered past Node's HTTP until something comes over them that is not a plain request, and by it from then on,
 * or by it from the start. A client sees no difference.
 */
import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { before, it } from 'node:test'
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import * as fc from 'fast-check'
import { readByNodeDuring } from '../support/both-ways.ts'
import { call, contactListPath, getPath, listPath, publish } from '../support/http-client.ts'
import { isLongRun, onEngines, onTransports } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { collect, head, open, openWithFarEnd, repliesIn } from '../support/raw-socket.ts'
import { startTestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'
import type { TestService, TestServiceOptions } from '../support/test-service.ts'
import { withEvents } from '../support/with-events.ts'

/** For answers that come: a machine may be busy. */
const patient = { waitMs: 30_000 }
const keyLine = (key: string) => `x-api-key: ${key}`

onEngines('a connection', { byNode: true }, (service, plainConnections) => {
  let id = ''
  before(async () => {
    const { events } = await publish(
      service(),
      Array.from({ length: 120 }, () => ({ payload: property() })),
    )
    id = events[5]?.id ?? ''
    await call(service(), listPath, { key: service().tenant.readKey })
  })

  it('answers each request in turn, whatever arrives in whatever pieces (D9, P12)', async () => {
    const { readKey, publishKey } = service().tenant
    const body = JSON.stringify({ payload: {} })
    const kinds: readonly (readonly [string, string, readonly string[], string])[] = [
      ['GET', `${listPath}?pageSize=7`, [keyLine(readKey)], ''],
      ['GET', `${listPath}?pageSize=100`, [keyLine(readKey), 'Accept-Encoding: identity'], ''],
      ['GET', `${listPath}?page=2`, [keyLine(readKey), 'If-None-Match: *'], ''],
      ['GET', `${listPath}?from=2020-01-01&pageSize=2`, [keyLine(readKey)], ''],
      ['GET', `${getPath}/${id}`, [keyLine(readKey)], ''],
      ['GET', `${getPath}/00000000-0000-4000-8000-000000000000`, [keyLine(readKey)], ''],
      ['GET', `${listPath}?page=0`, [keyLine(readKey)], ''],
      ['GET', listPath, [keyLine('pev_nobody')], ''],
      ['GET', contactListPath, [], ''],
      ['HEAD', listPath, [keyLine(readKey)], ''],
      ['GET', '/v1/heads', [keyLine(readKey)], ''],
      ['GET', '/v1/property-events?after=0&limit=1&wait=30', [keyLine(readKey)], ''],
      [
        'POST',
        '/v1/property-events',
        [keyLine(publishKey), 'Content-Type: application/json', `Content-Length: ${body.length}`],
        body,
      ],
    ]
    const expected = await Promise.all(
      kinds.map(async ([method, path, lines, sent]) => {
        const headers = Object.fromEntries(lines.map((line) => line.split(': ')))
        const absolute = `http://127.0.0.1${path}`
        return call(service(), absolute, { method, headers, ...(sent === '' ? {} : { body: sent }) })
      }),
    )
    const asked = fc.record({
      // Plain reads more often than not, so that connections stay what they are for a while.
      order: fc.array(fc.oneof({ weight: 4, arbitrary: fc.nat(4) }, fc.nat(kinds.length - 1)), {
        minLength: 1,
        maxLength: 8,
      }),
      // Where the bytes are divided: nowhere, between requests, or anywhere.
      cuts: fc.array(fc.nat(3_000), { maxLength: 4 }),
      between: fc.boolean(),
      waitMs: fc.constantFrom(0, 0, 1, 3),
    })
    await fc.assert(
      fc.asyncProperty(asked, async ({ order, cuts, between, waitMs }) => {
        let bytes = ''
        const ends: number[] = []
        for (const [place, kind] of order.entries()) {
          const [method, path, lines, sent] = kinds[kind] ?? assert.fail()
          const last = place === order.length - 1 ? ['Connection: close'] : []
          bytes += head(`${method} ${path} HTTP/1.1`, ...lines, `X-Request-Id: r${place}`, ...last) + sent
          ends.push(bytes.length)
        }
        const places = [...(between ? ends : []), ...cuts.map((cut) => cut % bytes.length), bytes.length]
        const socket = await open(service().port)
        const answered = collect(socket, patient)
        let from = 0
        for (const to of places.toSorted((a, b) => a - b)) {
          socket.write(bytes.slice(from, to))
          from = to
          if (waitMs > 0) await wait(waitMs)
        }
        const { text, closed } = await answered
        assert.ok(closed)
        const replies = repliesIn(
          text,
          order.map((kind) => kinds[kind]?.[0] ?? ''),
        )
        assert.equal(replies.length, order.length)
        for (const [place, { status, requestId, body: got }] of replies.entries()) {
          const wanted = expected[order[place] ?? 0]
          assert.equal(requestId, `r${place}`)
          assert.equal(status, wanted?.status)
          if (status < 400) assert.equal(got, Buffer.from(wanted?.body ?? '').toString('latin1'))
        }
      }),
      { numRuns: isLongRun ? 1_500 : 150 },
    )
  })

  it('leaves only requests that are not plain to Node’s HTTP, or all of them (D9)', async () => {
    const grants = [
      { tenantId: service().tenant.tenantId, scopes: ['property:read', 'property:publish'] as const },
    ]
    const { text: key } = await service().issue({ grants })
    const body = JSON.stringify({ payload: property() })
    const post = (type: string, target = '/v1/property-events') => {
      const lines = [`Content-Type: ${type}`, `Content-Length: ${body.length}`]
      return {
        sent: [`POST ${target}`, ...lines] as const,
        body,
        status: target.endsWith('true') ? 200 : 201,
      }
    }
    const get = (target: string, status: number, ...lines: readonly string[]) => ({
      sent: [`GET ${target}`, ...lines] as const,
      body: '',
      status,
    })
    const plain = [
      get(`${listPath}?pageSize=3`, 200),
      get(`${getPath}/${id}`, 200),
      get(`${listPath}?from=2020-01-01`, 200),
      get(listPath, 304, 'If-None-Match: *'),
      get('/v1/heads', 200),
      get('/v1/property-events?after=0&limit=1&wait=30', 200),
      get(`${listPath}?page=0`, 400),
      get('/nothing', 404),
      get('/v1/%zz', 400),
      post('application/json'),
      post('application/json; charset=utf-8', '/v1/property-events?dryRun=true'),
      post('application/x-ndjson'),
    ]
    const say = async ({ sent: [line, ...lines], body: sent }: (typeof plain)[number], cut: number) => {
      const bytes = head(`${line} HTTP/1.1`, keyLine(key), ...lines, 'Connection: close') + sent
      const { socket, far } = await openWithFarEnd(service().port)
      const answered = collect(socket, patient)
      if (cut > 0) {
        socket.write(bytes.slice(0, cut))
        await until(() => far.bytesRead === cut)
      }
      socket.write(bytes.slice(cut))
      return (await answered).status
    }
    for (const request of plain) {
      const what = request.sent[0]
      for (const [cut, byNode] of [
        [0, plainConnections ? 0 : 1],
        // Divided, even a plain request is Node's.
        [30, 1],
      ] as const) {
        const count = await readByNodeDuring(async () =>
          assert.equal(await say(request, cut), request.status, what),
        )
        assert.equal(count, byNode, what)
      }
    }
    const snapshot = get('/v1/property-events/snapshot', 200)
    assert.equal(await readByNodeDuring(() => say(snapshot, 0)), 1)
  })

  it('shows what was published between two polls of one target, in the coding that each accepts (P8, D20)', async () => {
    const { readKey } = service().tenant
    const socket = await open(service().port)
    let seen = Buffer.alloc(0)
    socket.on('data', (bytes: Buffer) => (seen = Buffer.concat([seen, bytes])))
    const poll = async (coding: string) => {
      seen = Buffer.alloc(0)
      const target = `GET ${listPath}?page=9&pageSize=100 HTTP/1.1`
      socket.write(head(target, keyLine(readKey), `Accept-Encoding: ${coding}`, 'If-None-Match: "none"'))
      await until(() => /content-length: \d+[^]*\r\n\r\n\{"items":\[.*\}$/.test(seen.toString()), {
        what: 'a page',
      })
      const text = seen.toString()
      return {
        etag: /^etag: (.*)$/m.exec(text)?.[1],
        total: Number(/"availableCount":(\d+)/.exec(text)?.[1]),
      }
    }
    let before = await poll('identity')
    for (let round = 1; round <= 3; round += 1) {
      await publish(service(), [{ payload: property() }])
      const plain = await poll('identity')
      assert.equal(plain.total, before.total + 1)
      assert.notEqual(plain.etag, before.etag)
      // Again in the same coding: the first poll had to ask the store, and this one has not.
      assert.deepEqual(await poll('identity'), plain)
      const zipped = await poll('gzip    ')
      assert.match(zipped.etag ?? '', /^W\/"/)
      assert.equal((await poll('identity')).etag, plain.etag)
      before = plain
    }
    socket.destroy()
  })

  it('answers a client that has shut down its side already (D9)', async () => {
    // Node's HTTP takes it for gone.
    if (!plainConnections) return
    const { readKey } = service().tenant
    for (const path of [`${listPath}?pageSize=100`, `${getPath}/${id}`]) {
      const socket = await open(service().port)
      const answered = collect(socket, patient)
      socket.end(head(`GET ${path} HTTP/1.1`, keyLine(readKey)))
      const { text, closed } = await answered
      assert.ok(closed)
      const [reply] = repliesIn(text, ['GET'])
      assert.equal(reply?.status, 200)
    }
  })
})

const read = (service: TestService, path: string, ...lines: readonly string[]) =>
  head(`GET ${path} HTTP/1.1`, keyLine(service.tenant.readKey), ...lines)

onTransports('a connection over which only plain reads come', (transport) => {
  it('is renewed after a number of requests, and says so (D9)', async () => {
    const service = await startTestService({ ...transport, limits: { maxRequestsPerSocket: 3 } })
    await publish(service, [{ payload: property() }])
    const socket = await open(service.port)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    let seen = ''
    socket.on('data', (bytes: Buffer) => (seen += bytes.toString('latin1')))
    for (let count = 1; count <= 3; count += 1) {
      socket.write(read(service, listPath))
      await until(() => seen.split('HTTP/1.1 200').length > count, { what: `answer ${count}` })
      const answer = seen.slice(seen.lastIndexOf('HTTP/1.1 200'))
      assert.match(answer, count < 3 ? /^connection: keep-alive\r$/im : /^connection: close\r$/im)
    }
    await closed
    await service.stop()
  })

  it('is closed when no more requests come, and with 408 if none ever came (D9)', async () => {
    const limits = { keepAliveTimeoutMs: 100, headersTimeoutMs: 300 }
    const service = await startTestService({ ...transport, limits })
    await publish(service, [{ payload: property() }])
    const asked = await open(service.port)
    asked.write(read(service, listPath))
    const [idle, silent] = await Promise.all([
      collect(asked, patient),
      collect(await open(service.port), patient),
    ])
    assert.equal(idle.status, 200)
    assert.ok(idle.closed)
    assert.equal(silent.status, 408)
    assert.ok(silent.closed)
    await service.stop()
  })

  it('is not kept for a reader that stopped reading (D9)', async () => {
    const limits = { keepAliveTimeoutMs: 100, idleSocketTimeoutMs: 400 }
    const service = await startTestService({ ...transport, limits })
    // More than the kernel's buffers on both sides.
    const details = { description: 'x'.repeat(30_000) }
    for (let round = 0; round < 10; round += 1) {
      await publish(
        service,
        Array.from({ length: 100 }, () => ({ payload: property({ details }) })),
      )
    }
    const socket = await open(service.port)
    socket.pause()
    socket.write(read(service, `${listPath}?pageSize=1000`, 'X-Request-Id: stalled'))
    const logged = () => service.logLines.find((line) => line.includes('"stalled"'))
    await until(() => logged() !== undefined)
    const line: { readonly aborted?: boolean } = JSON.parse(logged() ?? '{}')
    assert.equal(line.aborted, true)
    socket.destroy()
    await service.stop()
  })

  it('loses nothing that arrived while an event was looked up, whether or not it exists (D9)', async () => {
    const { gate, held, service } = await heldService(transport)
    const { events } = await publish(service, [{ payload: property() }])
    for (const id of [events[0]?.id ?? '', '00000000-0000-4000-8000-000000000000']) {
      const lookedFor = held()
      const socket = await open(service.port)
      const answered = collect(socket, patient)
      socket.write(read(service, `${getPath}/${id}`))
      await lookedFor
      for (const text of [read(service, listPath), read(service, '/v1/heads', 'Connection: close')]) {
        socket.write(text)
        await turn()
      }
      gate()
      const { text } = await answered
      const replies = repliesIn(text, ['GET', 'GET', 'GET'])
      assert.deepEqual(
        replies.map(({ status }) => status),
        [id === events[0]?.id ? 200 : 404, 200, 200],
      )
    }
    await service.stop()
  })

  it('delays no stop if it is idle, and is answered if it is not (D9)', async () => {
    const { gate, held, service } = await heldService(transport)
    const { events } = await publish(service, [{ payload: property() }])
    const idle = await open(service.port)
    idle.write(read(service, listPath))
    await new Promise((resolve) => idle.once('data', resolve))
    const lookedFor = held()
    const socket = await open(service.port)
    const busy = collect(socket, patient)
    socket.write(read(service, `${getPath}/${events[0]?.id}`))
    await lookedFor
    const idleClosed = new Promise((resolve) => idle.once('close', resolve))
    const stopped = service.service.close()
    await idleClosed
    gate()
    const answer = await busy
    assert.equal(answer.status, 200)
    assert.match(answer.text, /^connection: close\r$/im)
    assert.ok(answer.closed)
    await stopped
    await service.stop()
  })

  it('accepts the next request of a Node client on the same connection (D9)', async () => {
    const service = await startTestService(transport)
    await publish(service, [{ payload: property() }])
    const ports = new Set<number | undefined>()
    const { Agent } = await import('node:http')
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (const path of [listPath, listPath, '/v1/heads', listPath]) {
      const status = await new Promise((resolve, reject) => {
        const headers = { 'x-api-key': service.tenant.readKey }
        const outgoing = httpRequest({ port: service.port, path, agent, headers }, (incoming) => {
          ports.add(incoming.socket.localPort)
          incoming.resume().on('end', () => resolve(incoming.statusCode))
        })
        outgoing.on('error', reject).end()
      })
      assert.equal(status, 200)
    }
    assert.equal(ports.size, 1)
    agent.destroy()
    await service.stop()
  })
})

/** A service whose look-up of an event waits at a gate, each time `held` was called before. */
async function heldService(transport: Pick<TestServiceOptions, 'plainConnections'>) {
  let open: (() => void) | undefined
  let onHeld: (() => void) | undefined
  const service = await startTestService({
    ...transport,
    wrap: (storage) =>
      withEvents(storage, {
        async readEvent(key, eventId) {
          if (onHeld !== undefined) {
            onHeld()
            onHeld = undefined
            await new Promise<void>((resolve) => (open = resolve))
          }
          return storage.events.readEvent(key, eventId)
        },
      }),
  })
  return {
    service,
    held: () => new Promise<void>((resolve) => (onHeld = resolve)),
    gate: () => open?.(),
  }
}
