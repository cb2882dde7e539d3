/** The body of a publication: as it comes, however it comes, and when it does not come. */
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { call, listPath, pageOf } from '../support/http-client.ts'
import { onEngines, onTransports } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { collect, head, open, openWithFarEnd } from '../support/raw-socket.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService, TestServiceOptions } from '../support/test-service.ts'
import { until } from '../support/until.ts'
import { withEvents } from '../support/with-events.ts'

const path = '/v1/property-events'

const headOf = ({ tenant }: TestService, length: number, ...lines: readonly string[]) =>
  head(
    `POST ${path} HTTP/1.1`,
    `x-api-key: ${tenant.publishKey}`,
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    ...lines,
  )

const stored = async (service: TestService): Promise<number> =>
  pageOf(await call(service, `${listPath}?pageSize=1`, { key: service.tenant.readKey })).availableCount

/** The log's lines about finished requests, without what differs from one to the next. */
const doneLines = (lines: readonly string[]) =>
  lines.map((line) => {
    const { level, msg, method, route, status, problem, aborted, tenantId } = JSON.parse(line)
    return { level, msg, method, route, status, problem, aborted, tenantId }
  })

/** For answers that come: a machine may be busy. */
const patient = { waitMs: 30_000 }

onEngines('a body that is published', { byNode: true }, (service) => {
  it('is stored as it was sent, in whatever pieces it comes (D22, P9)', async () => {
    // Beyond the room that is made at first, and beyond the next.
    for (const [count, cut] of [
      [1, 1],
      [1, 700],
      [3, 64],
      [14, 70_000],
      [40, 333_333],
    ] as const) {
      const payloads = Array.from({ length: count }, (_, index) =>
        property({ note: count < 5 ? 'é' : `${index}é`.repeat(30_000) }),
      )
      const body = Buffer.from(JSON.stringify(payloads.map((payload) => ({ payload }))))
      const before = await stored(service())
      const socket = await open(service().port)
      socket.write(headOf(service(), body.length, 'Connection: close'))
      for (let at = 0; at < body.length; at += cut) {
        socket.write(body.subarray(at, at + cut))
        // So that the first pieces are read one by one.
        if (at < 20 * cut) await turn()
      }
      const answer = await collect(socket, patient)
      assert.equal(answer.status, 201, answer.text)
      const page = await call(service(), `${listPath}?pageSize=1&page=${before + count}`, {
        key: service().tenant.readKey,
      })
      assert.equal(pageOf(page).items[0]?.payload, JSON.stringify(payloads.at(-1)))
    }
  })

  it('may have exactly as many bytes as are allowed, and not one more (PROTOCOL §8)', async () => {
    const { publishKey } = service().tenant
    for (const [more, status] of [
      [0, 201],
      [1, 413],
    ] as const) {
      const body = Buffer.alloc(16 * 2 ** 20 + more, ' ')
      body.write(JSON.stringify({ payload: property() }))
      const headers = { 'content-type': 'application/json' }
      const answer = await call(service(), path, { method: 'POST', key: publishKey, headers, body })
      assert.equal(answer.status, status, answer.text)
    }
  })

  it('leaves the connection to the next request, and closes it on request (D9)', async () => {
    const before = await stored(service())
    const body = JSON.stringify({ payload: property() })
    const socket = await open(service().port)
    const one = headOf(service(), body.length) + body
    const last = headOf(service(), body.length, 'Connection: close') + body
    // The second comes while the first is being stored.
    socket.write(one + one)
    await until(async () => (await stored(service())) === before + 2, { what: 'the second' })
    socket.write(last)
    const { text, closed } = await collect(socket, patient)
    assert.equal(text.match(/HTTP\/1\.1 201/g)?.length, 3)
    assert.equal(text.match(/^connection: keep-alive/gim)?.length, 2)
    assert.match(text, /^connection: close/im)
    assert.ok(closed)
  })

  it('stores nothing if the client goes away in the middle (P6, D9)', async () => {
    const before = await stored(service())
    const body = JSON.stringify({ payload: property() })
    const { socket, far } = await openWithFarEnd(service().port)
    const request = headOf(service(), body.length, 'X-Request-Id: left') + body.slice(0, 50)
    socket.write(request)
    await until(() => far.bytesRead === request.length)
    const left = () => service().logLines.filter((line) => line.includes('"left"'))
    socket.destroy()
    await until(() => left().length > 0)
    assert.equal(await stored(service()), before)
    assert.equal(left().length, 1)
  })
})

