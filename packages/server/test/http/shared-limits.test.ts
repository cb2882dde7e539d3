/** Limits that several share: the nodes of a store, the keys of a tenant, the requests that a key has under way. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as fc from 'fast-check'
import { createTokenBuckets } from '../../src/http/rate-limit/token-bucket.ts'
import type { BucketState } from '../../src/http/rate-limit/token-bucket.ts'
import { rateLimitHeaders, retryAfter } from '../../src/http/rate-limit/rate-limit-headers.ts'
import type { StorageEngine } from '../../src/index.ts'
import { call, listPath, problemOf } from '../support/http-client.ts'
import { onTransports } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { withServiceClock } from '../support/service-with-clock.ts'
import type { TestService, TestServiceOptions } from '../support/test-service.ts'
import { until } from '../support/until.ts'

const readProperties = ['property:read'] as const

onTransports('limits that several share', (transport) => {
  const withService = (
    options: Omit<TestServiceOptions, 'clock'>,
    test: (service: TestService, advance: (ms: number) => void) => Promise<void>,
  ): Promise<void> => withServiceClock({ ...transport, ...options }, test)

  const list = (service: TestService, key: string, headers = {}) => call(service, listPath, { key, headers })
  const keyOf = async (service: TestService, rate?: { perSecond: number; burst: number }) => {
    const grants = [{ tenantId: service.tenant.tenantId, scopes: readProperties }]
    return service.issue({ grants, ...(rate === undefined ? {} : { rate }) })
  }

  it('hold for the keys of a tenant together, and say so (D10)', async () => {
    const limits = { requests: { perSecond: 2, burst: 4 }, tenantRequests: { perSecond: 1, burst: 6 } }
    await withService({ limits }, async (service, advance) => {
      const keys = await Promise.all([1, 2, 3].map(() => keyOf(service)))
      const [one, two, three] = keys.map(({ text }) => text)
      assert(one !== undefined && two !== undefined && three !== undefined)
      const said: (readonly [number, string])[] = []
      for (const key of [one, one, one, two, two, two]) {
        const { status, headers } = await list(service, key)
        assert.equal(headers['ratelimit-policy'], '"key";q=4;w=2, "tenant";q=6;w=6')
        said.push([status, String(headers.ratelimit)])
      }
      assert.deepEqual(said, [
        [200, '"key";r=3;t=1'],
        [200, '"key";r=2;t=1'],
        [200, '"key";r=1;t=2'],
        [200, '"tenant";r=2;t=4'],
        [200, '"tenant";r=1;t=5'],
        [200, '"tenant";r=0;t=1'],
      ])
      const refused = await list(service, three)
      assert.equal(refused.status, 429)
      assert.equal(refused.headers.ratelimit, '"tenant";r=0;t=1')
      assert.ok(['1', '2'].includes(String(refused.headers['retry-after'])))
      assert.equal(problemOf(refused).code, 'rate_limited')
      assert.match(problemOf(refused).detail, /Together, the keys of this tenant/)
      assert.equal((await list(service, service.otherTenant.readKey)).status, 200)
      advance(1_000)
      const again = await list(service, three)
      assert.equal(again.status, 200)
      // What its tenant was refused for, the key did not pay for.
      assert.equal(again.headers.ratelimit, '"tenant";r=0;t=1')
      advance(6_000)
      assert.equal((await list(service, three)).headers.ratelimit, '"key";r=3;t=1')
    })
  })

  it('charge the tenant for what its keys are charged for, and nothing for a 304 (D10)', async () => {
    const limits = { requests: { perSecond: 1, burst: 50 }, tenantRequests: { perSecond: 1, burst: 10 } }
    await withService({ limits }, async (service) => {
      const { readKey, publishKey } = service.tenant
      const leftAfter = async (path: string, options: Parameters<typeof call>[2]) => {
        const { headers } = await call(service, path, options)
        return Number(/^"tenant";r=(\d+)/.exec(String(headers.ratelimit))?.[1])
      }
      assert.equal(await leftAfter(listPath, { key: readKey }), 9)
      const poll = { key: readKey, headers: { 'if-none-match': '*' } }
      for (let time = 0; time < 12; time += 1) assert.equal(await leftAfter(listPath, poll), 9)
      const body = JSON.stringify({ payload: property() })
      assert.equal(await leftAfter('/v1/property-events', { method: 'POST', key: publishKey, body }), 8)
      assert.equal(await leftAfter(`${listPath}?page=0`, { key: readKey }), 7)
      assert.equal(await leftAfter('/v1/heads', { key: readKey }), NaN)
    })
  })

  it('give a key a rate of its own, above that of its tenant too, and change it while it is used (D10)', async () => {
    const limits = { requests: { perSecond: 1, burst: 2 }, tenantRequests: { perSecond: 1, burst: 3 } }
    await withService({ limits }, async (service, advance) => {
      const { text, keyId } = await keyOf(service, { perSecond: 10, burst: 20 })
      const first = await list(service, text)
      assert.equal(first.headers['ratelimit-policy'], '"key";q=20;w=2, "tenant";q=20;w=2')
      for (let time = 1; time < 20; time += 1) assert.equal((await list(service, text)).status, 200)
      assert.equal((await list(service, text)).status, 429)
      await service.storage.keys.changeKey(keyId, { rate: { perSecond: 5, burst: 5 } }, 'cli:test')
      advance(2_000)
      assert.equal((await list(service, text)).headers['ratelimit-policy'], '"key";q=5;w=1, "tenant";q=5;w=1')
      await service.storage.keys.changeKey(keyId, { rate: null }, 'cli:test')
      advance(3_000)
      assert.equal((await list(service, text)).headers['ratelimit-policy'], '"key";q=2;w=2, "tenant";q=3;w=3')
    })
  })

  it('let a key have a number of requests under way, whatever they wait for, while others continue (D10)', async () => {
    const gate = Promise.withResolvers<void>()
    const wrap = (storage: StorageEngine): StorageEngine => ({
      ...storage,
      [Symbol.asyncDispose]: () => storage.close(),
      events: {
        ...storage.events,
        append: async (batches) => {
          await gate.promise
          return storage.events.append(batches)
        },
      },
    })
    await withService({ limits: { requestsAtOncePerKey: 3 }, wrap }, async (service) => {
      const { readKey, publishKey } = service.tenant
      const body = JSON.stringify({ payload: property() })
      const publish = () => call(service, '/v1/property-events', { method: 'POST', key: publishKey, body })
      const waiting = Array.from({ length: 3 }, publish)
      // A key that may only publish is refused a list otherwise.
      await until(async () => (await list(service, publishKey)).status === 429, { what: 'three under way' })
      const refused = await publish()
      assert.equal(refused.status, 429)
      assert.equal(problemOf(refused).code, 'too_many_at_once')
      assert.match(problemOf(refused).detail, /3 requests in progress/)
      assert.ok(['1', '2'].includes(String(refused.headers['retry-after'])))
      assert.equal(refused.headers.ratelimit, undefined)
      assert.equal((await list(service, readKey)).status, 200)
      gate.resolve()
      for (const answer of await Promise.all(waiting)) assert.equal(answer.status, 201)
      assert.equal((await publish()).status, 201)
    })
  })

  it('count no request that has been answered or left, however it ended (D10)', async () => {
    await withService({ limits: { requestsAtOncePerKey: 2 } }, async (service) => {
      const { readKey, publishKey } = service.tenant
      const post = (body: unknown) =>
        ({ method: 'POST', key: publishKey, body: JSON.stringify(body) }) as const
      for (let time = 0; time < 5; time += 1) {
        assert.equal((await call(service, '/v1/property-events', post({ payload: property() }))).status, 201)
        assert.equal((await call(service, '/v1/property-events', post({ payload: 1 }))).status, 400)
        const snapshot = await call(service, '/v1/property-events/snapshot', { key: readKey })
        assert.equal(snapshot.status, 200)
        const gone = new AbortController()
        const left = fetch(`${service.url}${listPath}`, {
          headers: { 'x-api-key': readKey, 'x-feed-min-sequence': '1000' },
          signal: gone.signal,
        })
        gone.abort()
        await assert.rejects(left)
      }
      await until(async () => (await list(service, readKey)).status === 200, { what: 'all that left' })
    })
  })
})

/** A bucket on each of several nodes, which have no memory in common, and one clock. */
function onNodes(limits: { perSecond: number; burst: number }, count: number) {
  const cluster = { nowMs: 1_800_000_000_000, count }
  const nodes = Array.from({ length: count }, () =>
    createTokenBuckets({ limits, clock: () => cluster.nowMs, nodes: () => cluster.count }).of('key'),
  )
  return { cluster, nodes }
}

