/** A reader that takes nothing is ended in time, in the middle of whatever it reads; one that is slow, or whose store is, is not. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { after, before, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { StorageEngine } from '../../src/index.ts'
import { stalledReaders } from '../../src/http/transport/stalled-readers.ts'
import { listPath, publish } from '../support/http-client.ts'
import { onTransports } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { head, open } from '../support/raw-socket.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { until, within } from '../support/until.ts'
import { withEvents } from '../support/with-events.ts'

const limitMs = 300
/** Of this test: both of it and the service count the looks of one event loop, so a busy machine changes nothing. */
const looksInLimit = 15

const pagePath = `${listPath}?pageSize=1000`

/** Takes 2 MiB six times in a limit: on loopback the kernel makes room for up to 1.5 MB at once. */
function readSlowly(socket: Socket): { taken(): number; hurry(): void } {
  let [taken, step] = [0, 0]
  let isSlow = true
  socket.on('data', ({ length }: Buffer) => {
    taken += length
    if (!isSlow || (step += length) < 2 * 2 ** 20) return
    step = 0
    socket.pause()
    void delay(limitMs / 6).then(() => socket.resume())
  })
  return { taken: () => taken, hurry: () => (isSlow = false) }
}

onTransports('a reader', (transport) => {
  let service: TestService
  /** Called with each read of a range of events. */
  let beforeRead = async (): Promise<void> => undefined
  const wrap = (storage: StorageEngine): StorageEngine =>
    withEvents(storage, {
      async readRange(range) {
        await beforeRead()
        return storage.events.readRange(range)
      },
      readRangeWithin: (range, maxBytes) => storage.events.readRangeWithin(range, maxBytes),
    })

  before(async () => {
    service = await startTestService({ ...transport, wrap, limits: { idleSocketTimeoutMs: limitMs } })
    // In short requests: a long one on a busy machine takes longer than a connection may be idle here.
    for (let batch = 0; batch < 75; batch += 1) {
      const events = Array.from({ length: 2 }, () => ({ payload: property({ note: 'x'.repeat(200_000) }) }))
      await publish(service, events)
    }
  })
  after(() => service.stop())

  const ask = async (path: string, id: string): Promise<Socket> => {
    const { port, tenant } = service
    const socket = await open(port)
    socket.on('error', () => undefined)
    const lines = [`x-api-key: ${tenant.readKey}`, `X-Request-Id: ${id}`, 'Connection: close']
    socket.write(head(`GET ${path} HTTP/1.1`, ...lines))
    return socket
  }
  /** Takes the beginning and nothing more; resolves once the service has ended it. */
  const stall = async (path: string): Promise<void> => {
    const id = randomUUID()
    const socket = await ask(path, id)
    await within(once(socket, 'readable'))
    const isEnded = (): boolean =>
      service.logLines.some((line) => line.includes(id) && line.includes('"aborted":true'))
    await until(isEnded, { what: 'the end of a reader that takes nothing' })
    socket.destroy()
  }

  it('that takes nothing is ended after the limit, not after twice as long, in whatever it reads (D9, PROTOCOL §8)', async () => {
    let looks = 0
    const counting = setInterval(() => (looks += 1), limitMs / looksInLimit)
    const paths = [pagePath, '/v1/property-events/snapshot', '/v1/property-events?after=0']
    const ended = await Promise.all(
      paths.map(async (path) => {
        const before = looks
        await stall(path)
        return looks - before
      }),
    )
    clearInterval(counting)
    for (const after of ended) {
      assert.ok(after >= looksInLimit - 1 && after < 2 * looksInLimit, `after ${ended.join(', ')} looks`)
    }
  })

  it('that is slow but goes on reading gets its whole page, longer than the limit as that takes (D9, PROTOCOL §8)', async () => {
    const socket = await ask(pagePath, 'read')
    const ended = once(socket, 'end')
    const reader = readSlowly(socket)
    await stall(pagePath)
    assert.ok(reader.taken() < 30_000_000, 'it is still reading')
    reader.hurry()
    await within(ended)
    assert.ok(reader.taken() > 30_000_000)
  })

  it('whose store is slow in the middle of its page gets it whole, however long that takes (D9, PROTOCOL §8)', async () => {
    const held = Promise.withResolvers<void>()
    let reads = 0
    beforeRead = async () => {
      if ((reads += 1) === 3) await held.promise
    }
    const socket = await ask(pagePath, 'read')
    const ended = once(socket, 'end')
    let taken = 0
    socket.on('data', ({ length }: Buffer) => (taken += length))
    await until(() => reads === 3 && taken > 0, { what: 'the beginning of the page' })
    // It has waited for longer than the limit once a reader that came after it was ended.
    await stall('/v1/property-events/snapshot')
    held.resolve()
    await within(ended, { what: 'the end of the page' })
    assert.ok(taken > 30_000_000, `${taken} bytes`)
  })
})

it('a reader of one long write is not ended while the system takes some of it, and is when it takes none (PROTOCOL §8)', async () => {
  const watchReader = stalledReaders(limitMs)
  const sent: Socket[] = []
  const server = createServer((socket) => {
    sent.push(socket)
    socket.on('error', () => undefined)
    socket.write(Buffer.alloc(30_000_000))
    watchReader(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const slow = await open(address.port)
  const reader = readSlowly(slow)
  await until(() => sent.length === 1)
  const stalled = await open(address.port)
  await until(() => sent[1]?.destroyed === true, { what: 'the end of a reader that takes nothing' })
  assert.ok(reader.taken() < 30_000_000, 'it is still reading')
  reader.hurry()
  await until(() => reader.taken() === 30_000_000, { what: 'all of it' })
  assert.equal(sent[0]?.destroyed, false)
  for (const socket of [slow, stalled]) socket.destroy()
  server.close()
})
