/** A sync tells the service how far its copy is, and never more than the copy has (PROTOCOL §14.5). */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { publish } from '../../../server/test/support/http-client.ts'
import { property } from '../../../server/test/support/property.ts'
import { startTestService } from '../../../server/test/support/test-service.ts'
import type { TestService } from '../../../server/test/support/test-service.ts'
import { until, within } from '../../../server/test/support/until.ts'
import { AbortedError, createClient, memoryCheckpoint } from '../../src/index.ts'
import type { ClientOptions, SyncOptions } from '../../src/index.ts'
import { createPlainServer, plainServerOverlapMs } from '../support/plain-server.ts'
import { randomOf } from '../support/random.ts'
import { eventOf, ownReadsOver, urlOf } from '../support/small-feed.ts'
import type { SmallFeed } from '../support/small-feed.ts'

interface Put {
  readonly path: string
  readonly consumer: string | null
  readonly body: unknown
}

/** A feed with our own reads that answers acknowledgements as it is told, and a sync of it. */
function scene(given: { readonly answer?: (put: Put) => Response | Promise<Response> } = {}) {
  const { answer = () => new Response(null, { status: 204 }) } = given
  let feed: SmallFeed = { tenantId: 't', epoch: 'one', events: [eventOf(1, 'a'), eventOf(2, 'b')] }
  const puts: Put[] = []
  const happened: string[] = []
  const clock = { nowMs: 1_000_000 }
  const reads = ownReadsOver(() => feed)
  const fetch: ClientOptions['fetch'] = async (input, init) => {
    if (init?.method !== 'PUT') return reads(input, init)
    const consumer = new Headers(init.headers).get('x-feed-consumer')
    const put = {
      path: urlOf(input).pathname,
      consumer,
      body: JSON.parse(typeof init.body === 'string' ? init.body : ''),
    }
    puts.push(put)
    happened.push('put')
    return new Promise((resolve, reject) => {
      init.signal?.addEventListener('abort', () => reject(new TypeError('cut')))
      Promise.resolve(answer(put)).then(resolve, reject)
    })
  }
  const clientOf = (options: Partial<ClientOptions> = {}) =>
    createClient({ baseUrl: 'http://feed.example', key: 'k', fetch, now: () => clock.nowMs, ...options })
  const checkpoint = memoryCheckpoint()
  const options: SyncOptions = {
    checkpoint: {
      load: () => checkpoint.load(),
      save: (kept) => {
        happened.push('save')
        checkpoint.save?.(kept)
      },
    },
    apply: ({ changes }) => void happened.push(`apply ${changes.length}`),
    onCaughtUp: () => void happened.push('caught up'),
  }
  return {
    puts,
    happened,
    clock,
    clientOf,
    options,
    numbers: () => puts.map(({ body }) => (body as { sequenceNumber: number }).sequenceNumber),
    publish: (subject: string) => {
      feed = { ...feed, events: [...feed.events, eventOf(feed.events.length + 1, subject)] }
    },
    startEpoch: (epoch: string) => {
      feed = { ...feed, epoch }
    },
  }
}

