/**
 * The metrics for the operator, in Prometheus' text format; docs/metrics.md says what each is for. Labels contain no key and no path, and
 * never more than 20 tenants, 20 ids of keys and 20 consumers.
 */
import type { FeedName } from '@property-events/protocol'
import { AggregatorRegistry, Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { QueueState } from '../../publishing/append-queue/append-queue.ts'
import type { PublishOutcome } from '../../publishing/publish.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { InFlightState } from '../../http/bytes-in-flight.ts'
import type { MetricJson } from '../../runtime/metrics/own-histogram.ts'
import type { Outages } from '../outages.ts'
import { publishMetrics } from './publish-metrics.ts'
import type { PublishMetrics } from './publish-metrics.ts'
import { addGauge } from './asked-gauge.ts'
import { requestMetrics, topCounters } from './request-metrics.ts'
import type { NameCounts } from './request-metrics.ts'
import type { RequestObserver, LiveObserver, WaitingKind } from '../../http/observer.ts'
import type { SlowRequest } from './slowest-requests.ts'
import { storeMetrics } from './store-metrics.ts'
import type { StoreMetrics } from './store-metrics.ts'
import { topCounter } from '../../runtime/metrics/top-counter.ts'
import type { TopMetric } from '../../runtime/metrics/top-counter.ts'
import { topWentLive } from './went-live-metrics.ts'
import { webhookMetrics } from './webhook-metrics.ts'
import type { WebhookMetrics } from './webhook-metrics.ts'
import { waitingKinds } from '../../http/observer.ts'

export interface Metrics extends RequestObserver {
  published(feed: FeedName, outcome: PublishOutcome['kind'] | 'failed'): void
  /** Adds events that are new on disk. */
  stored(key: FeedKey, events: number): void
  readonly commits: Pick<PublishMetrics, 'waited' | 'committed'>
  readonly live: LiveMetrics
  readonly store: StoreMetrics
  readonly webhooks: WebhookMetrics
  watchQueue(state: () => QueueState): void
  /** Sets the function that returns, at each scrape, the requests and answers that the node holds. */
  watchInFlight(state: () => InFlightState): void
  /** Adds numbers that this node has shown and its store no longer holds, over all feeds. */
  missing(numbers: number): void
  /** All metrics, with their content type. */
  render(): Promise<RenderedMetrics>
  /** The slowest requests of the last minutes. */
  slowest(): readonly SlowRequest[]
  close(): void
}

interface RenderedMetrics {
  readonly contentType: string
  readonly text: string
}

/** Each service has its own registry, so that two in one process do not mix. `outageStates` is called at each scrape. */
export function createMetrics(outageStates: Outages['states'] = () => []): Metrics {
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
    webhooks: webhookMetrics(register),
    watchQueue: (state) => publishing.watchQueue(state),
    watchInFlight: (state) => addInFlight(register, state),
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

/**
 * How late the event loop is. Node measures it with a timer, every 10 ms if not told otherwise: 200 system calls a second, which took 0.35 %
 * of a core at rest, two thirds of what a service without any reader took. Ten times a second is enough for what is looked for: a loop that
 * is held for half a second.
 */
const lagLookEveryMs = 100

/** All of these contain the time between two looks. The other two are a spread, and the lag of the scrape itself. */
const withInterval = /^nodejs_eventloop_lag_(?:min|max|mean|p\d+)_seconds$/

interface Metric {
  readonly name: string
  readonly values: readonly { readonly value: number }[]
}

/** The metric without the time between two looks, so that 0 means that the loop was never late, however often it is looked at. */
function lagAlone<One extends Metric>(metric: One): One | (Omit<One, 'values'> & Pick<Metric, 'values'>) {
  if (!withInterval.test(metric.name)) return metric
  return { ...metric, values: metric.values.map((one) => ({ ...one, value: lateOnly(one.value) })) }
}

/** Where nothing was measured since the last scrape, Node gives no number, or its greatest one. */
function lateOnly(seconds: number): number {
  const isMeasured = seconds < 1e6
  return isMeasured ? Math.max(0, seconds - lagLookEveryMs / 1_000) : 0
}

/** `state` is called at each scrape. */
function addInFlight(register: Registry, state: () => InFlightState): void {
  const bytes = {
    name: 'property_events_in_flight_bytes',
    help: 'Bytes of bodies that are being received or published, and of answers that their readers have not taken.',
  }
  addGauge(register, bytes, () => state().bytes)
  const limit = {
    name: 'property_events_memory_limit_bytes',
    help: 'Resident memory above which nothing large is accepted, and memory is given back; 0 if there is no limit.',
    aggregator: 'max',
  } as const
  addGauge(register, limit, () => state().limitBytes)
  const refusals: Counter<'use'> = new Counter({
    name: 'property_events_in_flight_refusals_total',
    help: 'Requests refused with overloaded because there was no room for their bytes, by what they were for.',
    labelNames: ['use'],
    registers: [register],
    collect() {
      refusals.reset()
      for (const [use, count] of Object.entries(state().refused)) refusals.inc({ use }, count)
    },
  })
}

interface LiveMetrics extends LiveObserver {
  /** Sets the function that returns, at each scrape, how many requests wait. */
  watchWaiting(state: () => Readonly<Record<WaitingKind, number>>): void
}

/** The target is half a second. A notice that gets lost costs a second. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

function liveMetrics(register: Registry): LiveMetrics {
  const delays: Histogram<'kind'> = new Histogram({
    name: 'property_events_live_delay_seconds',
    help: 'Time from the commit of an event until a reader that waited for it was sent it.',
    labelNames: ['kind'],
    buckets,
    registers: [register],
  })
  return {
    delivered: (kind, seconds) => delays.observe({ kind }, Math.max(0, seconds)),
    watchWaiting(state) {
      const waiting = {
        name: 'property_events_waiting_requests',
        help: 'Requests that wait for events, by how they wait.',
        labels: ['kind'],
      } as const
      addGauge(register, waiting, () => {
        const counts = state()
        return waitingKinds.map((kind) => [{ kind }, counts[kind]] as const)
      })
    },
  }
}
