/** The sync and the publisher through a network that breaks connections: real sockets, gzip and chunks. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { startTestService } from '../../../server/test/support/test-service.ts'
import { createClient } from '../../src/index.ts'
import type { FeedEvent, Publication } from '../../src/index.ts'
import { createConsumer } from '../support/consumer.ts'
import { startProxy } from '../support/proxy.ts'
import { pick, randomOf } from '../support/random.ts'

const seed = Number(process.env['PROPERTY_EVENTS_TEST_SEED'] ?? Date.now() % 2 ** 31)

describe(`through connections that are cut, stalled, ended early and refused (seed ${seed})`, () => {
  it('stores what is published once, and copies the fold of the feed (P6, PROTOCOL §11)', async (context: TestContext) => {
    const random = randomOf(seed)
    const service = await startTestService()
    context.after(() => service.stop())
    const proxy = await startProxy(service.port, random, 1)
    context.after(() => proxy.close())
    const patient = {
      baseUrl: proxy.url,
      attemptTimeoutMs: 150,
      retry: { attempts: 60, baseDelayMs: 1, maxDelayMs: 5 },
    }
    const publisher = createClient({ ...patient, key: service.tenant.publishKey })
    const reader = createClient({ ...patient, key: service.tenant.readKey })
    const refs = Array.from({ length: 60 }, () => randomUUID())
    const consumer = createConsumer('applyThenSave')
    let published = 0
    for (let round = 0; round < 12; round += 1) {
      const events = refs.map((agent_ref): Publication => ({
        payload: {
          agent_ref,
          published: random() < 0.9,
          // Texts that do not compress away, so that answers have many packets.
          details: {
            description: Array.from({ length: 300 }, () => pick(random, 1e9).toString(36)).join(' '),
          },
        },
      }))
      const receipt = await publisher.publish(events, { batchSize: 20 })
      published += events.length
      assert.equal(receipt.events.length, events.length)
      if (round % 2 === 0) {
        await reader.sync({ checkpoint: consumer.checkpoint, apply: consumer.apply, pageSize: 10 })
      }
    }
    proxy.calm()
    await reader.sync({ checkpoint: consumer.checkpoint, apply: consumer.apply })
    const latest = new Map<string, FeedEvent>()
    let count = 0
    for await (const event of reader.list({ pageSize: 500 })) {
      latest.set(event.transactionId, event)
      count += 1
    }
    assert.equal(count, published)
    consumer.checkEqual(latest)
    context.diagnostic(`broken connections: ${JSON.stringify(Object.fromEntries(proxy.broken))}`)
    assert.ok([...proxy.broken.values()].reduce((sum, times) => sum + times, 0) > 10)
  })
})