it('divide the rate of a key among the nodes that live: together they let through what one would (D10)', () => {
  const { cluster, nodes } = onNodes({ perSecond: 30, burst: 60 }, 3)
  const takeAll = () =>
    nodes.map((bucket) => {
      let taken = 0
      while (bucket.take().allowed) taken += 1
      return taken
    })
  assert.deepEqual(takeAll(), [20, 20, 20])
  cluster.nowMs += 1_000
  assert.deepEqual(takeAll(), [10, 10, 10])
  // One of them has gone.
  cluster.count = 2
  nodes.pop()
  cluster.nowMs += 1_000
  assert.deepEqual(takeAll(), [15, 15])
})

it('leave everybody the part of the burst that was left, when a node joins or goes (D10)', () => {
  const { cluster, nodes } = onNodes({ perSecond: 10, burst: 100 }, 1)
  const [bucket] = nodes
  assert(bucket !== undefined)
  for (let time = 0; time < 50; time += 1) bucket.take()
  assert.equal(bucket.peek().remaining, 50)
  cluster.count = 2
  assert.equal(bucket.peek().remaining, 25)
  cluster.count = 5
  assert.equal(bucket.peek().remaining, 10)
  cluster.count = 1
  assert.equal(bucket.peek().remaining, 50)
})

