/** The sync against a server that has only the contract's two operations. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { createClient } from '../../src/index.ts'
import { createConsumer, Crash } from '../support/consumer.ts'
import type { Consumer, Keeping } from '../support/consumer.ts'
import { withFaults } from '../support/faults.ts'
import { createPlainServer, plainServerOverlapMs } from '../support/plain-server.ts'
import type { PlainServer } from '../support/plain-server.ts'
import { pick, randomOf } from '../support/random.ts'

interface Story {
  readonly seed: number
  readonly order: 'ascending' | 'descending'
  readonly orderBy: 'number' | 'created'
  readonly pageSize: number
  readonly batchSize: number
  readonly faultShare: number
  readonly runs: number
  readonly keeping: Keeping
  readonly withCopyView: boolean
}

function storyOf(keeping: fc.Arbitrary<Keeping>): fc.Arbitrary<Story> {
  return fc.record({
    seed: fc.integer({ min: 0, max: 2 ** 31 }),
    order: fc.constantFrom('ascending', 'descending'),
    orderBy: fc.constantFrom('number', 'created'),
    pageSize: fc.integer({ min: 1, max: 8 }),
    batchSize: fc.integer({ min: 1, max: 6 }),
    faultShare: fc.constantFrom(0, 0.05, 0.2),
    runs: fc.integer({ min: 1, max: 6 }),
    keeping,
    withCopyView: fc.boolean(),
  })
}

/** Publishes, syncs and crashes by turns; then lets the feed rest, syncs once more, and compares. */
async function tell(story: Story): Promise<void> {
  const random = randomOf(story.seed)
  /** Events that appear between requests. With one event on a page, a feed that never rests would never be caught up. */
  let restless = 80
  const server: PlainServer = createPlainServer({
    random,
    order: story.order,
    orderBy: story.orderBy,
    beforeRequest: () => {
      if (random() >= 0.5) return
      for (let left = Math.min(restless, pick(random, 4)); left > 0; left -= 1) {
        restless -= 1
        server.publish()
      }
    },
  })
  const consumer = createConsumer(story.keeping)
  for (let left = 10 + pick(random, 40); left > 0; left -= 1) server.publish()
  for (let run = 0; run < story.runs; run += 1) {
    consumer.crashAfter(random() < 0.7 ? pick(random, 40) : Infinity)
    const network = withFaults(server.fetch, { random, share: story.faultShare })
    // Now and then the program ends between two answers, with nothing said to the copy.
    const ended = new AbortController()
    const endsAt = random() < 0.2 ? pick(random, 12) : Infinity
    let requests = 0
    const fetch: typeof globalThis.fetch = (input, init) => {
      requests += 1
      if (requests > endsAt) ended.abort()
      return network(input, init)
    }
    await syncOnce(consumer, story, fetch, ended.signal).catch((error: unknown) => {
      if (!(error instanceof Crash)) throw error
    })
    for (let left = pick(random, 12); left > 0; left -= 1) server.publish()
  }
  restless = 0
  server.settle()
  consumer.crashAfter(Infinity)
  const result = await syncOnce(consumer, story, server.fetch)
  assert.equal(result.ended, 'caughtUp')
  assert.equal(result.readBy, 'pages')
  consumer.checkEqual(server.fold())
}

function syncOnce(
  consumer: Consumer,
  story: Story,
  fetch: typeof globalThis.fetch,
  signal = new AbortController().signal,
) {
  return createClient({
    baseUrl: 'http://plain.example',
    key: 'k',
    fetch,
    sleep: async () => undefined,
    attemptTimeoutMs: 10,
    retry: { attempts: 100 },
  }).sync({
    checkpoint: consumer.checkpoint,
    apply: consumer.apply,
    pageSize: story.pageSize,
    batchSize: story.batchSize,
    overlapMs: plainServerOverlapMs,
    signal,
    // Random feeds remove half of what they show: the breaker has tests of its own.
    ...(story.withCopyView ? { copy: consumer.copy, breaker: { maxShare: 1, minRemovals: 1_000 } } : {}),
  })
}

const isLong = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1'
const runs = isLong ? 5_000 : 120
/** Tries the checker and not the client. */
const planted = { skip: isLong ? false : 'only in test:long' }

describe('a sync with a server that has only the two operations of the contract', () => {
  it('is waited for once and not twice while all of it is away (spec §1)', async () => {
    const asked: string[] = []
    const client = createClient({
      baseUrl: 'http://plain.example',
      key: 'k',
      fetch: async (input) => {
        asked.push(new URL(input instanceof Request ? input.url : input).pathname)
        return new Response('Service Unavailable', { status: 503 })
      },
      sleep: async () => undefined,
      retry: { attempts: 3 },
    })
    const { checkpoint, apply } = createConsumer('applyThenSave')
    await assert.rejects(client.sync({ checkpoint, apply }), { status: 503 })
    // Whether it has its own reads is asked three times; then once whether it has pages, at least.
    assert.deepEqual(asked, ['/v1/heads', '/v1/heads', '/v1/heads', '/api/func/api/v1/events/getevents'])
  })

  it('ends with the fold of the feed, whatever crashes and whatever the network does (spec §1)', async () => {
    await fc.assert(fc.asyncProperty(storyOf(fc.constantFrom('applyThenSave', 'oneTransaction')), tell), {
      numRuns: runs,
    })
  })

  it(
    'is caught by the same checker when the checkpoint is kept before the batch is applied',
    planted,
    async () => {
      const result = await fc.check(
        fc.asyncProperty(storyOf(fc.constant<Keeping>('checkpointFirst')), tell),
        {
          numRuns: 400,
          endOnFailure: true,
        },
      )
      assert.equal(result.failed, true, 'the planted fault went unnoticed')
      assert.ok(result.errorInstance instanceof assert.AssertionError, String(result.errorInstance))
    },
  )
})