describe('a sync that has caught up', () => {
  it('says how far the copy is, after the copy and its checkpoint have it (PROTOCOL §14.5)', async () => {
    const { clientOf, options, puts, happened } = scene()
    await clientOf().sync(options)
    const body = { sequenceNumber: 2, epoch: 'one' }
    assert.deepEqual(puts, [{ path: '/v1/property-consumers/default/acknowledged', consumer: null, body }])
    assert.deepEqual(happened.slice(-4), ['apply 2', 'save', 'caught up', 'put'])
  })

  it('says it under its own name, and again with what came later (PROTOCOL §14.5)', async () => {
    const { clientOf, options, puts, publish: add, numbers, startEpoch } = scene()
    const client = clientOf({ consumer: 'website' })
    await client.sync(options)
    add('c')
    await client.sync(options)
    assert.deepEqual(numbers(), [2, 3])
    startEpoch('two')
    await client.sync(options)
    assert.deepEqual(puts.at(-1), {
      path: '/v1/property-consumers/website/acknowledged',
      consumer: 'website',
      body: { sequenceNumber: 3, epoch: 'two' },
    })
  })

  it('reports nothing that the copy did not take, or has not stored yet (PROTOCOL §14.5)', async () => {
    const { clientOf, options, numbers, publish: add } = scene()
    const failing = { ...options, apply: () => Promise.reject(new RangeError('no room')) }
    await assert.rejects(clientOf().sync(failing), RangeError)
    const unsaved = {
      ...options,
      checkpoint: { load: () => undefined, save: () => Promise.reject(new RangeError('no room')) },
    }
    await assert.rejects(clientOf().sync(unsaved), RangeError)
    let isStored = false
    await clientOf().sync({ ...options, isStored: () => isStored })
    assert.deepEqual(numbers(), [])
    isStored = true
    add('c')
    await clientOf().sync({ ...options, isStored: () => isStored })
    assert.deepEqual(numbers(), [3])
  })

  it('says a place twice at most, a minute apart, since a node may crash before it has stored it (PROTOCOL §14.5)', async () => {
    const { clientOf, options, numbers, clock } = scene()
    const client = clientOf()
    for (const laterMs of [0, 30_000, 40_000, 100_000, 100_000]) {
      clock.nowMs += laterMs
      await client.sync(options)
    }
    assert.deepEqual(numbers(), [2, 2])
  })

  it('reports nothing if switched off, nor for one category without a name: others may read with the same key (PROTOCOL §14.5)', async () => {
    const { clientOf, options, numbers } = scene()
    await clientOf().sync({ ...options, acknowledge: false })
    const sales = { ...options, checkpoint: memoryCheckpoint(), apiEventType: 'salesproperty' }
    await clientOf().sync(sales)
    assert.deepEqual(numbers(), [])
    await clientOf({ consumer: 'sales' }).sync(sales)
    assert.deepEqual(numbers(), [2])
  })

  for (const status of [403, 404, 405, 301]) {
    it(`continues when the answer is ${status}, and asks once (PROTOCOL §14.5)`, async () => {
      const {
        clientOf,
        options,
        puts,
        publish: add,
        clock,
      } = scene({
        answer: () =>
          new Response('no', { status, ...(status === 301 ? { headers: { location: '/' } } : {}) }),
      })
      const client = clientOf()
      assert.equal((await client.sync(options)).ended, 'caughtUp')
      add('c')
      clock.nowMs += 3_600_000
      assert.equal((await client.sync(options)).changes, 1)
      assert.equal(puts.length, 1)
    })
  }

  it('tries again later when the service is busy or away, and never sooner than allowed (PROTOCOL §14.5)', async () => {
    const answers = [
      () => new Response('', { status: 503, headers: { 'retry-after': '120' } }),
      () => Promise.reject(new TypeError('cut')),
      () => Response.json({ code: 'cursor_beyond_head' }, { status: 409 }),
      () => new Response(null, { status: 204 }),
    ]
    const { clientOf, options, puts, clock } = scene({ answer: () => (answers.shift() ?? assert.fail)() })
    const client = clientOf()
    const asked: number[] = []
    for (const laterMs of [0, 60_000, 61_000, 1_000, 10_000, 10_000, 10_000]) {
      clock.nowMs += laterMs
      await client.sync(options)
      asked.push(puts.length)
    }
    assert.deepEqual(asked, [1, 1, 2, 2, 3, 4, 4])
  })

  it('sends nothing to a server that has only the contract (PROTOCOL §14.5)', async () => {
    const server = createPlainServer({ random: randomOf(3), order: 'ascending', orderBy: 'number' })
    server.publish()
    server.settle()
    const methods: (string | undefined)[] = []
    const client = createClient({
      baseUrl: 'http://feed.example',
      key: 'k',
      fetch: (input, init) => {
        methods.push(init?.method)
        return server.fetch(input, init)
      },
    })
    const options = {
      checkpoint: memoryCheckpoint(),
      apply: () => undefined,
      overlapMs: plainServerOverlapMs,
    }
    assert.equal((await client.sync(options)).readBy, 'pages')
    assert.ok(methods.length > 0 && !methods.includes('PUT'))
  })
})

