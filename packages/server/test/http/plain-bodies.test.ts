/** What is lent for an answer on the bare socket comes back once, whatever becomes of the answer: it is a part of bounded memory. */
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { answerHeads } from '../../src/http/direct/answer.ts'
import type { DirectAnswer } from '../../src/http/direct/answer.ts'
import { PlainConnection } from '../../src/http/direct/plain-connection.ts'
import { plainHeads } from '../../src/http/direct/plain-head.ts'
import { sendTogether } from '../../src/http/direct/send-together.ts'
import { directTargets } from '../../src/http/direct/target.ts'
import { defaultLimits } from '../../src/http/limits.ts'
import { createTokenBuckets } from '../../src/http/token-bucket.ts'
import { createLogger } from '../../src/index.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { listPath } from '../support/http-client.ts'
import { head, open } from '../support/raw-socket.ts'
import { until } from '../support/until.ts'

describe('the body of an answer', () => {
  const metrics = createMetrics()
  const context = {
    limits: { ...defaultLimits, idleSocketTimeoutMs: 300 },
    requestBuckets: createTokenBuckets(defaultLimits.requests, Date.now),
    stopping: () => false,
    metrics,
    log: createLogger({ level: 'silent', destination: { write: () => undefined } }),
  }
  let answer: () => DirectAnswer | Promise<DirectAnswer | undefined> = () => assert.fail()
  let released = 0
  let passedOn = 0
  let server: Server
  let port = 0

  const bodyOf = (byteLength: number): DirectAnswer => {
    const bytes = Buffer.alloc(byteLength, 'x')
    const body = { pieces: [bytes, bytes], byteLength: 2 * byteLength, release: () => void (released += 1) }
    return { kind: 'body', etag: '"a"', head: undefined, body, coding: 'identity' }
  }

  before(async () => {
    const readTarget = directTargets('', context.limits)
    const tokens = context.requestBuckets.peek('key')
    server = createServer({ allowHalfOpen: true }, (socket) => {
      // Constructed for its effect: it listens to its socket.
      void new PlainConnection(socket, {
        context,
        readHead: plainHeads(context.limits, readTarget, () => undefined),
        answerDirectly: () => ({
          route: 'r',
          access: { tenantId: 't', keyId: 'key', tokens },
          answer: answer(),
        }),
        writeHead: answerHeads(context),
        sendSoon: sendTogether(),
        passOn: () => void (passedOn += 1),
        onSilence: () => assert.fail('all ask'),
        onEnd: () => undefined,
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
    const socket = await open(port)
    socket.on('error', () => undefined)
    socket.write(head(`GET ${listPath} HTTP/1.1`, 'x-api-key: k'))
    return socket
  }
  async function releasedOnce(): Promise<void> {
    const gaveBack = () => released > 0
    await until(gaveBack)
    // Time for a second time, which there must not be.
    await wait(30)
    assert.equal(released, 1)
  }

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
      await releasedOnce()
      await whole
      socket.destroy()
    }
  })

  it('is given back when its reader goes away, or reads no more (D9)', async () => {
    answer = () => bodyOf(20_000_000)
    const gone = await ask()
    gone.once('data', () => gone.destroy())
    await releasedOnce()
    const stopped = await ask()
    stopped.pause()
    await releasedOnce()
    stopped.destroy()
  })

  it('is given back when its reader was gone before it was there (D9)', async () => {
    const resolve = await askAndLeave()
    resolve(bodyOf(10))
    await releasedOnce()
  })

  it('is not looked for by Node’s HTTP when its connection was closed already (D9)', async () => {
    const resolve = await askAndLeave()
    resolve(undefined)
    await wait(50)
    assert.equal(passedOn, 0)
  })

  /** The client has gone when this resolves; the answer is what is then given. */
  async function askAndLeave(): Promise<(answer: DirectAnswer | undefined) => void> {
    const gate = Promise.withResolvers<DirectAnswer | undefined>()
    const asked = Promise.withResolvers<void>()
    answer = () => {
      asked.resolve()
      return gate.promise
    }
    const socket = await ask()
    await asked.promise
    socket.resetAndDestroy()
    await wait(50)
    return gate.resolve
  }
})
