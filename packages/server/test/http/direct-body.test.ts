/** The body of what is published past the router: as it comes, however it comes, and when it does not come. */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { proveKey } from '../support/both-ways.ts'
import { call, listPath, pageOf } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { collect, head, open } from '../support/raw-socket.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'
import { withEvents } from '../support/with-events.ts'

const path = '/v1/property-events'
/** Only the router takes this spelling. */
const absolute = `http://127.0.0.1${path}`

const headOf = ({ tenant }: TestService, target: string, length: number, ...lines: readonly string[]) =>
  head(
    `POST ${target} HTTP/1.1`,
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

/** A new connection, and the service's end of it: what has been read there was not only sent. */
async function openWithFarEnd(port: number): Promise<{ readonly socket: Socket; readonly far: Socket }> {
  const accepted = Promise.withResolvers<Socket>()
  const onAccepted = (message: unknown): void => accepted.resolve((message as { socket: Socket }).socket)
  subscribe('net.server.socket', onAccepted)
  const socket = await open(port)
  const far = await accepted.promise
  unsubscribe('net.server.socket', onAccepted)
  return { socket, far }
}

onEngines('a body that is published directly', {}, (service) => {
  it('is stored as it was sent, in whatever pieces it comes (D22, P9)', async () => {
    await proveKey(service(), service().tenant.publishKey)
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
      await proveKey(service(), service().tenant.publishKey)
      socket.write(headOf(service(), path, body.length, 'Connection: close'))
      for (let at = 0; at < body.length; at += cut) {
        socket.write(body.subarray(at, at + cut))
        // So that the first pieces are read one by one.
        if (at < 20 * cut) await wait(1)
      }
      const answer = await collect(socket, patient)
      assert.equal(answer.status, 201, answer.text)
      const page = await call(service(), `${listPath}?pageSize=1&page=${before + count}`, {
        key: service().tenant.readKey,
      })
      assert.equal(pageOf(page).items[0]?.payload, JSON.stringify(payloads.at(-1)))
    }
  })

  it('may have exactly as many bytes as are allowed, and not one more, whichever way it comes (PROTOCOL §8)', async () => {
    const { publishKey } = service().tenant
    for (const target of [path, absolute]) {
      for (const [more, status] of [
        [0, 201],
        [1, 413],
      ] as const) {
        const body = Buffer.alloc(16 * 2 ** 20 + more, ' ')
        body.write(JSON.stringify({ payload: property() }))
        await proveKey(service(), publishKey)
        const headers = { 'content-type': 'application/json' }
        const answer = await call(service(), target, { method: 'POST', key: publishKey, headers, body })
        assert.equal(answer.status, status, `${target} ${answer.text}`)
      }
    }
  })

  it('leaves the connection to the next request, and closes it when it is asked to (D9)', async () => {
    await proveKey(service(), service().tenant.publishKey)
    const before = await stored(service())
    const body = JSON.stringify({ payload: property() })
    const socket = await open(service().port)
    const one = headOf(service(), path, body.length) + body
    const last = headOf(service(), path, body.length, 'Connection: close') + body
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

  it('is nothing where the client goes away in the middle (P6, D9)', async () => {
    const before = await stored(service())
    const body = JSON.stringify({ payload: property() })
    const lines: unknown[] = []
    for (const target of [path, absolute]) {
      const { publishKey } = service().tenant
      await proveKey(service(), publishKey)
      const from = service().logLines.length
      const { socket, far } = await openWithFarEnd(service().port)
      const request = headOf(service(), target, body.length) + body.slice(0, 50)
      socket.write(request)
      await until(() => far.bytesRead === request.length)
      socket.destroy()
      await until(() => service().logLines.length > from)
      // Time for a second line, which there must not be.
      await wait(20)
      lines.push(doneLines(service().logLines.slice(from)))
    }
    assert.deepEqual(lines[0], lines[1])
    assert.equal(await stored(service()), before)
  })
})

describe('a body that is published directly', () => {
  it('is cut off with 408 when it comes too slowly, and nothing of it is stored (D9, P6)', async () => {
    const limits = { headersTimeoutMs: 300, requestTimeoutMs: 500, timeoutCheckMs: 50 }
    const service = await startTestService({ limits })
    const answers = []
    const lines = []
    for (const target of [path, absolute]) {
      await proveKey(service, service.tenant.publishKey)
      const body = JSON.stringify({ payload: property() })
      const from = service.logLines.length
      const socket = await open(service.port)
      socket.write(headOf(service, target, body.length))
      let sent = 0
      const drip = setInterval(() => {
        socket.write(body.slice(sent, sent + 1))
        sent += 1
      }, 20)
      const { status, closed } = await collect(socket, patient)
      clearInterval(drip)
      answers.push({ status, closed })
      await until(() => service.logLines.length > from)
      // Time for a second line, which there must not be.
      await wait(20)
      lines.push(doneLines(service.logLines.slice(from)))
    }
    assert.deepEqual(answers, [
      { status: 408, closed: true },
      { status: 408, closed: true },
    ])
    assert.deepEqual(lines[0], lines[1])
    assert.equal(await stored(service), 0)
    await service.stop()
  })

  it('costs no memory for what was only announced (D9)', async () => {
    const service = await startTestService()
    await proveKey(service, service.tenant.publishKey)
    const before = process.memoryUsage().arrayBuffers
    const request = `${headOf(service, path, 16_000_000)}[`
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
async function startGated() {
  const gate = Promise.withResolvers<void>()
  const service = await startTestService({
    wrap: (storage) =>
      withEvents(storage, {
        append: async (batches) => {
          await gate.promise
          return storage.events.append(batches)
        },
      }),
  })
  await proveKey(service, service.tenant.publishKey)
  const untilWaiting = (count: number): Promise<void> =>
    until(() => service.service.publisher.queueState().waiting === count)
  return { service, gate, untilWaiting }
}

describe('publishing directly', () => {
  it('is finished and logged where the client went away meanwhile (P7, D9)', async () => {
    const { service, gate, untilWaiting } = await startGated()
    const body = JSON.stringify({ payload: property() })
    const from = service.logLines.length
    const { socket, far } = await openWithFarEnd(service.port)
    socket.write(headOf(service, path, body.length) + body)
    await untilWaiting(1)
    socket.destroy()
    await until(() => far.readableEnded || far.destroyed, { what: 'the end of the connection' })
    gate.resolve()
    await until(async () => (await stored(service)) === 1)
    const posts = () => service.logLines.slice(from).filter((line) => line.includes('POST'))
    await until(() => posts().length > 0)
    // Time for a second line, which there must not be.
    await wait(20)
    const posted = doneLines(posts())
    assert.deepEqual(
      posted.map(({ route, status, aborted }) => ({ route, status, aborted })),
      [{ route: path, status: 201, aborted: true }],
    )
    await service.stop()
  })

  it('gives the bytes of a request back when they are read, however long the commit takes (D9, D11)', async () => {
    const { service, gate, untilWaiting } = await startGated()
    const body = JSON.stringify({ payload: property() }).padEnd(30_000)
    const request = headOf(service, path, body.length) + body
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
    const { service, gate, untilWaiting } = await startGated()
    const body = JSON.stringify({ payload: property() })
    const request = headOf(service, path, body.length) + body
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
    // Time enough to end, were nothing waited for.
    await wait(150)
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
