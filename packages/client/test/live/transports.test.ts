/** Which way a client waits by, where a proxy lets none through (PROTOCOL §13); and servers of the contract alone. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { AbortedError, createClient, memoryCheckpoint } from '../../src/index.ts'
import type { ClientOptions, FeedEvent } from '../../src/index.ts'
import { numbersOf, take } from '../support/live.ts'
import { createPlainServer } from '../support/plain-server.ts'
import { randomOf } from '../support/random.ts'
import { eventOf, eventsOf, ownReadsOver, urlOf } from '../support/small-feed.ts'

/** A feed with our own reads, whose streams and requests that wait are as `ways` says. Everything else is answered at once. */
function feedWith(ways: {
  readonly stream?: (url: URL, init: RequestInit | undefined) => Promise<Response> | Response
  readonly wait?: (url: URL, init: RequestInit | undefined) => Promise<Response> | Response
}) {
  const events: FeedEvent[] = eventsOf(3)
  const asked: string[] = []
  const own = ownReadsOver(() => ({ tenantId: 't', epoch: 'e', events }))
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const url = urlOf(input)
    const kind = url.pathname.endsWith('/stream') ? 'stream' : url.searchParams.has('wait') ? 'wait' : 'poll'
    if (url.pathname !== '/v1/heads') asked.push(kind)
    if (kind === 'stream') return (ways.stream ?? notFound)(url, init)
    if (kind === 'wait' && ways.wait !== undefined) return ways.wait(url, init)
    return own(input, init)
  }
  return {
    events,
    asked,
    fetch,
    publish: () => void events.push(eventOf(events.length + 1, `p${events.length + 1}`)),
  }
}

const notFound = () => Response.json({ code: 'path_not_found' }, { status: 404 })
/** An answer whose head is there and whose body is not, until the client gives up. */
function withheld(_: URL, init: RequestInit | undefined): Response {
  const body = new ReadableStream({
    start: (controller) =>
      init?.signal?.addEventListener('abort', () => controller.error(init.signal?.reason), { once: true }),
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

function streamOf(text: string): () => Response {
  return () => new Response(text, { headers: { 'content-type': 'text/event-stream' } })
}

const mark = (next: number, head = next) =>
  `id: e.${next}\nevent: mark\ndata: {"next":${next},"head":${head},"revision":0}\n\n`
const message = (event: FeedEvent) => `id: e.${event.sequenceNumber}\ndata: ${JSON.stringify(event)}\n\n`

/** A client whose pauses are over at once, and written down; each lets a second go by on its clock. */
function clientOf(fetch: typeof globalThis.fetch, more: Partial<ClientOptions> = {}) {
  const waits: number[] = []
  const clock = { ms: 1_000_000 }
  const client = createClient({
    baseUrl: 'http://feed.example',
    key: 'k',
    fetch,
    random: () => 0.5,
    now: () => clock.ms,
    sleep: async (ms, signal) => {
      waits.push(ms)
      await new Promise((resolve) => setImmediate(resolve))
      if (signal?.aborted === true) throw new AbortedError()
    },
    ...more,
  })
  return { client, waits, clock }
}

/** Lets go by what a promise waits for, on the clock of this test, until it is settled. */
async function ticking<T>(context: TestContext, promise: Promise<T>, stepMs = 1_000): Promise<T> {
  const settled = new AbortController()
  const settle = (): void => settled.abort()
  void promise.then(settle, settle)
  while (!settled.signal.aborted) {
    await new Promise((resolve) => setImmediate(resolve))
    context.mock.timers.tick(stepMs)
  }
  return promise
}

describe('a client that waits for events', () => {
  it('gives streams up for ten minutes when no mark comes within five seconds, and waits by requests (PROTOCOL §13)', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] })
    const { fetch, asked, publish } = feedWith({ stream: withheld })
    const { client, clock } = clientOf(fetch, { sleep: async () => publish() })
    const begun = take(client.follow({ after: 0, epoch: 'e' }), 4)
    assert.deepEqual(numbersOf(await ticking(context, begun)), [1, 2, 3, 4])
    // The first request by another way says where the feed is.
    assert.deepEqual(asked, ['stream', 'poll', 'wait', 'wait'])
    // Known for every reader of this client.
    await take(client.follow({ after: 3, epoch: 'e' }), 1)
    clock.ms += 599_000
    await take(client.follow({ after: 3, epoch: 'e' }), 1)
    assert.deepEqual(asked.slice(4), ['poll', 'poll'])
    clock.ms += 2_000
    await ticking(context, take(client.follow({ after: 3, epoch: 'e' }), 1))
    assert.deepEqual(asked.slice(6), ['stream', 'poll'])
  })

  it('keeps using streams after refusals, cuts and late answers, which do not show a buffering proxy (PROTOCOL §13)', async () => {
    const events = eventsOf(3)
    const answers = [
      () => new Response('', { status: 502 }),
      () => Response.json({ code: 'too_many_at_once' }, { status: 429, headers: { 'retry-after': '7' } }),
      () => Promise.reject(new TypeError('fetch failed')),
      streamOf(`retry: 2000\n${mark(0, 3)}${events.slice(0, 2).map(message).join('')}id: e.3\ndata: {"cut`),
      streamOf('retry: 2000\n'),
      streamOf(`retry: 3000\n${mark(2, 3)}${events.slice(2).map(message).join('')}${mark(3)}`),
      streamOf(mark(3)),
    ]
    let next = 0
    const asked: string[] = []
    const { client, waits } = clientOf(async (input) => {
      asked.push(urlOf(input).search)
      const answer = answers[next] ?? streamOf(`${mark(3)}${message(eventOf(4, 'p4'))}`)
      next += 1
      return answer()
    })
    const taken = await take(client.follow({ after: 0, epoch: 'e' }), 4)
    assert.deepEqual(numbersOf(taken), [1, 2, 3, 4])
    // Each goes on after the last id that came whole.
    assert.deepEqual(
      asked.map((query) => /after=(\d+)/.exec(query)?.[1]),
      ['0', '0', '0', '0', '2', '2', '3', '3'],
    )
    // Refusals: longer and longer, and as the service says. A stream that has begun: as it said itself.
    assert.deepEqual(waits, [250, 7_500, 1_000, 2_000, 250, 3_000, 2_000])
  })

  for (const [what, damaged] of Object.entries({
    'with an event twice': mark(0, 3) + message(eventOf(1, 'p1')) + message(eventOf(1, 'p1')),
    'without a mark': message(eventOf(1, 'p1')),
    'of another epoch': mark(0).replace('e.0', 'f.0'),
    'with an id that is not its event’s': mark(0, 3) + message(eventOf(2, 'p2')).replace('e.2', 'e.1'),
    'with something that is no event': `${mark(0, 3)}id: e.1\ndata: {"a":1}\n\n`,
    'with a mark of another form': `id: e.0\nevent: mark\ndata: {"next":1}\n\n`,
    'that is not UTF-8': `${mark(0, 3)}data: \udcff`,
  })) {
    it(`takes nothing from a stream ${what}, and requests it again (L1)`, async () => {
      const bytes = Buffer.from(damaged, what === 'that is not UTF-8' ? 'latin1' : 'utf8')
      let asked = 0
      const { client } = clientOf(async () => {
        asked += 1
        const body = asked === 1 ? bytes : Buffer.from(mark(0, 3) + eventsOf(3).map(message).join(''))
        return new Response(new Uint8Array(body), { headers: { 'content-type': 'text/event-stream' } })
      })
      assert.deepEqual(numbersOf(await take(client.follow({ after: 0, epoch: 'e' }), 3)), [1, 2, 3])
      assert.equal(asked, 2)
    })
  }

  it('pauses between requests if waiting requests are answered at once, and asks for shorter waits if a proxy ends them', async () => {
    const ended = new AbortController()
    const { fetch, asked } = feedWith({})
    const { client, waits } = clientOf(async (input, init) => {
      if (asked.length >= 6) ended.abort()
      return fetch(input, init)
    })
    await take(client.follow({ after: 3, transport: 'wait', signal: ended.signal }), 1)
    assert.ok(waits.length >= 4 && waits.every((ms) => ms >= 1_000), String(waits))
    const told: string[] = []
    const cut = feedWith({
      wait(url) {
        told.push(url.searchParams.get('wait') ?? '')
        if (told.length < 6) return new Response('', { status: 504 })
        return Response.json({ items: [eventOf(4, 'p4')], next: 4, head: 4, epoch: 'e', revision: 0 })
      },
    })
    await take(clientOf(cut.fetch).client.follow({ after: 3, transport: 'wait' }), 1)
    assert.deepEqual(told, ['25', '12', '6', '3', '1', '1'])
  })
})

