/** What is lent for an answer on the bare socket comes back once, whatever becomes of the answer: it is a part of bounded memory. */
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { answerHeads } from '../../src/http/answer-head.ts'
import { createBytesInFlight } from '../../src/http/bytes-in-flight.ts'
import type { Answer } from '../../src/http/exchange.ts'
import type { Exchange } from '../../src/http/routed.ts'
import { defaultLimits } from '../../src/http/limits.ts'
import { createRouter } from '../../src/http/router.ts'
import { PlainConnection } from '../../src/http/transport/plain-connection.ts'
import { plainHeads } from '../../src/http/transport/plain-head.ts'
import { sendTogether } from '../../src/http/transport/send-together.ts'
import { stalledReaders } from '../../src/http/transport/stalled-readers.ts'
import { createLogger } from '../../src/index.ts'
import { createMetrics } from '../../src/serve/metrics/metrics.ts'
import { createOutages } from '../../src/serve/outages.ts'
import { requestLines } from '../../src/runtime/log/request-lines.ts'
import { mapMaybePromise } from '../../src/runtime/map-maybe-promise.ts'
import { listPath } from '../support/http-client.ts'
import { head, open } from '../support/raw-socket.ts'
import { until } from '../support/until.ts'

describe('the body of an answer', () => {
  const metrics = createMetrics()
  const log = createLogger({ level: 'silent', destination: { write: () => undefined } })
  const context = {
    limits: { ...defaultLimits, idleSocketTimeoutMs: 300 },
    inFlight: createBytesInFlight(defaultLimits),
    stopping: () => false,
    metrics,
    outages: createOutages({ log, ping: () => Promise.resolve() }),
    requestLines: requestLines(log),
    recorder: { sending: () => undefined, ended: () => undefined },
  }
  let answer: () => Answer | Promise<Answer> = () => assert.fail()
  let released = 0
  let ended = 0
  let server: Server
  let port = 0

  const bodyOf = (byteLength: number): Answer => {
    const bytes = Buffer.alloc(byteLength, 'x')
    const release = () => void (released += 1)
    const body = {
      kind: 'whole',
      pieces: [bytes, bytes],
      byteLength: 2 * byteLength,
      ownBytes: 2 * byteLength,
      release,
    } as const
    return { kind: 'pieces', headers: {}, etag: '"a"', feed: undefined, body, coding: 'identity' }
  }

  before(async () => {
    const router = createRouter({ operations: [], basePath: '', limits: context.limits })
    server = createServer({ allowHalfOpen: true }, (socket) => {
      // Constructed for its effect: it listens to its socket.
      void new PlainConnection(socket, {
        context,
        readHead: plainHeads(context.limits, router),
        handle: (request, routed) => {
          const exchange = (given: Answer): Exchange => ({
            request,
            routed,
            answer: given,
            keyId: 'key',
            tenantId: 't',
            access: undefined,
            spending: undefined,
            problem: undefined,
            flight: undefined,
            streamedBytes: 0,
            closes: false,
          })
          return mapMaybePromise(answer(), exchange)
        },
        heads: answerHeads(context.limits),
        sendSoon: sendTogether(),
        watchReader: stalledReaders(context.limits.idleSocketTimeoutMs),
        passOn: () => assert.fail('all are plain'),
        onSilence: () => assert.fail('all ask'),
        onEnd: () => void (ended += 1),
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address: AddressInfo | string | null = server.address()
    port = typeof address === 'object' ? (address?.port ?? 0) : 0
  })
  after(() => {
    server.close()
    metrics.close()
  })

  async function ask() {
    released = 0
    ended = 0
    const socket = await open(port)
    socket.on('error', () => undefined)
    socket.write(head(`GET ${listPath} HTTP/1.1`, 'x-api-key: k'))
    return socket
  }
  const gaveBack = () => released > 0
  const hasEnded = () => ended > 0

  it('is given back when it was sent, small or large (P5)', async () => {
    for (const byteLength of [10, 20_000_000]) {
      answer = () => bodyOf(byteLength)
      const socket = await ask()
      let read = 0
      const whole = new Promise<void>((resolve) => {
        socket.on('data', (bytes) => {
          read += bytes.length
          if (read >= 2 * byteLength) resolve()
        })
      })
      await whole
      await until(gaveBack)
      assert.equal(ended, 0)
      socket.destroy()
      await until(hasEnded)
      assert.equal(released, 1)
    }
  })

  it('is given back when its reader goes away, or reads no more (D9)', async () => {
    answer = () => bodyOf(20_000_000)
    const gone = await ask()
    gone.once('data', () => gone.destroy())
    await until(hasEnded)
    assert.equal(released, 1)
    const stopped = await ask()
    stopped.pause()
    await until(hasEnded)
    assert.equal(released, 1)
    stopped.destroy()
  })

  it('is released if its reader was gone before it was ready (D9)', async () => {
    const gate = Promise.withResolvers<Answer>()
    const asked = Promise.withResolvers<void>()
    answer = () => {
      asked.resolve()
      return gate.promise
    }
    const socket = await ask()
    await asked.promise
    socket.resetAndDestroy()
    await until(hasEnded)
    assert.equal(released, 0)
    gate.resolve(bodyOf(10))
    await until(gaveBack)
    assert.equal(released, 1)
  })
})
