/** The consumers of a feed, each with what it lacks (D28). */
import { branchViewName } from '../events/branches/branch-view.ts'
import type { StoredRead } from './consumer.ts'
import { lagReader, notMade, orIfNotMade } from './lag.ts'
import type { ConsumerLag } from './lag.ts'
import { consumersOf } from './consumers-of-feed.ts'
import type { ConsumersQuery, ConsumersStore, FeedConsumer } from './consumers-of-feed.ts'
import { catalogues } from '@property-events/protocol'
import type { EventTypeCatalogue } from '@property-events/protocol'

export interface ListedConsumer {
  readonly consumer: FeedConsumer
  /** One for each view that it reads. */
  readonly lags: readonly ConsumerLag[]
  /** Its last answer; `undefined`: it has never asked. */
  readonly last: StoredRead | undefined
  /** The number after which it has stopped, as far as that can be told. */
  readonly stoppedAfter: number | undefined
}

/** `undefined`: no such feed. */
export async function listConsumers(
  store: ConsumersStore,
  query: ConsumersQuery,
): Promise<readonly ListedConsumer[] | undefined> {
  const head = await store.events.head(query.key)
  if (head === undefined) return undefined
  const lagOf = lagReader(store.events, query.key, head)
  const listed: ListedConsumer[] = []
  for (const consumer of await consumersOf(store, query)) {
    const lags: ConsumerLag[] = []
    for (const [view, readings] of Map.groupBy(readingsOf(consumer), (reading) => reading.view)) {
      if (view === 'single') continue
      const lag = await orIfNotMade(lagOf(view, readings))
      if (lag !== notMade) lags.push(lag)
    }
    const last = consumer.readings.toSorted((a, b) => b.askedMs - a.askedMs)[0]
    const options = { catalogue: store.settings.catalogue, nowMs: query.nowMs }
    const stopped = query.key.feed === 'property' ? stoppedAfter(consumer, lags, last, options) : undefined
    listed.push({ consumer, lags, last, stoppedAfter: stopped })
  }
  return listed
}

/** An endpoint has everything up to where it stands, but for what waits. */
function readingsOf({ endpoint, readings, keyId, name }: FeedConsumer): readonly StoredRead[] {
  if (endpoint === undefined) return readings
  const { tenantId, settings, rights, progress } = endpoint
  const { feed, view } = settings
  return [
    {
      key: { tenantId, feed },
      keyId,
      name,
      view: rights.branches === undefined ? view : branchViewName(rights.branches, view),
      space: 'numbers',
      epoch: '',
      ranges: progress.settled === 0 ? [] : [[1, progress.settled]],
      askedMs: 0,
      quietMs: undefined,
      status: 0,
      route: 'webhook',
    },
  ]
}

export interface StoppedReader {
  readonly tenantName: string
  readonly keyId: string
  /** The label of the key. */
  readonly label: string
  /** The number after which it has stopped. */
  readonly after: number
}

/**
 * Readers of all property feeds that have stopped at the first event type that they do not know. Events are read only of feeds in whose records there can be such a reader.
 */
export async function stoppedReaders(
  store: ConsumersStore,
  nowMs: number,
): Promise<readonly StoppedReader[]> {
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

/** No walk through a list pauses for longer between two pages. */
const pauseMs = 60_000
const largestPage = 1_000

/**
 * The number after which it has stopped, probably at an event type that it does not know: public importers know 0 and 1 alone, and stop at
 * any other number. `undefined`: nothing suggests that. `last`: its last answer. `catalogue`: the store's.
 */
export function stoppedAfter(
  { reading, readings, keyEnd }: Pick<FeedConsumer, 'reading' | 'readings' | 'keyEnd'>,
  [lag, ...others]: readonly ConsumerLag[],
  last: StoredRead | undefined,
  { catalogue, nowMs }: { readonly catalogue: EventTypeCatalogue; readonly nowMs: number },
): number | undefined {
  if (keyEnd !== undefined || last === undefined || !wasLastList(last)) return undefined
  const shown = reading?.eventTypes === undefined ? catalogue : catalogues[reading.eventTypes]
  if (Object.values(shown.property).every((number) => number <= 1)) return undefined
  // What it lacks was there when it last asked, and it has not asked for the next page since.
  if (lag?.sinceMs === undefined || others.length > 0 || lag.sinceMs > last.askedMs) return undefined
  if (nowMs - last.askedMs < pauseMs) return undefined
  return isFirstPage(readings) ? lag.through : undefined
}

/** Whether a feed's record can have such a reader, without a look at its events. */
function mayHaveStopped(readings: readonly StoredRead[]): boolean {
  return readings.some((reading) => wasLastList(reading) && isFirstPage([reading]))
}

function wasLastList({ status, route }: StoredRead): boolean {
  return status === 200 && route === 'list'
}

function isFirstPage(readings: readonly StoredRead[]): boolean {
  const [sent, ...further] = readings.flatMap(({ ranges }) => ranges)
  return sent?.[0] === 1 && sent[1] <= largestPage && further.length === 0
}