describe('a server of the contract alone', () => {
  for (const order of ['ascending', 'descending'] as const) {
    it(`is followed by its pages, each event once, ${order} (spec §4.1)`, async () => {
      const random = randomOf(7)
      const server = createPlainServer({ random, order, orderBy: 'created' })
      for (let left = 30; left > 0; left -= 1) server.publish()
      const { client } = clientOf(server.fetch, {
        sleep: async () => {
          server.publish()
          server.settle()
        },
      })
      const all = await take(client.follow({ after: 0 }), 60)
      assert.deepEqual(
        numbersOf(all).toSorted((one, other) => one - other),
        Array.from({ length: 60 }, (_, index) => index + 1),
      )
      assert.deepEqual(all[0]?.checkpoint, { after: all[0]?.sequenceNumber })
      server.settle()
      const fromNow = await take(client.follow(), 3)
      const seen = new Set(numbersOf(all))
      assert.ok(fromNow.every(({ sequenceNumber }) => sequenceNumber > 60 && !seen.has(sequenceNumber)))
    })
  }

  it('that has lost what it showed ends the loop, or starts over (spec §1)', async () => {
    const server = createPlainServer({ random: randomOf(3), order: 'ascending', orderBy: 'number' })
    for (let left = 9; left > 0; left -= 1) server.publish()
    server.settle()
    let rounds = 0
    const sleep = async () => {
      rounds += 1
      if (rounds === 1) server.forget(4)
      server.publish()
      server.settle()
    }
    await assert.rejects(take(clientOf(server.fetch, { sleep }).client.follow({ after: 0 }), 20), {
      code: 'epoch_changed',
    })
    rounds = 0
    let log: number[] = []
    const onReset = () => void (log = [])
    for await (const { sequenceNumber } of clientOf(server.fetch, { sleep }).client.follow({
      after: 0,
      onReset,
    })) {
      log.push(sequenceNumber)
      if (log.length === 8 && rounds > 1) break
    }
    assert.deepEqual(log, [1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('is polled by a following sync as ever (spec §4.1)', async () => {
    const server = createPlainServer({ random: randomOf(1), order: 'ascending', orderBy: 'number' })
    server.publish()
    server.settle()
    const ended = new AbortController()
    const { client, waits } = clientOf(server.fetch, {
      sleep: async (ms) => {
        waits.push(ms)
        if (waits.length === 4) ended.abort()
      },
    })
    await client.sync({
      checkpoint: memoryCheckpoint(),
      apply: () => undefined,
      follow: true,
      signal: ended.signal,
    })
    assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000])
    assert.ok(server.requests.every((path) => !path.includes('/stream') && !path.includes('wait=')))
  })
})
