/** `client.follow` against a real service: by streams, by requests that wait and by polls (PROTOCOL §13). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { publish } from '../../../server/test/support/http-client.ts'
import { property } from '../../../server/test/support/property.ts'
import { startTestService } from '../../../server/test/support/test-service.ts'
import type { TestService } from '../../../server/test/support/test-service.ts'
import { until, within } from '../../../server/test/support/until.ts'
import {
  AccessError,
  ConflictError,
  InvalidOptionError,
  InvalidRequestError,
  NetworkError,
  createClient,
} from '../../src/index.ts'
import type { FollowMark, FollowPosition } from '../../src/index.ts'
import { clientOf, numbersOf, take, watched } from '../support/live.ts'

const some = (count: number, more: Readonly<Record<string, unknown>> = {}) =>
  Array.from({ length: count }, () => ({ payload: property(more) }))

describe('following a feed', () => {
  let service: TestService
  before(async () => {
    service = await startTestService({ limits: { markEveryMs: 100, waitingPerKey: 8, longestWaitMs: 600 } })
    await publish(service, some(5))
  })
  after(() => service.stop())

  const headNow = async () => (await clientOf(service).heads())[0]?.sequenceNumber ?? 0
  const numbersAfter = async (after: number, apiEventType?: string) =>
    numbersOf((await clientOf(service).after({ after, apiEventType })).items)

  it('is one loop: events as they come, from now on, each with the position to continue from (L1)', async () => {
    const head = await headNow()
    const taking = take(clientOf(service).follow(), 3)
    const positions = new Set<FollowPosition>()
    // Published until the loop has begun: what came before it is not for it.
    let isDone = false
    void taking.then(() => (isDone = true))
    await until(async () => {
      await publish(service, some(1))
      return isDone
    })
    const events = await taking
    for (const { checkpoint } of events) positions.add(checkpoint)
    assert.ok(events.every(({ sequenceNumber }) => sequenceNumber > head))
    const [first] = events
    assert.deepEqual(numbersOf(events), (await numbersAfter((first?.sequenceNumber ?? 0) - 1)).slice(0, 3))
    const { after: number, epoch } = events[1]?.checkpoint ?? {}
    assert.equal(number, events[1]?.sequenceNumber)
    assert.ok(epoch !== undefined)
    const [next] = await take(clientOf(service).follow(events[1]?.checkpoint), 1)
    assert.deepEqual(next, events[2])
  })

  for (const transport of ['auto', 'stream', 'wait', 'polls'] as const) {
    it(`hands out the whole feed and what comes after it, by ${transport} (PROTOCOL §13)`, async () => {
      const before = await numbersAfter(0)
      const taking = take(clientOf(service).follow({ after: 0, transport }), before.length + 2)
      await publish(service, some(2))
      const events = await within(taking)
      assert.deepEqual(numbersOf(events), (await numbersAfter(0)).slice(0, events.length))
      const [plain] = (await clientOf(service).after({ after: 0, limit: 1 })).items
      const [first] = events
      assert.ok(plain !== undefined)
      assert.deepEqual(first, { ...plain, checkpoint: first?.checkpoint })
    })
  }

  it('continues where it was left, with the same follower or with its checkpoint (L1)', async () => {
    const all = await numbersAfter(0)
    const follower = clientOf(service).follow({ after: 0 })
    const positionBefore = follower.checkpoint
    assert.equal(positionBefore, undefined)
    const first = await take(follower, 2)
    assert.deepEqual(follower.checkpoint, first[1]?.checkpoint)
    const second = await take(follower, 2)
    const third = await take(clientOf(service).follow({ ...follower.checkpoint }), 1)
    assert.deepEqual(numbersOf([...first, ...second, ...third]), all.slice(0, 5))
  })

  it('reports its position while nothing of its category comes, with head and revision (PROTOCOL §13)', async () => {
    const head = await headNow()
    const marks: FollowMark[] = []
    const ended = new AbortController()
    const follower = clientOf(service).follow({
      apiEventType: 'lettingsproperty',
      onMark: (mark) => void marks.push(mark),
      signal: ended.signal,
    })
    const reading = (async () => {
      for await (const event of follower) assert.fail(`${event.sequenceNumber} is no letting`)
    })()
    await until(() => marks.length > 0)
    await publish(service, some(2))
    await until(() => (follower.checkpoint?.after ?? 0) >= head + 2, { what: 'a mark after the sales' })
    assert.ok((follower.head ?? 0) >= head + 2)
    assert.equal(follower.revision, 0)
    ended.abort()
    await reading
  })

  it('ends quietly when its signal says so, before it begins and while it waits (PROTOCOL §13)', async () => {
    assert.deepEqual(await take(clientOf(service).follow({ signal: AbortSignal.abort() }), 1), [])
    for (const transport of ['stream', 'wait', 'polls'] as const) {
      const ended = new AbortController()
      const query = { transport, signal: ended.signal, onMark: () => ended.abort() }
      assert.deepEqual(await within(take(clientOf(service).follow(query), 1)), [])
    }
  })

  it('closes its connection when the loop is left, whatever it waits by (L3)', async () => {
    for (const transport of ['stream', 'wait', 'polls'] as const) {
      const { fetch, seen } = watched()
      await take(clientOf(service, { fetch }).follow({ after: 0, transport }), 1)
      await until(() => seen.every(({ isClosed }) => isClosed), {
        what: `the end of every answer, by ${transport}`,
      })
    }
  })

  it('takes no more from the network than its loop takes (L3)', async () => {
    const from = await headNow()
    const long = { details: { description: 'x'.repeat(60_000) } }
    for (let round = 0; round < 5; round += 1) await publish(service, some(20, long))
    const { fetch, seen } = watched()
    const numbers: number[] = []
    let bytesAfterFirst = 0
    for await (const event of clientOf(service, { fetch }).follow({ after: from, transport: 'stream' })) {
      numbers.push(event.sequenceNumber)
      if (numbers.length === 1) {
        const stream = seen.find(({ path }) => path.includes('/stream'))
        // Until nothing more comes by itself: a reader that gathers would go on to the last byte.
        await until(
          () => {
            const before = bytesAfterFirst
            bytesAfterFirst = stream?.bytes ?? 0
            return bytesAfterFirst === before
          },
          { everyMs: 50 },
        )
      }
      if (numbers.length === 100) break
    }
    assert.ok(bytesAfterFirst < 1_000_000, `${bytesAfterFirst} of 6,000,000 bytes were taken`)
    assert.deepEqual(
      numbers,
      Array.from({ length: 100 }, (_, index) => from + 1 + index),
    )
  })

  it('hands out events of some types alone, and every removal (PROTOCOL §13)', async () => {
    const from = await headNow()
    const reference = randomUUID()
    const of = (price: number) => ({
      payload: { agent_ref: reference, published: true, price_information: { price } },
    })
    await publish(service, [of(1), of(2)])
    await publish(service, [of(3), { remove: { agentRef: reference } }])
    for (const transport of ['stream', 'wait', 'polls'] as const) {
      const query = { after: from, types: ['PropertyUpdated'], transport } as const
      const codes = (await within(take(clientOf(service).follow(query), 3))).map(
        ({ eventTypeShortCode }) => eventTypeShortCode,
      )
      assert.deepEqual(codes, ['PropertyUpdated', 'PropertyUpdated', 'PropertyUnpublished'])
    }
  })

  it('learns that a type is misspelt, instead of reading the rest as if there were nothing (D19, PROTOCOL §13.4)', async () => {
    for (const transport of ['stream', 'wait', 'polls'] as const) {
      const query = { after: 0, types: ['PropertyUpdatd'], transport }
      await assert.rejects(within(take(clientOf(service).follow(query), 1)), InvalidRequestError)
    }
  })

  it('polls while as many requests wait as the limit allows, and misses nothing (PROTOCOL §8)', async () => {
    const crowded = await startTestService({ limits: { waitingPerKey: 1 } })
    try {
      const waits: string[] = []
      const retry = { onWait: ({ code }: { code: string }) => void waits.push(code) }
      const takings = [1, 2, 3].map(() => take(clientOf(crowded, { retry }).follow({ after: 0 }), 20))
      for (let round = 0; round < 20; round += 1) await publish(crowded, some(1))
      for (const events of await within(Promise.all(takings))) {
        assert.deepEqual(
          numbersOf(events),
          Array.from({ length: 20 }, (_, index) => index + 1),
        )
      }
      assert.ok(waits.includes('too_many_waiting'))
    } finally {
      await crowded.stop()
    }
  })

  it('ends with what no waiting mends: a wrong key, a revoked one, a number that the feed has not reached (D11, PROTOCOL §11.2)', async () => {
    const first = (key: string, query = {}) =>
      take(createClient({ baseUrl: service.url, key }).follow(query), 1)
    await assert.rejects(first('pev_wrong'), AccessError)
    await assert.rejects(first(service.tenant.readKey, { after: 900_000_000 }), {
      code: 'cursor_beyond_head',
    })
    await assert.rejects(first(service.tenant.readKey, { after: 1, epoch: 'other' }), ConflictError)
    for (const query of [
      { after: -1 },
      { after: 1.5 },
      { transport: 'pigeon' },
      { types: [] },
      { types: ['a b'] },
    ]) {
      assert.throws(() => clientOf(service).follow(query as object), InvalidOptionError)
    }
    const grants = [{ tenantId: service.tenant.tenantId, scopes: ['property:read' as const] }]
    const { keyId, text } = await service.issue({ grants })
    const marks: FollowMark[] = []
    const revoked = take(
      clientOf(service, { key: text }).follow({ onMark: (mark) => void marks.push(mark) }),
      1,
    )
    revoked.catch(() => undefined)
    await until(() => marks.length > 0)
    await service.storage.keys.revokeKey(keyId, Date.now(), 'cli:test')
    await assert.rejects(within(revoked), { code: 'key_revoked' })
  })

  it('throws when nothing answers at the beginning, and outlives what happens later (L1)', async () => {
    const absent = createClient({
      baseUrl: 'http://127.0.0.1:9',
      key: 'k',
      retry: { attempts: 2, baseDelayMs: 1 },
    })
    await assert.rejects(take(absent.follow(), 1), NetworkError)
    let isAway = false
    const troubles: string[] = []
    const client = clientOf(service, {
      retry: { attempts: 2 },
      fetch: (input, init) => (isAway ? Promise.reject(new TypeError('away')) : fetch(input, init)),
    })
    const marks: FollowMark[] = []
    const taking = take(
      client.follow({
        onMark: (mark) => void marks.push(mark),
        onTrouble: ({ code }) => troubles.push(code),
        transport: 'wait',
        after: await headNow(),
      }),
      2,
    )
    await publish(service, some(1))
    isAway = true
    await until(() => troubles.length >= 2, { what: 'trouble, told twice' })
    await publish(service, some(1))
    isAway = false
    assert.equal((await within(taking)).length, 2)
    assert.ok(troubles.every((code) => code === 'network'))
  })

  it('ends when numbers have changed their meaning, or starts over if its caller can (D13, L1)', async () => {
    const own = await startTestService({ limits: { markEveryMs: 100, longestWaitMs: 600 } })
    try {
      await publish(own, some(3))
      const { tenantId } = own.tenant
      const newEpoch = () => own.storage.startEpoch(0, 'cli:test', [{ tenantId, feed: 'property' }])
      for (const transport of ['stream', 'wait', 'polls'] as const) {
        let isRead = false
        const reading = take(
          clientOf(own).follow({ after: 3, transport, onMark: () => void (isRead = true) }),
          1,
        )
        reading.catch(() => undefined)
        await until(() => isRead)
        await newEpoch()
        await assert.rejects(within(reading), { code: 'epoch_changed' })
      }
      let log: number[] = []
      const reasons: string[] = []
      const ended = new AbortController()
      const reading = (async () => {
        const onReset = (reason: string) => {
          reasons.push(reason)
          log = []
        }
        for await (const { sequenceNumber } of clientOf(own).follow({
          after: 0,
          onReset,
          signal: ended.signal,
        })) {
          log.push(sequenceNumber)
        }
      })()
      await until(() => log.length === 3)
      await newEpoch()
      await until(() => reasons.length === 1 && log.length === 3, { what: 'the feed, a second time' })
      const receipt = await publish(own, some(1))
      await until(() => log.length === 4)
      ended.abort()
      await reading
      assert.deepEqual(reasons, ['epoch_changed'])
      assert.equal(log.at(-1), receipt.events[0]?.sequenceNumber)
    } finally {
      await own.stop()
    }
  })
})