onTransports('a body that is published', (transport) => {
  it('is cut off with 408 when it comes too slowly, and nothing of it is stored (D9, P6)', async () => {
    const limits = { headersTimeoutMs: 300, requestTimeoutMs: 500, timeoutCheckMs: 50 }
    const service = await startTestService({ ...transport, limits })
    const body = JSON.stringify({ payload: property() })
    const socket = await open(service.port)
    socket.write(headOf(service, body.length, 'X-Request-Id: slow'))
    let sent = 0
    const drip = setInterval(() => {
      // Never all of it, however long the machine takes to notice.
      socket.write(body.slice(sent % 100, (sent % 100) + 1))
      sent += 1
    }, 20)
    const { status, closed } = await collect(socket, patient)
    clearInterval(drip)
    assert.deepEqual({ status, closed }, { status: 408, closed: true })
    assert.equal(await stored(service), 0)
    await service.stop()
    assert.ok(service.logLines.some((line) => line.includes('"slow"')))
  })

  it('costs no memory for bytes that were only announced (D9)', async () => {
    const service = await startTestService(transport)
    const before = process.memoryUsage().arrayBuffers
    const request = `${headOf(service, 16_000_000)}[`
    const ends: { readonly socket: Socket; readonly far: Socket }[] = []
    for (let count = 0; count < 40; count += 1) {
      const { socket, far } = await openWithFarEnd(service.port)
      socket.on('error', () => undefined)
      socket.write(request)
      ends.push({ socket, far })
    }
    await until(() => ends.every(({ far }) => far.bytesRead === request.length))
    const held = process.memoryUsage().arrayBuffers - before
    assert.ok(held < 4_000_000, `${held} bytes for 40 bodies`)
    for (const { socket } of ends) socket.destroy()
    await service.stop()
  })
})

/** A service whose store waits with appending until it may. */
async function startGated(transport: Pick<TestServiceOptions, 'plainConnections'>, limits = {}) {
  const gate = Promise.withResolvers<void>()
  const service = await startTestService({
    ...transport,
    limits,
    wrap: (storage) =>
      withEvents(storage, {
        append: async (batches) => {
          await gate.promise
          return storage.events.append(batches)
        },
      }),
  })
  const untilWaiting = (count: number): Promise<void> =>
    until(() => service.service.publisher.queueState().waiting === count)
  return { service, gate, untilWaiting }
}

onTransports('publishing', (transport) => {
  it('is finished and logged if the client went away meanwhile (P7, D9)', async () => {
    const { service, gate, untilWaiting } = await startGated(transport)
    const body = JSON.stringify({ payload: property() })
    const from = service.logLines.length
    const { socket, far } = await openWithFarEnd(service.port)
    socket.write(headOf(service, body.length) + body)
    await untilWaiting(1)
    socket.destroy()
    await until(() => far.readableEnded || far.destroyed, { what: 'the end of the connection' })
    gate.resolve()
    await until(async () => (await stored(service)) === 1)
    const posts = () => service.logLines.slice(from).filter((line) => line.includes('POST'))
    await until(() => posts().length > 0)
    await service.stop()
    const posted = doneLines(posts())
    assert.deepEqual(
      posted.map(({ route, status, aborted }) => ({ route, status, aborted })),
      [{ route: path, status: 201, aborted: true }],
    )
  })

  it('is answered when the store has answered, however long that takes on a connection without traffic (P7)', async () => {
    const limits = { headersTimeoutMs: 150, idleSocketTimeoutMs: 150 }
    const { service, gate, untilWaiting } = await startGated(transport, limits)
    const body = JSON.stringify({ payload: property() })
    const { socket, far } = await openWithFarEnd(service.port)
    let timeouts = 0
    far.on('timeout', () => (timeouts += 1))
    socket.write(headOf(service, body.length, 'Connection: close') + body)
    await untilWaiting(1)
    await until(() => timeouts === 3, { what: 'the third time that nothing moved' })
    gate.resolve()
    assert.equal((await collect(socket, patient)).status, 201)
    await service.stop()
  })

  it('releases the bytes of a request when they have been read, however long the commit takes (D9, D11)', async () => {
    const { service, gate, untilWaiting } = await startGated(transport)
    const body = JSON.stringify({ payload: property() }).padEnd(30_000)
    const request = headOf(service, body.length) + body
    const sockets = await Promise.all(Array.from({ length: 50 }, () => open(service.port)))
    const before = process.memoryUsage().arrayBuffers
    for (const socket of sockets) socket.write(request)
    await untilWaiting(sockets.length)
    const held = process.memoryUsage().arrayBuffers - before
    assert.ok(held < 500_000, `${held} bytes for ${sockets.length} publications`)
    gate.resolve()
    for (const socket of sockets) {
      const { status } = await collect(socket, { ...patient, until: (text) => text.includes('\r\n\r\n') })
      assert.equal(status, 201)
    }
    await service.stop()
  })

  it('is waited for by a stop, also while its body is still coming (P7)', async () => {
    const { service, gate, untilWaiting } = await startGated(transport)
    const body = JSON.stringify({ payload: property() })
    const request = headOf(service, body.length) + body
    const ends = []
    for (const sent of [request, request.slice(0, -100), request.slice(0, 20)]) {
      const { socket, far } = await openWithFarEnd(service.port)
      socket.write(sent)
      await until(() => far.bytesRead === sent.length)
      ends.push(socket)
    }
    const [, half, late] = ends
    let isClosed = false
    const closed = service.service.close().then(() => (isClosed = true))
    half?.write(request.slice(-100))
    late?.write(request.slice(20))
    await untilWaiting(3)
    assert.ok(!isClosed)
    gate.resolve()
    const answers = await Promise.all(ends.map((socket) => collect(socket, patient)))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 201, 201],
    )
    // What was asked during the stop is the last on its connection.
    assert.match(answers[2]?.text ?? '', /^connection: close/im)
    await closed
    await service.storage.close()
  })
})
