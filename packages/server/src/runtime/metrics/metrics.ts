/**
 * The metrics for the operator, in Prometheus' text format; docs/metrics.md says what each is for. Labels contain no key and no path, and
 * never more than 20 tenants, 20 ids of keys and 20 consumers.
 */
import type { FeedName } from '@property-events/protocol'
import { AggregatorRegistry, Gauge, Registry, collectDefaultMetrics } from 'prom-client'
import type { QueueState } from '../../publishing/append-queue/append-queue.ts'
import type { PublishOutcome } from '../../publishing/publish.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import { lagAlone, lagLookEveryMs } from './event-loop-lag.ts'
import { addInFlight } from './in-flight-metrics.ts'
import type { InFlightState } from './in-flight-metrics.ts'
import { liveMetrics } from './live-metrics.ts'
import type { LiveMetrics } from './live-metrics.ts'
import type { MetricJson } from './metric-json.ts'
import type { Outages } from '../log/outages.ts'
import { publishMetrics } from './publish-metrics.ts'
import type { PublishMetrics } from './publish-metrics.ts'
import { requestMetrics, topCounters } from './request-metrics.ts'
import type { DoneRequest, NameCounts } from './request-metrics.ts'
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
  /** All metrics, with their content type. */
  render(): Promise<RenderedMetrics>
  /** The slowest requests of the last minutes. */
  slowest(): readonly SlowRequest[]
  close(): void
}

export interface RenderedMetrics {
  readonly contentType: string
  readonly text: string
}

/** Each service has its own registry, so that two in one process do not mix. */
export function createMetrics(): Metrics {
  const register = new Registry()
  // Process, garbage collector and event-loop lag.
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: lagLookEveryMs })
  // prom-client would leave this metric out when it writes metrics of ours.
  Object.assign(register.getSingleMetric('process_start_time_seconds') ?? {}, { aggregator: 'first' })
  const requests = requestMetrics()
  const publishing = publishMetrics(register)
  const store = storeMetrics(register)
  const tops: readonly { readonly of: keyof NameCounts; readonly counter: TopMetric }[] = [
    ...topCounters.map((options) => ({ of: options.of, counter: topCounter(options) })),
    { of: 'wentLive', counter: topWentLive() },
  ]
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
    async render() {
      const counts = requests.takeCounts()
      for (const { of, counter } of tops) counter.add(counts[of])
      const values = [
        ...(await register.getMetricsAsJSON()).map(lagAlone),
        ...requests.json(),
        ...publishing.json(),
        ...store.json(),
        ...outagesJson(outageStates()),
        ...tops.map(({ counter }) => counter.json()),
      ]
      // One source: the registry only writes what prom-client did not make itself.
      const shown = AggregatorRegistry.aggregate([values])
      return { contentType: shown.contentType, text: await shown.metrics() }
    },
    slowest: () => requests.slowest(),
    close: () => register.clear(),
  }
}

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
