/** The consumers of a feed, each with what it lacks (D28). */
import type { StoredRead } from './consumer.ts'
import type { StorageEngine } from '../store/storage.ts'
import { lagReader, notMade, orIfNotMade } from './lag.ts'
import type { ConsumerLag } from './lag.ts'
import { consumersOf } from './consumers-of-feed.ts'
import type { ConsumersQuery, FeedConsumer } from './consumers-of-feed.ts'
import { mayHaveStopped, stoppedAfter } from './stopped-reader.ts'

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
      const lag = await orIfNotMade(reader.lagOf(view, readings))
      if (lag !== notMade) lags.push(lag)
    }
    const last = consumer.readings.toSorted((a, b) => b.askedMs - a.askedMs)[0]
    const options = { catalogue: store.settings.catalogue, nowMs: query.nowMs }
    const stopped = query.key.feed === 'property' ? stoppedAfter(consumer, lags, last, options) : undefined
    listed.push({ consumer, lags, last, stoppedAfter: stopped })
  }
  return listed
}

export interface StoppedReader {
  readonly tenantName: string
  readonly keyId: string
  /** The label of the key. */
  readonly label: string
  /** The number after which it has stopped. */
  readonly after: number
}

type AllStores = Pick<
  StorageEngine,
  'consumers' | 'events' | 'keys' | 'leaving' | 'settings' | 'silence' | 'tenants'
>

/**
 * Readers of all property feeds that have stopped at the first event type that they do not know. Events are read only of feeds in whose records there can be such a reader.
 */
export async function stoppedReaders(store: AllStores, nowMs: number): Promise<readonly StoppedReader[]> {
  const found: StoppedReader[] = []
  for (const { tenantId, name: tenantName } of await store.tenants.tenants()) {
    const key = { tenantId, feed: 'property' } as const
    if (!mayHaveStopped(await store.consumers.readings(key))) continue
    const query = { key, keyId: undefined, branches: undefined, nowMs }
    for (const { consumer, stoppedAfter: after } of (await listConsumers(store, query)) ?? []) {
      if (after !== undefined) found.push({ tenantName, keyId: consumer.keyId, label: consumer.label, after })
    }
  }
  return found
}