describe('a following sync', () => {
  /** Polls that find one event more each time, until it has polled so often; each pause takes so long. */
  async function followed(
    pauses: number,
    pauseMs: number,
    answer?: (put: Put) => Response | Promise<Response>,
  ): Promise<{ readonly numbers: readonly number[]; readonly applied: number }> {
    const stage = scene(answer === undefined ? {} : { answer })
    const ended = new AbortController()
    let slept = 0
    const client = stage.clientOf({
      sleep: async () => {
        // What is being said meanwhile is answered.
        await new Promise((resolve) => setImmediate(resolve))
        slept += 1
        stage.clock.nowMs += pauseMs
        stage.publish(`p${slept}`)
        if (slept <= pauses) return
        ended.abort()
        throw new AbortedError()
      },
    })
    const follow = { transport: 'polls', minIntervalMs: 1, maxIntervalMs: 1 } as const
    const result = await client.sync({ ...stage.options, follow, signal: ended.signal })
    return { numbers: stage.numbers(), applied: result.changes }
  }

  it('says it at most every 10 s, however much comes (PROTOCOL §14.5)', async () => {
    const { numbers, applied } = await followed(12, 5_000)
    assert.equal(applied, 14)
    assert.deepEqual(numbers, [2, 4, 6, 8, 10, 12, 14])
  })

  it('does not wait for the answer: events come meanwhile (PROTOCOL §14.5)', async () => {
    const never = new Promise<Response>(() => undefined)
    const { numbers, applied } = await within(followed(5, 60_000, () => never))
    assert.deepEqual([numbers, applied], [[2], 7])
  })
})

describe('a service', () => {
  let service: TestService
  before(async () => {
    service = await startTestService()
  })
  after(() => service.stop())

  it('knows how far each copy is, of properties and of contacts, while it follows too (PROTOCOL §14.5)', async () => {
    const { url, tenant } = service
    await publish(service, [{ payload: property() }, { payload: property() }])
    const inspector = await service.issue({
      grants: [{ tenantId: tenant.tenantId, scopes: ['tenant:inspect'] }],
    })
    const acknowledgedOf = async (feed: 'property' | 'contact') => {
      const { consumers } = await createClient({ baseUrl: url, key: inspector.text, feed }).consumers()
      return consumers.flatMap(({ name, acknowledged }) =>
        acknowledged === null ? [] : [[name, acknowledged.sequenceNumber]],
      )
    }
    const copyOf = (feed: 'property' | 'contact') => {
      const client = createClient({ baseUrl: url, key: tenant.readKey, feed, consumer: `${feed}-copy` })
      return client.sync({ checkpoint: memoryCheckpoint(), apply: () => undefined })
    }
    await copyOf('property')
    await copyOf('contact')
    assert.deepEqual(await acknowledgedOf('property'), [['property-copy', 2]])
    assert.deepEqual(await acknowledgedOf('contact'), [['contact-copy', 0]])
    const ended = new AbortController()
    const follower = createClient({ baseUrl: url, key: tenant.readKey }).sync({
      checkpoint: memoryCheckpoint(),
      apply: () => undefined,
      follow: true,
      signal: ended.signal,
    })
    await until(async () => (await acknowledgedOf('property')).length === 2)
    ended.abort()
    await follower
    assert.deepEqual(await acknowledgedOf('property'), [
      ['default', 2],
      ['property-copy', 2],
    ])
  })
})