it('let each node have one request if there are more nodes than the burst has (D10)', () => {
  const { cluster, nodes } = onNodes({ perSecond: 1, burst: 2 }, 4)
  for (const bucket of nodes) assert.deepEqual([bucket.take().allowed, bucket.take().allowed], [true, false])
  cluster.nowMs += 3_999
  for (const bucket of nodes) assert.equal(bucket.take().allowed, false)
  cluster.nowMs += 1
  for (const bucket of nodes) assert.equal(bucket.take().allowed, true)
})

it('name a wait after which the request is let through, and none below that of RateLimit (D10)', () => {
  const rate = fc.record({
    perSecond: fc.integer({ min: 1, max: 400 }),
    burst: fc.integer({ min: 1, max: 40 }),
  })
  const step = fc.tuple(fc.constantFrom('take', 'charge', 'refund'), fc.nat({ max: 3_000 }))
  const given = fc.tuple(rate, fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 80 }))
  fc.assert(
    fc.property(given, ([limits, count, steps]) => {
      const { cluster, nodes } = onNodes(limits, count)
      const [bucket] = nodes
      assert(bucket !== undefined)
      for (const [verb, passedMs] of steps) {
        cluster.nowMs += passedMs / 10
        if (verb === 'charge') bucket.charge()
        else if (verb === 'refund') bucket.refund(bucket.peek())
        const tokens: BucketState = verb === 'take' ? bucket.take() : bucket.peek()
        if (tokens.allowed) continue
        const seconds = Number(retryAfter(tokens)['retry-after'])
        const announced = { key: limits, tenant: undefined, tokensOf: 'key', tokens } as const
        const { r, t } = itemOf(rateLimitHeaders(announced))
        assert.equal(r, 0)
        assert.ok(seconds >= t, `Retry-After ${seconds}, t ${t}`)
        assert.ok(seconds <= Math.max(1, Math.ceil((tokens.nextTokenMs / 1_000) * 1.2)))
        const before = cluster.nowMs
        cluster.nowMs += 1_000 * t
        assert.equal(bucket.peek().allowed, true, `after ${t} s`)
        cluster.nowMs = before
      }
    }),
  )
})

function itemOf(headers: Readonly<Record<string, string>>): { r: number; t: number } {
  const [, r, t] = /^"\w+";r=(\d+);t=(\d+)$/.exec(String(headers['ratelimit'])) ?? []
  return { r: Number(r), t: Number(t) }
}

it('count what is under way, and forget none of it in a spray of other names (D10)', () => {
  const buckets = createTokenBuckets({ limits: { perSecond: 1, burst: 5 }, clock: () => 0, capacity: 64 })
  const key = buckets.of('key')
  key.enter()
  key.enter()
  assert.equal(key.underWay, 2)
  for (let index = 0; index < 1_000; index += 1) buckets.of(`name ${index}`).take()
  assert.equal(key.underWay, 2)
  for (const left of [1, 0, 0]) {
    key.leave()
    assert.equal(key.underWay, left)
  }
})
