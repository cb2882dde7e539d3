/** The metrics for the operator, in Prometheus' text format. No label holds a key, an id or a tenant. */
import type { FeedName } from '@property-events/protocol'
import { AggregatorRegistry, Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { MetricObjectWithValues, MetricValue } from 'prom-client'
import type { QueueState } from '../feed/commit-queue.ts'
import type { PublishOutcome } from '../feed/publish.ts'
import type { HeldSnapshot } from '../storage/storage.ts'

export interface DoneRequest {
  /** The route's pattern, or `none`: paths are not labels, because strangers could add new ones without end. */
  readonly route: string
  readonly method: string
  readonly status: number
  readonly seconds: number
}

export interface Metrics {
  requestDone(request: DoneRequest): void
  /** The result of a publish request; `failed`: the answer was a fault of the store or of the service. */
  published(feed: FeedName, outcome: PublishOutcome['kind'] | 'failed'): void
  /** Events that are new on disk. */
  stored(feed: FeedName, events: number): void
  /** How to find, at each scrape, what keeps old versions of rows alive in the store. */
  watchSnapshots(ask: () => Promise<readonly HeldSnapshot[]>): void
  /** How to find, at each scrape, whether publishing is stopped for maintenance. */
  watchMaintenance(ask: () => Promise<boolean>): void
  /** How to find, at each scrape, what waits to be committed. */
  watchQueue(state: () => QueueState): void
  /** Numbers that this node has shown and that its store does not hold, of all feeds together. */
  missing(numbers: number): void
  /** All metrics, with their content type. */
  render(): Promise<RenderedMetrics>
  /** All metrics, to be added to those of other threads. */
  values(): Promise<MetricValues>
  close(): void
}

export interface RenderedMetrics {
  readonly contentType: string
  readonly text: string
}

export type MetricValues = readonly MetricObjectWithValues<MetricValue<string>>[]

const queueGauges: readonly {
  readonly name: string
  readonly help: string
  readonly of: (state: QueueState) => number
}[] = [
  {
    name: 'property_events_waiting_publish_requests',
    help: 'Publish requests that wait for a commit or for its end.',
    of: ({ waiting }) => waiting,
  },
  {
    name: 'property_events_commits_under_way',
    help: 'Commits under way, without those that wait for a locked feed.',
    of: ({ commits }) => commits,
  },
  {
    name: 'property_events_locked_feeds',
    help: 'Feeds whose publications wait because another session has locked them.',
    of: ({ lockedFeeds }) => lockedFeeds,
  },
]

/** From a 304 out of memory to a publish that waits for a slow disk. */
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'none'])

/** Each service has its own registry: two in one process do not mix. */
export function createMetrics(): Metrics {
  const register = new Registry()
  // Process, garbage collector and event-loop lag.
  collectDefaultMetrics({ register })
  const durations = new Histogram({
    name: 'property_events_http_request_duration_seconds',
    help: 'Time from the request line to the end of the answer, by route and status.',
    labelNames: ['route', 'method', 'status'] as const,
    buckets: durationBuckets,
    registers: [register],
  })
  const outcomes = new Counter({
    name: 'property_events_publish_requests_total',
    help: 'Publish requests by feed and outcome.',
    labelNames: ['feed', 'outcome'] as const,
    registers: [register],
  })
  const storedEvents = new Counter({
    name: 'property_events_stored_events_total',
    help: 'Events stored by publish requests.',
    labelNames: ['feed'] as const,
    registers: [register],
  })
  const missingNumbers = new Gauge({
    name: 'property_events_missing_numbers',
    help: 'Sequence numbers that this node has shown and does not find in its store any more.',
    registers: [register],
  })
  return {
    missing: (numbers) => missingNumbers.set(numbers),
    requestDone({ route, method, status, seconds }) {
      durations.observe({ route, method: knownMethods.has(method) ? method : 'other', status }, seconds)
    },
    published: (feed, outcome) => outcomes.inc({ feed, outcome }),
    stored: (feed, events) => storedEvents.inc({ feed }, events),
    watchSnapshots: (ask) => addSnapshotGauges(register, ask),
    watchMaintenance: (ask) => addMaintenanceGauge(register, ask),
    watchQueue(state) {
      for (const { name, help, of } of queueGauges) {
        const gauge: Gauge = new Gauge({
          name,
          help,
          registers: [register],
          collect: () => gauge.set(of(state())),
        })
      }
    },
    render: async () => ({ contentType: register.contentType, text: await register.metrics() }),
    values: () => register.getMetricsAsJSON(),
    close: () => register.clear(),
  }
}

/** No value while the store does not answer. */
function addMaintenanceGauge(register: Registry, ask: () => Promise<boolean>): void {
  const gauge: Gauge = new Gauge({
    name: 'property_events_maintenance',
    help: '1 while an operator has stopped publishing to the store.',
    registers: [register],
    async collect() {
      const isOn = await ask().catch(() => undefined)
      if (isOn === undefined) gauge.remove()
      else gauge.set(isOn ? 1 : 0)
    },
  })
}

const snapshotGauges = [
  {
    name: 'property_events_oldest_snapshot_transactions',
    help: 'Transactions since the oldest snapshot in the database: versions of rows since then are kept.',
    of: ({ transactions }: HeldSnapshot) => transactions,
  },
  {
    name: 'property_events_oldest_snapshot_seconds',
    help: 'For how long the oldest snapshot in the database has been held, as far as the role may see.',
    of: ({ seconds }: HeldSnapshot) => seconds,
  },
] as const

/** By kind of holder. No values while the store does not answer. */
function addSnapshotGauges(register: Registry, ask: () => Promise<readonly HeldSnapshot[]>): void {
  let asking: Promise<readonly HeldSnapshot[]> | undefined
  // Both are collected together, with one query.
  const askOnce = (): Promise<readonly HeldSnapshot[]> => {
    asking ??= ask()
      .catch(() => [])
      .finally(() => (asking = undefined))
    return asking
  }
  for (const { name, help, of } of snapshotGauges) {
    const gauge: Gauge<'holder'> = new Gauge({
      name,
      help,
      labelNames: ['holder'],
      registers: [register],
      async collect() {
        const held = await askOnce()
        gauge.reset()
        for (const snapshot of held) {
          const value = of(snapshot)
          if (value !== undefined) gauge.set({ holder: snapshot.holder }, value)
        }
      },
    })
  }
}

/** Metrics of the process, which are the same in every thread. */
const ofProcess = /^(process_|nodejs_version_info)/
/** Metrics of a single thread, which say nothing of the threads that serve requests. */
const ofThread = /^nodejs_/

/**
 * One text for the process: `own` of the thread that gathers them, which serves no requests, and those of the threads
 * that do.
 */
export async function renderTogether(
  own: MetricValues,
  serving: readonly MetricValues[],
): Promise<RenderedMetrics> {
  const owned = own.filter(({ name }) => ofProcess.test(name) || !ofThread.test(name))
  const served = serving.map((values) => values.filter(({ name }) => !ofProcess.test(name)))
  const together = AggregatorRegistry.aggregate([owned, ...served])
  return { contentType: together.contentType, text: await together.metrics() }
}
