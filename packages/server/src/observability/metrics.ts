/**
 * The metrics for the operator, in Prometheus' text format; docs/metrics.md says what each is for. Labels contain no key and no path, and
 * never more than 20 tenants, 20 ids of keys and 20 consumers.
 */
import type { FeedName } from '@property-events/protocol'
import { AggregatorRegistry, Gauge, Registry, collectDefaultMetrics } from 'prom-client'
import type { QueueState } from '../feed/commit-queue.ts'
import type { PublishOutcome } from '../feed/publish.ts'
import type { FeedKey } from '../storage/storage.ts'
import { lagAlone, lagLookEveryMs } from './event-loop-lag.ts'
import { addInFlight } from './in-flight-metrics.ts'
import type { InFlightState } from './in-flight-metrics.ts'
import { liveMetrics } from './live-metrics.ts'
import type { LiveMetrics } from './live-metrics.ts'
import type { MetricJson } from './metric-json.ts'
import type { Outages } from './outages.ts'
import { publishMetrics } from './publish-metrics.ts'
import type { PublishMetrics } from './publish-metrics.ts'
import { requestMetrics, topCounters } from './request-metrics.ts'
import type { DoneRequest, NameCounts } from './request-metrics.ts'
import { slowest } from './slowest-requests.ts'
import type { SlowRequest } from './slowest-requests.ts'
import { storeMetrics } from './store-metrics.ts'
import type { StoreMetrics } from './store-metrics.ts'
import { topCounter } from './top-counter.ts'
import type { TopMetric } from './top-counter.ts'
import { topWentLive } from './went-live.ts'

export type { DoneRequest } from './request-metrics.ts'

export interface Metrics {
  requestDone(request: DoneRequest): void
  /** Adds bytes of an answer that is sent while it is made. */
  streamed(tenantId: string, bytes: number): void
  published(feed: FeedName, outcome: PublishOutcome['kind'] | 'failed'): void
  /** Adds events that are new on disk. */
  stored(key: FeedKey, events: number): void
  /** A site has reported that it shows the latest event of a property, this many seconds after its commit. */
  wentLive(keyId: string, consumer: string, seconds: number): void
  readonly commits: Pick<PublishMetrics, 'waited' | 'committed'>
  readonly live: LiveMetrics
  readonly store: StoreMetrics
  watchQueue(state: () => QueueState): void
  /** Sets the function that returns, at each scrape, the requests and answers that the node holds. */
  watchInFlight(state: () => InFlightState): void
  watchOutages(outages: Pick<Outages, 'states'>): void
  /** Adds numbers that this node has shown and its store no longer holds, over all feeds. */
  missing(numbers: number): void
  /** Everything that was measured, to be shown alone or together with other threads' metrics. */
  take(): Promise<TakenMetrics>
  close(): void
}

/** Can be sent from one thread to another. */
export interface TakenMetrics {
  /** Each with everything that was counted since the start. */
  readonly values: readonly object[]
  /** Counted since the last call. */
  readonly counts: NameCounts
  readonly slowest: readonly SlowRequest[]
}

/** Each service has its own registry, so that two in one process do not mix. */
export function createMetrics(): Metrics {
  const register = new Registry()
  // Process, garbage collector and event-loop lag.
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: lagLookEveryMs })
  // prom-client leaves this metric out when it combines metrics. Here only one source shows the metrics of the process.
  Object.assign(register.getSingleMetric('process_start_time_seconds') ?? {}, { aggregator: 'first' })
  const requests = requestMetrics()
  const publishing = publishMetrics(register)
  const store = storeMetrics(register)
  let outageStates: Outages['states'] = () => []
  const missingNumbers = new Gauge({
    name: 'property_events_missing_numbers',
    help: 'Sequence numbers that this node has shown and does not find in its store any more.',
    registers: [register],
  })
  return {
    requestDone: (request) => requests.done(request),
    streamed: (tenantId, bytes) => requests.streamed(tenantId, bytes),
    published: (feed, outcome) => publishing.published(feed, outcome),
    stored(key, events) {
      publishing.stored(key.feed, events)
      requests.stored(key, events)
    },
    wentLive: (keyId, consumer, seconds) => requests.wentLive(keyId, consumer, seconds),
    commits: publishing,
    live: liveMetrics(register),
    store,
    watchQueue: (state) => publishing.watchQueue(state),
    watchInFlight: (state) => addInFlight(register, state),
    watchOutages(outages) {
      outageStates = () => outages.states()
    },
    missing: (numbers) => missingNumbers.set(numbers),
    async take() {
      const values = await register.getMetricsAsJSON()
      return {
        values: [
          ...values.map(lagAlone),
          ...requests.json(),
          ...publishing.json(),
          ...store.json(),
          ...outagesJson(outageStates()),
        ],
        counts: requests.takeCounts(),
        slowest: requests.slowest(),
      }
    },
    close: () => register.clear(),
  }
}

/** All threads see the same outages and the same counts. */
function outagesJson(states: ReturnType<Outages['states']>): readonly MetricJson[] {
  return [
    {
      name: 'property_events_outage',
      help: 'Whether something has failed and was not seen to work since (1).',
      type: 'gauge',
      aggregator: 'max',
      values: states.map(({ of, open }) => ({ labels: { of }, value: Number(open) })),
    },
    {
      name: 'property_events_outage_failures_total',
      help: 'What has failed, by outage: requests, and work in the background.',
      type: 'counter',
      aggregator: 'max',
      values: states.map(({ of, failures }) => ({ labels: { of }, value: failures })),
    },
  ]
}

export interface RenderedMetrics {
  readonly contentType: string
  readonly text: string
}

/** The metrics of a whole process: of one thread, or of several together. */
export interface ShownMetrics {
  /** Replaces what `source` has measured, and adds what it has counted. */
  add(source: object, taken: TakenMetrics): void
  /** All metrics, with their content type. */
  render(): Promise<RenderedMetrics>
  slowest(): readonly SlowRequest[]
}

/** Metrics of the process, which are the same in every thread. */
const ofProcess = /^(process_|nodejs_version_info)/
/** Metrics of a single thread, which say nothing about the threads that serve requests. */
const ofThread = /^nodejs_/

/** `gathering`: the source that serves no requests and shows the metrics of the process. Without it, the only source shows them. */
export function shownMetrics(gathering?: object): ShownMetrics {
  // The last metrics of each thread. Without them, counters would fall when one thread is late, and it would look like a restart.
  const taken = new Map<object, TakenMetrics>()
  const tops: readonly { readonly of: keyof NameCounts; readonly counter: TopMetric }[] = [
    ...topCounters.map((options) => ({ of: options.of, counter: topCounter(options) })),
    { of: 'wentLive', counter: topWentLive() },
  ]

  const valuesOf = (source: object, values: readonly object[]): object[] => {
    if (gathering === undefined) return [...values]
    const isShown =
      source === gathering
        ? (name: string) => ofProcess.test(name) || !ofThread.test(name)
        : (name: string) => !ofProcess.test(name)
    return values.filter((value) => isShown('name' in value ? String(value.name) : ''))
  }
  return {
    add(source, given) {
      taken.set(source, given)
      for (const { of, counter } of tops) counter.add(given.counts[of])
    },
    async render() {
      const sources = [...taken].map(([source, { values }]) => valuesOf(source, values))
      const together = AggregatorRegistry.aggregate([...sources, tops.map(({ counter }) => counter.json())])
      return { contentType: together.contentType, text: await together.metrics() }
    },
    slowest: () => slowest([...taken.values()].flatMap((one) => one.slowest)),
  }
}
