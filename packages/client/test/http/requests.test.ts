/** Listing, getting, publishing; and what happens when a request fails. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { problems } from '@property-events/protocol/problems'
import { startTestService } from '../../../server/test/support/test-service.ts'
import type { TestService } from '../../../server/test/support/test-service.ts'
import {
  AbortedError,
  AccessError,
  createClient,
  InvalidAnswerError,
  InvalidOptionError,
  InvalidRequestError,
  NetworkError,
  PropertyEventsError,
  ServiceError,
  UnavailableError,
} from '../../src/index.ts'
import type { ClientOptions, EventPage, Publication } from '../../src/index.ts'

function answering(
  answers: readonly (() => Response | Promise<Response>)[],
  options: Partial<ClientOptions> = {},
) {
  const waits: number[] = []
  let asked = 0
  const client = createClient({
    baseUrl: 'http://feed.example/',
    key: 'k',
    random: () => 0.5,
    sleep: async (ms) => void waits.push(ms),
    fetch: async () => {
      const answer = answers[Math.min(asked, answers.length - 1)]
      asked += 1
      if (answer === undefined) throw new TypeError('no answer')
      return answer()
    },
    ...options,
  })
  return { client, waits, asked: () => asked }
}

it('names the tenant of a key that covers several, and reads which feeds have moved', async () => {
  const seen: (readonly [unknown, string | null])[] = []
  const tenant = randomUUID()
  const next = '1-2-3'
  const client = createClient({
    baseUrl: 'http://feed.example/',
    key: 'k',
    tenant,
    fetch: async (input, init) => {
      seen.push([input, new Headers(init?.headers).get('x-tenant')])
      return Response.json({ heads: [], next })
    },
  })
  assert.deepEqual(await client.movedHeads(), { heads: [], next })
  assert.deepEqual(await client.movedHeads(next), { heads: [], next })
  assert.deepEqual(await client.heads(), [])
  const heads = 'http://feed.example/v1/heads'
  assert.deepEqual(seen, [
    [heads, tenant],
    [`${heads}?since=${next}`, tenant],
    [heads, tenant],
  ])
  assert.throws(
    () => createClient({ baseUrl: 'http://feed.example/', key: 'k', tenant: 'Hill & Co' }),
    InvalidOptionError,
  )
})

const emptyPage: EventPage = { items: [], page: 1, pageSize: 100, availableCount: 0, totalPages: 0 }
const page = () => Response.json(emptyPage)
const refusal =
  (status: number, code: string, headers: Record<string, string> = {}) =>
  () =>
    Response.json({ code, detail: 'Because.', status, requestId: 'r-1', errors: [] }, { status, headers })

function urlOf(server: Server): string {
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return `http://127.0.0.1:${address.port}`
}

describe('a request that fails', () => {
  it('is made again after waits that grow, when the failure may pass', async () => {
    for (const failure of [
      () => Promise.reject(new TypeError('fetch failed')),
      () => new Response('<html>', { status: 502 }),
      () => new Response('{"items":[{"id":'),
      () => new Response('{"items":"x"}'),
    ]) {
      const { client, waits, asked } = answering([failure, failure, failure, page])
      assert.deepEqual(await client.list(), emptyPage)
      assert.equal(asked(), 4)
      assert.deepEqual(waits, [250, 500, 1_000])
    }
  })

  it('waits at least as long as Retry-After says, and gives up if that is too long', async () => {
    const limited = refusal(429, 'rate_limited', { 'retry-after': '7' })
    const { client, waits } = answering([limited, page])
    await client.list()
    assert.deepEqual(waits, [7_250])
    const patient = answering([refusal(503, 'overloaded', { 'retry-after': '3600' })])
    await assert.rejects(async () => patient.client.list(), {
      code: 'overloaded',
      retryAfterMs: 3_600_000,
    })
    assert.equal(patient.asked(), 1)
  })

  it('ends with the error of its kind when the attempts or the deadline are used up', async () => {
    const limited = answering([refusal(429, 'rate_limited')], { retry: { attempts: 3 } })
    await assert.rejects(async () => limited.client.list(), UnavailableError)
    assert.equal(limited.asked(), 3)
    const broken = answering([() => Promise.reject(new TypeError('x'))], { retry: { attempts: 2 } })
    await assert.rejects(async () => broken.client.list(), { name: 'NetworkError', code: 'network' })
    const strange = answering([() => new Response('<html>')], { retry: { attempts: 2 } })
    await assert.rejects(async () => strange.client.list(), InvalidAnswerError)
    let nowMs = 0
    const slow = answering([refusal(503, 'overloaded')], {
      now: () => (nowMs += 100),
      deadlineMs: 1_000,
      retry: { attempts: 1_000 },
    })
    await assert.rejects(async () => slow.client.list(), { code: 'overloaded' })
    assert.ok(slow.asked() < 8)
  })

  it('is not made again when asking again cannot help', async () => {
    for (const status of [400, 401, 403, 404, 405, 406, 413]) {
      const { client, asked } = answering([() => new Response('', { status })])
      await assert.rejects(async () => client.list(), ServiceError)
      assert.equal(asked(), 1)
    }
  })

  it('is made again after the codes that pass, and after no other code of the service (PROTOCOL §7)', async () => {
    const passing = [
      'internal_error',
      'maintenance',
      'overloaded',
      'rate_limited',
      'request_timeout',
      'sequence_not_reached',
      'storage_full',
      'storage_unavailable',
      'tenant_moving',
      'too_many_at_once',
      'too_many_failures',
      'too_many_snapshots',
      'too_many_waiting',
      'view_being_made',
    ]
    const askedAgain: string[] = []
    for (const [code, { status }] of Object.entries(problems)) {
      const { client, asked } = answering([refusal(status, code, { 'retry-after': '60' }), page])
      await client.list().then(
        () => askedAgain.push(code),
        (error: unknown) => assert.ok(error instanceof ServiceError && error.code === code, String(error)),
      )
      assert.equal(asked(), askedAgain.includes(code) ? 2 : 1, code)
    }
    assert.deepEqual(askedAgain.toSorted(), passing)
  })

  it('reports before each wait what failed and how long the wait is', async () => {
    const told: unknown[] = []
    const { client } = answering([refusal(503, 'overloaded'), () => new Response('<html>'), page], {
      retry: { onWait: ({ code }, waitMs) => told.push([code, waitMs]) },
    })
    await client.list()
    assert.deepEqual(told, [
      ['overloaded', 250],
      ['invalid_answer', 500],
    ])
  })

  it('by a redirect is refused at once, with the address to use: the key goes nowhere else', async () => {
    const path = '/api/func/api/v1/events/getevents'
    const redirect = (location: string | undefined) => () =>
      new Response('moved', { status: 301, headers: location === undefined ? {} : { location } })
    // What a browser shows of a redirect: neither its status nor where it leads.
    const opaque = () => Object.defineProperty(Response.error(), 'type', { value: 'opaqueredirect' })
    for (const [answer, status, said] of [
      [redirect(`https://feed.example${path}?page=1`), 301, / Use https:\/\/feed\.example as the address\./],
      [redirect(`/feed${path}`), 301, / Use http:\/\/feed\.example\/feed as the address\./],
      [redirect('https://user:secret@login.example/a?token=x'), 301, / to https:\/\/login\.example\/a, /],
      [redirect('http://['), 301, / elsewhere, /],
      [redirect(undefined), 301, / elsewhere, /],
      [opaque, 0, / elsewhere, /],
    ] as const) {
      const { client, asked } = answering([answer])
      await assert.rejects(
        async () => client.list(),
        (error) => {
          assert.ok(error instanceof InvalidRequestError, String(error))
          assert.deepEqual([error.code, error.status], ['redirected', status])
          assert.match(error.message, said)
          assert.doesNotMatch(error.message, /secret|token/)
          return true
        },
      )
      assert.equal(asked(), 1)
    }
  })

  it('by a redirect goes nowhere else over real connections either, nor does its key, with any status (P10)', async (context) => {
    const askedThere: unknown[] = []
    const there = createServer((request, response) => {
      askedThere.push(request.headers['x-api-key'])
      response.setHeader('content-type', 'application/json').end(JSON.stringify(emptyPage))
    })
    let status = 0
    const here = createServer((request, response) => {
      response.writeHead(status, { location: `${urlOf(there)}${request.url}`, connection: 'close' }).end()
    })
    for (const server of [there, here]) {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      context.after(() => void server.close())
    }
    for (status of [301, 302, 303, 307, 308]) {
      const client = createClient({ baseUrl: urlOf(here), key: 'k' })
      const error: unknown = await client.list().then(undefined, (thrown: unknown) => thrown)
      assert.ok(error instanceof InvalidRequestError, String(error))
      assert.ok(error.message.endsWith(`Use ${urlOf(there)} as the address.`), error.message)
    }
    assert.deepEqual(askedThere, [])
  })

  it('reports its code, status, sentence and request id, whoever answered', async () => {
    const { client } = answering([refusal(403, 'missing_scope')])
    await assert.rejects(
      async () => client.list(),
      (error) => {
        assert.ok(error instanceof AccessError && error instanceof PropertyEventsError)
        assert.equal(error.name, 'AccessError')
        assert.deepEqual([error.code, error.status, error.requestId], ['missing_scope', 403, 'r-1'])
        assert.match(error.message, /^GET \/api\/func\/api\/v1\/events\/getevents: Because\.$/)
        return true
      },
    )
    const plain = answering([
      () => new Response('Go away', { status: 401, headers: { 'x-request-id': 'theirs' } }),
    ])
    await assert.rejects(
      async () => plain.client.list(),
      (error) => {
        assert.ok(error instanceof AccessError)
        assert.deepEqual([error.code, error.requestId], ['unauthorized', 'theirs'])
        return true
      },
    )
  })

  it('reports its faults as far as they are well-formed', async () => {
    const errors = [
      { pointer: 7, parameter: null, code: 'odd', message: 'No.' },
      'x',
      { code: 1, message: '' },
    ]
    const { client } = answering([() => Response.json({ code: 'invalid_body', errors }, { status: 400 })])
    await assert.rejects(client.publish({ payload: '{}' }), (error) => {
      assert.ok(error instanceof InvalidRequestError && error.code === 'invalid_body', String(error))
      assert.deepEqual(error.faults, [{ code: 'odd', message: 'No.' }])
      return true
    })
  })

  it('ends at its deadline in the middle of an attempt, whether the answer drips endlessly or never comes', async () => {
    const dripping: typeof fetch = async (_input, init) => {
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          await new Promise((resolve) => setTimeout(resolve, 5))
          if (init?.signal?.aborted === true) controller.error(init.signal.reason)
          else controller.enqueue(new Uint8Array([0x20]))
        },
      })
      return new Response(body)
    }
    const silent: typeof fetch = (_input, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
      })
    for (const fetch of [dripping, silent]) {
      const client = createClient({ baseUrl: 'http://feed.example', key: 'k', fetch, deadlineMs: 50 })
      const signal = AbortSignal.timeout(5_000)
      await assert.rejects(
        async () => client.list({ signal }),
        (error) => {
          assert.ok(error instanceof NetworkError && error.code === 'deadline', String(error))
          assert.match(error.message, /deadlineMs.* 50 ms/)
          return true
        },
      )
    }
  })

  it('without an answer ends at its limit, and at once when its signal aborts', async () => {
    const silent: typeof fetch = (_input, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
      })
    const options = { baseUrl: 'http://feed.example', key: 'k', fetch: silent, retry: { attempts: 1 } }
    await assert.rejects(async () => createClient({ ...options, attemptTimeoutMs: 5 }).list(), {
      name: 'NetworkError',
      code: 'deadline',
    })
    const ended = new AbortController()
    const listing = createClient(options).list({ signal: ended.signal })
    ended.abort()
    await assert.rejects(async () => listing, AbortedError)
    await assert.rejects(async () => createClient(options).list({ signal: ended.signal }), AbortedError)
  })
})

describe('the options of a client', () => {
  it('are checked before anything is sent, with a sentence', () => {
    for (const options of [
      { baseUrl: 'feed.example', key: 'k' },
      { baseUrl: 'ftp://feed.example', key: 'k' },
      { baseUrl: 'http://user:secret@feed.example', key: 'k' },
      { baseUrl: 'http://feed.example?x=1', key: 'k' },
      { baseUrl: 'http://feed.example', key: '' },
      { baseUrl: 'http://feed.example', key: 'k\r\nx-evil: 1' },
      { baseUrl: 'http://feed.example', key: 'k', attemptTimeoutMs: 0 },
    ]) {
      assert.throws(() => createClient(options), InvalidOptionError)
    }
  })

  it('mean their default when they are given as undefined', async () => {
    const retry = {
      attempts: undefined,
      baseDelayMs: undefined,
      maxDelayMs: undefined,
      maxRetryAfterMs: undefined,
    }
    const failing = answering([refusal(503, 'overloaded', { 'retry-after': '1' })], { retry })
    await assert.rejects(async () => failing.client.list(), { code: 'overloaded' })
    assert.equal(failing.asked(), 8)
    assert.deepEqual(failing.waits.slice(0, 2), [1_250, 1_500])
  })

  it('let the address carry a path prefix', async () => {
    const urls: string[] = []
    const client = createClient({
      baseUrl: 'https://feed.example/a/b/',
      key: 'k',
      fetch: async (input) => {
        urls.push(input instanceof Request ? input.url : new URL(input).href)
        return page()
      },
    })
    await client.list({ from: '2025-01-31 00:00:00.00', apiEventType: 'sales property' })
    assert.deepEqual(urls, [
      'https://feed.example/a/b/api/func/api/v1/events/getevents?apiEventType=sales%20property&page=1&pageSize=100&from=2025-01-31%2000%3A00%3A00.00',
    ])
  })
})

describe('a client of the service', () => {
  let service: TestService
  before(async () => {
    service = await startTestService()
  })
  after(() => service.stop())

  const reader = () => createClient({ baseUrl: service.url, key: service.tenant.readKey })
  const publisher = (options: Partial<ClientOptions> = {}) =>
    createClient({ baseUrl: service.url, key: service.tenant.publishKey, ...options })
  const propertyOf = (agent_ref: string = randomUUID()): Publication => ({
    payload: { agent_ref, published: true, details: { summary: 'x'.repeat(500) } },
  })

  it('publishes in batches, each event once, even when answers are lost (P6, D14)', async () => {
    let requests = 0
    const losing: typeof fetch = async (input, init) => {
      requests += 1
      const answer = await fetch(input, init)
      if (requests % 2 === 1) throw new TypeError('the answer was lost')
      return answer
    }
    const progress: number[] = []
    const client = publisher({ fetch: losing, sleep: async () => undefined })
    const receipt = await client.publish(
      Array.from({ length: 23 }, () => propertyOf()),
      { batchSize: 5, onProgress: ({ published }) => progress.push(published) },
    )
    assert.deepEqual(progress, [5, 10, 15, 20, 23])
    assert.equal(requests, 10)
    assert.equal(receipt.events.length, 23)
    assert.deepEqual(
      receipt.events.map(({ sequenceNumber }) => sequenceNumber),
      Array.from({ length: 23 }, (_, index) => index + 1),
    )
    assert.equal((await reader().list()).availableCount, 23)
  })

  it('keeps a batch under its size in bytes, and moves warnings to the place of their event', async () => {
    const bodies: number[] = []
    const counting: typeof fetch = (input, init) => {
      bodies.push(typeof init?.body === 'string' ? init.body.length : 0)
      return fetch(input, init)
    }
    const odd: Publication = { payload: { agent_ref: randomUUID(), published: true, status: 99 } }
    const receipt = await publisher({ fetch: counting }).publish([propertyOf(), propertyOf(), odd], {
      batchBytes: 1_000,
      dryRun: true,
    })
    assert.equal(bodies.length, 2)
    assert.ok(bodies.every((length) => length <= 1_000))
    const unknown = receipt.warnings.find(({ code }) => code === 'unknown_code')
    assert.equal(unknown?.index, 2)
  })

  it('counts the places of faults from the first event given, and says how many had been published (PROTOCOL §4.7)', async () => {
    const wrong = { agent_ref: randomUUID(), published: true, status: 'x' }
    const bad: Publication = { payload: JSON.stringify(wrong) }
    const given = [propertyOf(), propertyOf(), propertyOf(), bad, propertyOf()]
    const before = (await reader().list()).availableCount
    for (const { dryRun, said } of [
      { dryRun: true, said: /2 of 5 events had been checked before.* \/3\/payload\/status: / },
      { dryRun: false, said: /2 of 5 events had been published before.* \/3\/payload\/status: / },
    ]) {
      await assert.rejects(publisher().publish(given, { batchSize: 2, dryRun }), (error) => {
        assert.ok(error instanceof InvalidRequestError && error.code === 'invalid_body')
        assert.deepEqual(
          error.faults.map(({ pointer }) => pointer),
          ['/3/payload/status'],
        )
        assert.match(error.message, said)
        return true
      })
      assert.equal((await reader().list()).availableCount, before + (dryRun ? 0 : 2))
    }
  })

  it('ends a publish at once if only an operator can help, and publishes nothing twice after that (PROTOCOL §5.5)', async () => {
    for (const code of ['epoch_required', 'clock_behind', 'storage_damaged']) {
      const status = code === 'storage_damaged' ? 500 : 503
      const { client, asked, waits } = answering([refusal(status, code, { 'retry-after': '60' })])
      await assert.rejects(client.publish(propertyOf()), { code })
      assert.deepEqual([asked(), waits], [1, []], code)
    }
  })

  it('publishes a text as it is written, digits included, and names the faulty line (D22)', async () => {
    const id = randomUUID()
    const exact = `{"id":"${id}","payload":{"agent_ref":"${randomUUID()}","published":true,"price_information":{"price":450000.00}}}`
    const receipt = await publisher().publishText(`${exact}\n`)
    assert.deepEqual([receipt.events.map((event) => event.id), receipt.repeated], [[id], false])
    assert.equal((await publisher().publishText(exact)).repeated, true)
    assert.match((await reader().get(id))?.payload ?? '', /"price":450000\.00/)
    await assert.rejects(publisher().publishText(`${exact}\n{"id":`), (error) => {
      assert.ok(error instanceof InvalidRequestError && error.code === 'invalid_body')
      assert.match(error.faults[0]?.pointer ?? '', /^\/1/)
      return true
    })
  })

  it('distinguishes the reasons for which a publish can be refused', async () => {
    const id = randomUUID()
    await publisher().publish({ ...propertyOf(), id })
    await assert.rejects(publisher().publish({ ...propertyOf(), id }), {
      name: 'ConflictError',
      code: 'id_conflict',
    })
    await assert.rejects(publisher().publish({ payload: { agent_ref: 'x', published: true } }), (error) => {
      assert.ok(error instanceof InvalidRequestError && error.code === 'invalid_body')
      assert.ok((error.faults[0]?.pointer ?? '').includes('agent_ref'))
      return true
    })
    await assert.rejects(reader().publish(propertyOf()), { name: 'AccessError', code: 'missing_scope' })
  })

  it('iterates over all events, or over pages, from any page on', async () => {
    const all: number[] = []
    for await (const event of reader().list({ pageSize: 7 })) all.push(event.sequenceNumber)
    const { availableCount, totalPages } = await reader().list({ pageSize: 7 })
    assert.equal(all.length, availableCount)
    assert.deepEqual(
      all,
      all.toSorted((one, other) => one - other),
    )
    const pages: number[] = []
    for await (const page of reader().list({ pageSize: 7, page: 2 }).pages()) pages.push(page.page)
    assert.deepEqual(
      pages,
      Array.from({ length: totalPages - 1 }, (_, index) => index + 2),
    )
    await assert.rejects(async () => reader().list({ pageSize: 0 }), {
      name: 'InvalidRequestError',
      code: 'invalid_parameter',
    })
  })

  it('lists current events as of one moment, and stops when another walk has taken its place (PROTOCOL §3.5)', async () => {
    const all: (readonly [string, number])[] = []
    for await (const event of reader().list({ pageSize: 3, current: true }))
      all.push([event.transactionId, event.sequenceNumber])
    const last = new Map<string, number>()
    for await (const event of reader().list()) last.set(event.transactionId, event.sequenceNumber)
    assert.deepEqual(new Map(all), last)
    assert.equal(all.length, last.size)
    const pageAsOf = (page: number, asOf: string) => () =>
      Response.json(
        { items: [], page, pageSize: 1, availableCount: 2, totalPages: 2 },
        { headers: { 'x-current-as-of': asOf } },
      )
    const { client } = answering([pageAsOf(1, '12'), pageAsOf(2, '17')])
    await assert.rejects(
      async () => {
        for await (const page of client.list({ current: true }).pages()) assert.equal(page.page, 1)
      },
      {
        name: 'InvalidAnswerError',
        message: /Page 2 is as of event 17, and the pages before it as of event 12/,
      },
    )
  })

  it('accepts a time in any zone, with its offset (D5)', async () => {
    const [first, second] = (await reader().list({ pageSize: 2 })).items
    assert(first !== undefined && second !== undefined)
    const { availableCount } = await reader().list()
    // The same instant by the clock of summer in London, to the digit.
    const local = new Date(Date.parse(`${second.createdDate.slice(0, 23)}Z`) + 3_600_000).toISOString()
    const time = `${local.slice(0, 23)}${second.createdDate.slice(23)}+01:00`
    assert.equal((await reader().list({ from: time })).availableCount, availableCount - 1)
    assert.equal((await reader().list({ to: time })).items.at(-1)?.id, second.id)
    const asPhp = time.replace(/\+01:00$/, '+0100')
    assert.equal((await reader().list({ from: asPhp })).availableCount, availableCount - 1)
    await assert.rejects(async () => reader().list({ from: '2025-07-01T09:30+1' }), /written \+01:00/)
  })

  it('returns one event, one property and its history; undefined if there is none', async () => {
    const ref = randomUUID()
    await publisher().publish([propertyOf(ref), { remove: { agentRef: ref } }])
    const latest = await reader().subject(ref)
    assert.equal(latest?.eventTypeShortCode, 'PropertyUnpublished')
    assert.deepEqual(await reader().get(latest?.id ?? ''), latest)
    const history: string[] = []
    for await (const event of reader().history(ref)) history.push(event.eventTypeShortCode)
    assert.deepEqual(history, ['PropertyPublished', 'PropertyUnpublished'])
    assert.equal(await reader().get(randomUUID()), undefined)
    assert.equal(await reader().subject(randomUUID()), undefined)
    for await (const event of reader().history(randomUUID())) assert.fail(event.id)
    await assert.rejects(reader().get('x'), { name: 'InvalidRequestError', code: 'invalid_parameter' })
    const heads = await reader().heads()
    assert.equal(heads.find(({ feed }) => feed === 'property')?.sequenceNumber, latest?.sequenceNumber)
  })

  it('keeps a copy of contacts as of properties (D18)', async () => {
    const contact_ref = randomUUID()
    await publisher({ feed: 'contact' }).publish({
      payload: { contact_ref, kind: 'person', last_name: 'Byron' },
    })
    const names: (string | null)[] = []
    let saved: unknown
    const result = await createClient({
      baseUrl: service.url,
      key: service.tenant.readKey,
      feed: 'contact',
    }).sync({
      checkpoint: { load: () => saved },
      apply: ({ changes, checkpoint }) => {
        for (const change of changes) if (change.kind === 'upsert') names.push(change.payload.last_name)
        saved = checkpoint
      },
    })
    assert.deepEqual(names, ['Byron'])
    assert.equal(result.readBy, 'numbers')
  })
})
