/** The consumers of a feed, each with what it lacks (D28). */
import type { StoredRead } from './consumer.ts'
import type { StorageEngine } from '../store/storage.ts'
import { lagReader } from './lag.ts'
import type { ConsumerLag } from './lag.ts'
import { consumersOf } from './consumers-of-feed.ts'
import type { ConsumersQuery, FeedConsumer } from './consumers-of-feed.ts'
import { stoppedAfter } from './stopped-reader.ts'
import { notMade, unlessNotMade } from './unless-not-made.ts'

export interface ListedConsumer {
  readonly consumer: FeedConsumer
  /** One for each view that it reads. */
  readonly lags: readonly ConsumerLag[]
  /** Its last answer; `undefined`: it has never asked. */
  readonly last: StoredRead | undefined
  /** The number after which it has stopped, as far as that can be told (`stopped-reader.ts`). */
  readonly stoppedAfter: number | undefined
}

/** `undefined`: no such feed. */
export async function listConsumers(
  store: Pick<
    StorageEngine,
    'consumers' | 'events' | 'keys' | 'leaving' | 'settings' | 'silence' | 'tenants'
  >,
  query: ConsumersQuery,
): Promise<readonly ListedConsumer[] | undefined> {
  const head = await store.events.head(query.key)
  if (head === undefined) return undefined
  const reader = lagReader(store.events, query.key, head)
  const listed: ListedConsumer[] = []
  for (const consumer of await consumersOf(store, query)) {
    const lags: ConsumerLag[] = []
    for (const [view, readings] of Map.groupBy(consumer.readings, (reading) => reading.view)) {
      if (view === 'single') continue
      const lag = await unlessNotMade(reader.lagOf(view, readings))
      if (lag !== notMade) lags.push(lag)
    }
    const last = consumer.readings.toSorted((a, b) => b.askedMs - a.askedMs)[0]
    const told = { catalogue: store.settings.catalogue, nowMs: query.nowMs }
    const stopped = query.key.feed === 'property' ? stoppedAfter(consumer, lags, last, told) : undefined
    listed.push({ consumer, lags, last, stoppedAfter: stopped })
  }
  return listed
}
