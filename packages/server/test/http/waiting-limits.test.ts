/** How many requests may wait for events: of a key, and of a node with all its threads (PROTOCOL §13, L3). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nodeCounts } from '../../src/http/bytes-in-flight.ts'
import { defaultLimits } from '../../src/http/limits.ts'
import { createTokenBuckets, steadyClock } from '../../src/http/rate-limit/token-bucket.ts'
import { createWaitingReaders } from '../../src/live/waiting-readers.ts'
import { openStream } from '../support/event-stream.ts'
import type { StreamReader } from '../support/event-stream.ts'
import { call, problemOf } from '../support/http-client.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

const path = '/v1/property-events'

/** One for each key, so that a limit of keys holds nobody. */
async function keysOf(service: TestService, count: number): Promise<readonly string[]> {
  const grants = [{ tenantId: service.tenant.tenantId, scopes: ['property:read' as const] }]
  const issued = await Promise.all(Array.from({ length: count }, () => service.issue({ grants })))
  return issued.map(({ text }) => text)
}

describe('requests that wait', () => {
  it('are by default 20 for a key and 2,000 for a node (PROTOCOL §13)', () => {
    assert.equal(defaultLimits.waitingPerKey, 20)
    assert.equal(defaultLimits.waitingPerNode, 2_000)
  })

  it('give their place back once each, however often their end is noticed, and lose none of it (L3)', () => {
    const buckets = createTokenBuckets({ limits: { perSecond: 1, burst: 1 }, clock: steadyClock })
    const counts = nodeCounts()
    const waiting = createWaitingReaders({ waitingPerKey: 2, waitingPerNode: 3 }, buckets, counts)
    const enter = (keyId: string) => {
      const leave = waiting.enter(keyId, 'stream')
      assert.ok(leave !== undefined, 'a place')
      return leave
    }
    const [first, second] = [enter('a'), enter('a')]
    for (let times = 0; times < 3; times += 1) first()
    assert.deepEqual(waiting.state(), { long_poll: 0, heads: 0, stream: 1 })
    const third = enter('a')
    assert.equal(waiting.enter('a', 'heads'), undefined, 'a key has two places')
    const other = enter('b')
    assert.equal(waiting.enter('c', 'long_poll'), undefined, 'a node has three places')
    for (const leave of [second, second, third, other, other, third]) leave()
    assert.deepEqual(waiting.state(), { long_poll: 0, heads: 0, stream: 0 })
    for (const keyId of ['c', 'd', 'e']) enter(keyId)
    assert.equal(waiting.enter('f', 'stream'), undefined)
  })

  it('are limited for a node, whatever their keys (L3)', async () => {
    const most = 6
    const service = await startTestService({ limits: { waitingPerNode: most } })
    const readers: StreamReader[] = []
    try {
      const [stranger = '', ...keys] = await keysOf(service, most + 1)
      for (const key of keys) readers.push(await openStream(service, `${path}/stream?after=head`, { key }))
      assert.ok(readers.every(({ status }) => status === 200))
      const ask = (query: string) => call(service, `${path}${query}`, { key: stranger })
      for (const query of ['/stream?after=head', '?after=0&wait=30']) {
        const refused = await ask(query)
        assert.equal(refused.status, 429, query)
        assert.equal(problemOf(refused).code, 'too_many_waiting')
      }
      assert.equal((await ask('?after=0')).status, 200, 'what does not wait is answered')
      readers.shift()?.close()
      await until(async () => (await ask('?after=0&wait=1')).status === 200, { what: 'a free place' })
    } finally {
      for (const reader of readers) reader.close()
      await service.stop()
    }
  })
})
