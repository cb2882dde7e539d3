import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { newKeyText } from '@property-events/protocol'
import * as fc from 'fast-check'
import { clientAddress, networkOf } from '../../src/http/requests/client-address.ts'
import { createTokenBuckets } from '../../src/http/rate-limit/token-bucket.ts'
import type { StorageEngine } from '../../src/index.ts'
import { call, getPath, listPath, problemOf, publish } from '../support/http-client.ts'
import { onTransports } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { head, open } from '../support/raw-socket.ts'
import { withServiceClock } from '../support/service-with-clock.ts'
import type { TestService, TestServiceOptions } from '../support/test-service.ts'

onTransports('rate limits', (transport) => {
  const withService = (
    options: Omit<TestServiceOptions, 'clock'>,
    test: (service: TestService, advance: (ms: number) => void) => Promise<void>,
  ): Promise<void> => withServiceClock({ ...transport, ...options }, test)

  it('let a burst through, then answer 429 with Retry-After until tokens return (D10)', async () => {
    await withService({ limits: { requests: { perSecond: 2, burst: 5 } } }, async (service, advance) => {
      const { readKey } = service.tenant
      for (let left = 4; left >= 0; left -= 1) {
        const answer = await call(service, listPath, { key: readKey })
        assert.equal(answer.status, 200)
        assert.equal(answer.headers['ratelimit-policy'], '"key";q=5;w=3, "tenant";q=25;w=3')
        // Until all are there again; where none is left, until the next one is.
        assert.equal(
          answer.headers.ratelimit,
          `"key";r=${left};t=${left === 0 ? 1 : Math.ceil((5 - left) / 2)}`,
        )
      }
      const refused = await call(service, listPath, { key: readKey })
      assert.equal(refused.status, 429)
      assert.equal(refused.headers['retry-after'], '1')
      assert.equal(refused.headers.ratelimit, '"key";r=0;t=1')
      assert.equal(problemOf(refused).code, 'rate_limited')
      assert.equal((await call(service, listPath, { key: service.otherTenant.readKey })).status, 200)
      advance(500)
      assert.equal((await call(service, listPath, { key: readKey })).status, 200)
      assert.equal((await call(service, listPath, { key: readKey })).status, 429)
    })
  })

  it('charge a token for each page, event and refusal, and nothing for a 304 (D10)', async () => {
    await withService({ limits: { requests: { perSecond: 1, burst: 50 } } }, async (service) => {
      const { events } = await publish(service, [{ payload: property() }])
      const left = async (path: string, headers = {}) => {
        const answer = await call(service, path, { key: service.tenant.readKey, headers })
        return Number(/^"key";r=(\d+)/.exec(String(answer.headers.ratelimit))?.[1])
      }
      assert.equal(await left(listPath), 49)
      for (let time = 0; time < 5; time += 1) assert.equal(await left(listPath, { 'if-none-match': '*' }), 49)
      assert.equal(await left(`${getPath}/${events[0]?.id}`), 48)
      assert.equal(await left(`${getPath}/00000000-0000-4000-8000-000000000000`), 47)
      assert.equal(await left(`${listPath}?page=0`), 46)
      assert.equal(await left(listPath), 45)
    })
  })

  it('charge nothing for a 304 of any read, in any spelling of its address (D10)', async () => {
    await withService({ limits: { requests: { perSecond: 1, burst: 20 } } }, async (service) => {
      const { readKey } = service.tenant
      const { events } = await publish(service, { payload: property() })
      const spellings = [
        ['GET', listPath],
        ['HEAD', listPath],
        ['GET', listPath.replace('/api/', '/API/')],
        ['GET', `http://127.0.0.1${listPath}`],
        ['GET', `http://127.0.0.1${getPath}/${events[0]?.id}`],
        ['HEAD', `${getPath}/${events[0]?.id}`],
      ] as const
      for (const [method, path] of spellings) {
        const { headers } = await call(service, path, { method, key: readKey })
        const condition = { method, key: readKey, headers: { 'if-none-match': String(headers.etag) } }
        for (let time = 0; time < 10; time += 1) {
          const answer = await call(service, path, condition)
          assert.equal(answer.status, 304)
          assert.equal(answer.headers.ratelimit, headers.ratelimit, `${method} ${path}`)
        }
      }
    })
  })

  it('say how long to wait in whole seconds, and never too few (D10)', async () => {
    const limits = { requests: { perSecond: 0.4, burst: 1 }, failures: { perSecond: 0.4, burst: 1 } }
    await withService({ limits }, async (service, advance) => {
      const { readKey } = service.tenant
      const listed = async () => {
        const { status, headers } = await call(service, listPath, { key: readKey })
        return [status, headers['retry-after']]
      }
      assert.deepEqual(await listed(), [200, undefined])
      assert.deepEqual(await listed(), [429, '3'])
      advance(1_000)
      assert.deepEqual(await listed(), [429, '2'])
      advance(1_499)
      assert.deepEqual(await listed(), [429, '1'])
      advance(1)
      assert.deepEqual(await listed(), [200, undefined])
      const guesses = await Promise.all([1, 2].map(() => call(service, listPath, { key: 'guess' })))
      assert.ok(guesses.some(({ status }) => status === 401))
      const { status, headers } = await call(service, listPath, { key: 'guess' })
      assert.deepEqual([status, Number(headers['retry-after']) >= 3], [429, true])
    })
  })

  it('make nobody wait longer than for two bursts, however much was guessed (D10)', () => {
    const wait = (charges: number): number => {
      const guesser = createTokenBuckets({ limits: { perSecond: 2, burst: 5 }, clock: () => 0 }).of('guesser')
      for (let charge = 0; charge < charges; charge += 1) guesser.charge()
      return guesser.peek().nextTokenMs
    }
    assert.equal(wait(5), 500)
    assert.equal(wait(10), 3_000)
    assert.equal(wait(15), 3_000)
    assert.equal(wait(1_000), 3_000)
  })

  it('stop an address that guesses, and no key that exists, used before or not (D10)', async () => {
    await withService({ limits: { failures: { perSecond: 1, burst: 10 } } }, async (service) => {
      const { tenant, otherTenant } = service
      const statuses: number[] = []
      for (let guess = 0; guess < 30; guess += 1)
        statuses.push((await call(service, listPath, { key: `pev_${guess}` })).status)
      assert.deepEqual(new Set(statuses.slice(0, 10)), new Set([401]))
      assert.deepEqual(new Set(statuses.slice(10)), new Set([429]))
      for (const key of [tenant.readKey, otherTenant.readKey, tenant.readKey]) {
        assert.equal((await call(service, listPath, { key })).status, 200)
      }
      const guess = await call(service, listPath, { key: newKeyText().text })
      assert.equal(guess.status, 429)
      assert.equal(problemOf(guess).code, 'too_many_failures')
      assert.ok(['1', '2'].includes(String(guess.headers['retry-after'])))
    })
  })

  it('do not let many simultaneous guesses past the limit (D10)', async () => {
    await withService({ limits: { failures: { perSecond: 1, burst: 5 } } }, async (service) => {
      await Promise.all(Array.from({ length: 40 }, () => call(service, listPath, { key: 'guess' })))
      assert.equal((await call(service, listPath, { key: 'guess' })).status, 429)
    })
  })

  it('count the guesses of clients that leave, or say that they say no more, before the store has answered (D10)', async () => {
    const options = {
      limits: { failures: { perSecond: 1, burst: 5 } },
      wrap: (storage: StorageEngine) => ({
        ...storage,
        [Symbol.asyncDispose]: () => storage.close(),
        keys: {
          ...storage.keys,
          findKey: (keyId: string) => delay(50).then(() => storage.keys.findKey(keyId)),
        },
      }),
    }
    for (const leave of [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy()]) {
      await withService(options, async (service) => {
        for (let guess = 0; guess < 6; guess += 1) {
          const socket = await open(service.port)
          socket.write(head(`GET ${listPath} HTTP/1.1`, `x-api-key: ${newKeyText().text}`))
          await delay(10)
          leave(socket)
          await delay(70)
        }
        assert.equal((await call(service, listPath, { key: 'guess' })).status, 429)
      })
    }
  })

  it('believe X-Forwarded-For only behind a proxy of our own (D10)', async () => {
    const failures = { perSecond: 1, burst: 3 }
    const guess = (service: TestService, forwardedFor: string) =>
      call(service, listPath, { key: 'guess', headers: { 'x-forwarded-for': forwardedFor } })
    await withService({ limits: { failures } }, async (service) => {
      const statuses: number[] = []
      for (let index = 0; index < 6; index += 1)
        statuses.push((await guess(service, `192.0.2.${index}`)).status)
      assert.deepEqual(statuses, [401, 401, 401, 429, 429, 429])
    })
    await withService({ limits: { failures }, trustedProxies: 1 }, async (service) => {
      for (let index = 0; index < 6; index += 1)
        assert.equal((await guess(service, `6.6.6.6, 192.0.2.${index}`)).status, 401)
      const same: number[] = []
      for (let index = 0; index < 5; index += 1)
        same.push((await guess(service, `6.6.6.${index}, 198.51.100.7`)).status)
      assert.deepEqual(same, [401, 401, 401, 429, 429])
    })
  })

  it('count an IPv6 subscriber by its /64 and an IPv4 one by its address (D10)', () => {
    assert.equal(networkOf(clientAddress('2001:db8:1:2:aaaa::1', undefined, 0)), '2001:db8:1:2::/64')
    assert.equal(networkOf(clientAddress('2001:DB8:1:2::ffff', undefined, 0)), '2001:db8:1:2::/64')
    assert.equal(networkOf(clientAddress('2001:db8:1::2', undefined, 0)), '2001:db8:1:0::/64')
    assert.equal(networkOf(clientAddress('::1', undefined, 0)), '0:0:0:0::/64')
    assert.equal(networkOf(clientAddress('::ffff:192.0.2.1', undefined, 0)), '192.0.2.1')
    assert.equal(
      networkOf(clientAddress('10.0.0.1', '192.0.2.1:443, [2001:db8::5]:1', 1)),
      '2001:db8:0:0::/64',
    )
    assert.equal(networkOf(clientAddress('10.0.0.1', '192.0.2.1, 10.0.0.2', 2)), '192.0.2.1')
    assert.equal(networkOf(clientAddress('10.0.0.1', 'nonsense', 1)), '10.0.0.1')
    assert.equal(networkOf(clientAddress('10.0.0.1', undefined, 1)), '10.0.0.1')
  })

  it('keep the limits of used-up addresses through a spray of 50,000 others, in bounded memory (D10)', () => {
    let nowMs = 0
    const limits = { perSecond: 1, burst: 50 }
    const buckets = createTokenBuckets({ limits, clock: () => nowMs, capacity: 16_384 })
    // Not one alone, which would be spared by chance where just any makes way.
    const guessers = Array.from({ length: 100 }, (_, index) => `guesser ${index}`)
    for (const guesser of guessers) for (let index = 0; index < 50; index += 1) buckets.of(guesser).charge()
    for (let index = 0; index < 50_000; index += 1) {
      if (index % 1_000 === 0) nowMs += 10
      buckets.of(`2001:db8:${index.toString(16)}::/64`).charge()
    }
    assert.equal(buckets.size, 16_384)
    for (const guesser of guessers) assert.equal(buckets.of(guesser).peek().allowed, false, guesser)
    assert.equal(buckets.of('somebody new').peek().allowed, true)
  })

  it('count tokens as a token bucket does, for any requests in any order (D10)', () => {
    const step = fc.tuple(fc.constantFrom('take', 'charge', 'refund', 'peek'), fc.nat({ max: 700 }))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 12 }), (steps, burst) => {
        let nowMs = 1_800_000_000_000
        const limits = { perSecond: 4, burst }
        const bucket = createTokenBuckets({ limits, clock: () => nowMs }).of('name')
        // A token every 250 ms, counted in quarters of a millisecond so that nothing is rounded.
        let quarters = burst * 1_000
        for (const [verb, passedMs] of steps) {
          nowMs += passedMs
          quarters = Math.min(burst * 1_000, quarters + passedMs * 4)
          const had = quarters >= 1_000
          if (verb === 'take') {
            if (had) quarters -= 1_000
            assert.equal(bucket.take().allowed, had)
          } else if (verb === 'charge') {
            bucket.charge()
            quarters = Math.max(-burst * 1_000, quarters - 1_000)
          } else if (verb === 'refund') {
            bucket.refund(bucket.peek())
            quarters = Math.min(burst * 1_000, quarters + 1_000)
          }
          const { allowed, nowUs: _, ...left } = bucket.peek()
          assert.equal(allowed, quarters >= 1_000)
          assert.equal(bucket.remaining(nowMs * 1_000), left.remaining)
          assert.deepEqual(left, {
            limits,
            remaining: Math.max(0, Math.floor(quarters / 1_000)),
            nextTokenMs: Math.max(0, (1_000 - quarters) / 4),
            fullMs: (burst * 1_000 - quarters) / 4,
          })
        }
      }),
    )
  })
})
