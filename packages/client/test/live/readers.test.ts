/** The model: readers that stop, are cut, are slow and come back with old positions, while the feed changes. Each log is the feed. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { postErasure } from '../../../server/test/support/canary.ts'
import { publish } from '../../../server/test/support/http-client.ts'
import { isLongRun } from '../../../server/test/support/on-engines.ts'
import { startTestService, testEngines } from '../../../server/test/support/test-service.ts'
import type { TestService } from '../../../server/test/support/test-service.ts'
import { until } from '../../../server/test/support/until.ts'
import type { Client, FeedEvent, FollowPosition, Transport } from '../../src/index.ts'
import { clientOf } from '../support/live.ts'
import { startProxy } from '../support/proxy.ts'
import { pick, randomOf } from '../support/random.ts'
import type { Random } from '../support/random.ts'

const seed = Number(process.env['PROPERTY_EVENTS_TEST_SEED'] ?? Date.now() % 2 ** 31)
const rounds = isLongRun ? 400 : 25
const readersOfEach = isLongRun ? 4 : 2

interface Entry {
  readonly event: FeedEvent
  readonly position: FollowPosition
}

interface Reader {
  readonly log: readonly Entry[]
  readonly apiEventType: string | undefined
  /** For messages. */
  readonly what: string
  readonly done: Promise<void>
}

/** Keeps a log of the feed, in spite of what it does to itself while the feed changes. */
function startReader(
  client: Client,
  feed: { readonly isStill: boolean },
  random: Random,
  transport: Transport | 'auto',
  apiEventType: string | undefined,
  signal: AbortSignal,
): Reader {
  let log: Entry[] = []
  let revision = 0

  async function readReduced(to: number): Promise<void> {
    // What a log that keeps earlier events does (PROTOCOL §11.2): here it reads all of them again.
    const fresh: FeedEvent[] = []
    for (let after = 0; ;) {
      const run = await client.after({ after, apiEventType }, { signal })
      fresh.push(...run.items)
      after = run.next
      if (run.next >= run.head) break
    }
    const byNumber = new Map(fresh.map((event) => [event.sequenceNumber, event]))
    log = log.map(({ event, position }) => ({ event: byNumber.get(event.sequenceNumber) ?? event, position }))
    revision = to
  }

  async function readOn(): Promise<void> {
    const position = log.at(-1)?.position
    const follower = client.follow({
      after: 0,
      ...position,
      apiEventType,
      transport,
      signal,
      async onMark(mark) {
        if (mark.revision > revision) await readReduced(mark.revision)
      },
      onReset() {
        log = []
        revision = 0
      },
    })
    for await (const { checkpoint, ...event } of follower) {
      log.push({ event, position: checkpoint })
      const fate = feed.isStill ? 1 : random()
      // Slow; stopped; back with an old position.
      if (fate < 0.05) await delay(pick(random, 15))
      else if (fate < 0.08) return
      else if (fate < 0.1) {
        log = log.slice(0, pick(random, log.length + 1))
        return
      }
    }
  }

  const done = (async () => {
    while (!signal.aborted) await readOn()
  })()
  done.catch(() => undefined)
  return {
    get log() {
      return log
    },
    apiEventType,
    what: `${transport}, ${apiEventType ?? 'all'}`,
    done,
  }
}

/** The feed as a reader sees it that asks for all of it now. */
async function feedNow(client: Client, apiEventType: string | undefined): Promise<readonly FeedEvent[]> {
  const events: FeedEvent[] = []
  for (let after = 0; ;) {
    const run = await client.after({ after, apiEventType })
    events.push(...run.items)
    if (run.next >= run.head) return events
    after = run.next
  }
}

async function changeFeed(service: TestService, random: Random): Promise<void> {
  const homes = Array.from({ length: 12 }, () => randomUUID())
  const homeOf = () => homes[pick(random, homes.length)] ?? ''
  for (let round = 0; round < rounds; round += 1) {
    const events = Array.from({ length: 1 + pick(random, 8) }, () => ({
      payload: {
        agent_ref: homeOf(),
        published: random() < 0.9,
        price_information: { price: pick(random, 1e6) },
        details: { description: 'ä🏠'.repeat(pick(random, 600)) },
      },
      category: random() < 0.4 ? 'lettings' : 'sales',
    }))
    await publish(service, events)
    if (round === Math.floor(rounds / 3) || (isLongRun && round % 40 === 20)) {
      const { tenantId } = service.tenant
      await service.storage.startEpoch(0, 'cli:test', [{ tenantId, feed: 'property' }])
    }
    if (round === Math.floor(rounds / 2) || (isLongRun && round % 50 === 30)) {
      const erasure = { feed: 'property', subjectId: homeOf(), reason: 'published_in_error' }
      const { status } = await postErasure(service, erasure)
      assert.ok(status === 202 || status === 404 || status === 409, String(status))
    }
    await delay(pick(random, 20))
  }
}

describe(`readers of a feed that changes (seed ${seed})`, () => {
  for (const engine of isLongRun ? testEngines : (['sqlite'] as const)) {
    it(`have the whole feed in their logs and nothing else, through cuts at random bytes, on ${engine} (L1, L2)`, async (context) => {
      const random = randomOf(seed)
      const limits = { markEveryMs: 100, streamMs: 1_500, waitingPerKey: 12, longestWaitMs: 1_000 }
      const service = await startTestService({ engine, limits })
      context.after(() => service.stop())
      const breaking = { kinds: ['cut', 'end', 'refuse'], bytesAtMost: 30_000 } as const
      const proxy = await startProxy(service.port, random, 0.6, breaking)
      context.after(() => proxy.close())
      const ended = new AbortController()
      context.after(() => ended.abort())
      const patient = { retry: { attempts: 50, baseDelayMs: 1, maxDelayMs: 5 } }
      const cut = clientOf({ ...service, url: proxy.url }, patient)
      const whole = clientOf(service, patient)
      const readers: Reader[] = []
      // A reader that went back for ever would never have it all.
      const feed = { isStill: false }
      for (const transport of ['auto', 'stream', 'wait', 'polls'] as const) {
        for (let left = readersOfEach; left > 0; left -= 1) {
          const apiEventType = left % 2 === 0 ? 'lettingsproperty' : undefined
          readers.push(startReader(cut, feed, random, transport, apiEventType, ended.signal))
        }
      }
      await changeFeed(service, random)
      feed.isStill = true
      for (const reader of readers) {
        let last: readonly FeedEvent[] = []
        const isWhole = async (): Promise<boolean> => {
          last = await feedNow(whole, reader.apiEventType)
          return JSON.stringify(reader.log.map(({ event }) => event)) === JSON.stringify(last)
        }
        await until(isWhole, {
          what: `the feed in the log of a reader by ${reader.what}`,
          everyMs: 50,
        }).catch(() =>
          assert.deepEqual(
            reader.log.map(({ event }) => event),
            last,
            reader.what,
          ),
        )
      }
      ended.abort()
      await Promise.all(readers.map(({ done }) => done))
      const broken = [...proxy.broken.values()].reduce((sum, times) => sum + times, 0)
      context.diagnostic(`broken connections: ${JSON.stringify(Object.fromEntries(proxy.broken))}`)
      assert.ok(broken > 5)
    })
  }
})
