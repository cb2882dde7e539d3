/** Clients that close their side once their request is sent, as `nc -N`, old SOAP stacks and some proxies do (RFC 9112 §9.6). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { StorageEngine } from '../../src/index.ts'
import { onTransports } from '../support/on-engines.ts'
import { call, listPath, pageOf } from '../support/http-client.ts'
import { property } from '../support/property.ts'
import { collect, head, openWithFarEnd, repliesIn } from '../support/raw-socket.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'
import { withEvents } from '../support/with-events.ts'

const publishPath = '/v1/property-events'

const eventsOf = (count: number) =>
  JSON.stringify(
    Array.from({ length: count }, (_, index) => ({
      payload: property({ directions: `Tŷ Gwyn £${index} 🏡` }),
    })),
  )

function post(key: string, count: number, chunkBytes?: number): Buffer {
  const body = Buffer.from(eventsOf(count))
  const lines = [`x-api-key: ${key}`, 'content-type: application/json']
  if (chunkBytes === undefined)
    return Buffer.concat([
      Buffer.from(head(`POST ${publishPath} HTTP/1.1`, ...lines, `content-length: ${body.length}`)),
      body,
    ])
  const parts = [Buffer.from(head(`POST ${publishPath} HTTP/1.1`, ...lines, 'transfer-encoding: chunked'))]
  for (let at = 0; at < body.length; at += chunkBytes) {
    const piece = body.subarray(at, at + chunkBytes)
    parts.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}

const get = (path: string, key: string, method = 'GET') =>
  Buffer.from(head(`${method} ${path} HTTP/1.1`, `x-api-key: ${key}`))

/** Each: the requests of one connection, and how many events they publish. */
const cases: readonly {
  readonly what: string
  readonly bytes: (tenant: TestService['tenant']) => readonly Buffer[]
  readonly stored: number
}[] = [
  { what: 'a list', bytes: ({ readKey }) => [get(listPath, readKey)], stored: 0 },
  { what: 'a snapshot', bytes: ({ readKey }) => [get(`${publishPath}/snapshot`, readKey)], stored: 0 },
  { what: 'one event', bytes: ({ publishKey }) => [post(publishKey, 1)], stored: 1 },
  { what: 'one event in one chunk', bytes: ({ publishKey }) => [post(publishKey, 1, 100_000)], stored: 1 },
  { what: 'one event in chunks of 7 bytes', bytes: ({ publishKey }) => [post(publishKey, 1, 7)], stored: 1 },
  { what: '300 events', bytes: ({ publishKey }) => [post(publishKey, 300)], stored: 300 },
  { what: '300 events in chunks', bytes: ({ publishKey }) => [post(publishKey, 300, 5_000)], stored: 300 },
  {
    what: 'pipelined requests',
    bytes: ({ publishKey, readKey }) => [
      get(listPath, readKey),
      post(publishKey, 2),
      get(listPath, readKey, 'HEAD'),
      post(publishKey, 40, 900),
      get(`${publishPath}?after=0`, readKey),
    ],
    stored: 42,
  },
]

/** The engine keeps its answers to itself until `release`. */
function heldStore() {
  const held = Promise.withResolvers<void>()
  const wrap = (storage: StorageEngine): StorageEngine =>
    withEvents(storage, {
      append: async (...given) => {
        const outcomes = await storage.events.append(...given)
        await held.promise
        return outcomes
      },
      locate: async (query) => {
        const located = await storage.events.locate(query)
        await held.promise
        return located
      },
    })
  return { wrap, release: () => held.resolve() }
}

onTransports('a whole request whose client then closes its side', (transport) => {
  for (const { what, bytes, stored } of cases) {
    it(`is answered, however long that takes: ${what} (PROTOCOL §1)`, async () => {
      const { wrap, release } = heldStore()
      const service = await startTestService({ wrap, ...transport })
      try {
        const requests = bytes(service.tenant)
        const { socket, far } = await openWithFarEnd(service.port)
        const answer = collect(socket, { waitMs: 30_000 })
        socket.end(Buffer.concat(requests))
        // While requests wait for the answers before them, the service reads nothing more, and so no end either.
        await until(() => far.readableEnded || far.destroyed || requests.length > 1, {
          what: 'the end of the connection',
        })
        release()
        const { text } = await answer
        const methods = requests.map((one) => one.toString('latin1').split(' ', 1)[0] ?? '')
        const statuses = repliesIn(text, methods).map(({ status }) => status)
        assert.deepEqual(
          statuses,
          methods.map((method) => (method === 'POST' ? 201 : 200)),
        )
        const kept = pageOf(await call(service, listPath, { key: service.tenant.readKey }))
        assert.equal(kept.availableCount, stored)
      } finally {
        release()
        await service.stop()
      }
    })
  }

  for (const [what, path] of [
    ['a long-poll', `${publishPath}?after=0&wait=30`],
    ['a stream', `${publishPath}/stream?after=head`],
    ['a wait for heads', '/v1/heads?since=head&wait=30'],
  ] as const) {
    it(`is over if it waits for events: ${what} (PROTOCOL §13)`, async () => {
      const service = await startTestService(transport)
      try {
        const waiting = async () =>
          /^property_events_waiting_requests(?:\{[^}]*\})? [1-9]/m.test(await metricsOf(service))
        const { socket } = await openWithFarEnd(service.port)
        const answer = collect(socket, { waitMs: 30_000 })
        const query = path.replace('since=head', `since=${await nextOf(service)}`)
        socket.write(get(query, service.tenant.readKey))
        await until(waiting, { what: 'a reader that waits' })
        socket.end()
        await until(async () => !(await waiting()), { what: 'that nobody waits' })
        assert.equal((await answer).closed, true)
      } finally {
        await service.stop()
      }
    })
  }
})

it('a request for metrics is answered although its client then closes its side (D9)', async () => {
  const service = await startTestService({})
  try {
    const { socket } = await openWithFarEnd(Number(new URL(service.service.metricsUrl ?? '').port))
    const answer = collect(socket, { waitMs: 30_000 })
    socket.end(head('GET /metrics HTTP/1.1'))
    assert.equal((await answer).status, 200)
  } finally {
    await service.stop()
  }
})

async function metricsOf({ service }: TestService): Promise<string> {
  return (await fetch(service.metricsUrl ?? '')).text()
}

async function nextOf(service: TestService): Promise<string> {
  const { next }: { next: string } = JSON.parse(
    (await call(service, '/v1/heads', { key: service.tenant.readKey })).text,
  )
  return next
}
