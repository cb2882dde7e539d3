/** Counts of publishing: the outcome of requests, how long they waited, and what waits now. */
import type { FeedName } from '@property-events/protocol'
import type { Registry } from 'prom-client'
import { addGauge } from './asked-gauge.ts'
import type { CommitObserver } from '../../publishing/append-queue/commit.ts'
import type { SizeState, QueueState } from '../../publishing/append-queue/append-queue.ts'
import type { PublishOutcome } from '../../publishing/publish.ts'
import type { MetricJson, MetricSample } from '../../runtime/metrics/own-histogram.ts'
import { ownHistogram } from '../../runtime/metrics/own-histogram.ts'

export interface PublishMetrics extends CommitObserver {
  /** The outcome of a publish request. `failed`: the answer was a fault of the store or of the service. */
  published(feed: FeedName, outcome: PublishOutcome['kind'] | 'failed'): void
  /** Adds events that are new on disk. */
  stored(feed: FeedName, events: number): void
  /** Sets the function that returns, at each scrape, what waits to be committed. */
  watchQueue(state: () => QueueState): void
  /** The metrics that are not in the registry. */
  json(): readonly MetricJson[]
}

/** From a commit in memory to one that waits for a standby that has gone. */
const commitBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30]

export function publishMetrics(register: Registry): PublishMetrics {
  const outcomes = ownCounter({
    name: 'property_events_publish_requests_total',
    help: 'Publish requests by feed and outcome.',
    labels: ['feed', 'outcome'],
  })
  const storedEvents = ownCounter({
    name: 'property_events_stored_events_total',
    help: 'Events stored by publish requests.',
    labels: ['feed'],
  })
  const waits = ownHistogram({
    name: 'property_events_publish_wait_seconds',
    help: 'How long publications waited for their commit to begin.',
    bounds: commitBounds,
  })
  const commits = ownHistogram({
    name: 'property_events_commit_duration_seconds',
    help: 'How long commits took, including all retries, by outcome.',
    bounds: commitBounds,
    label: 'outcome',
  })
  return {
    published: (feed, outcome) => outcomes.add(1, feed, outcome),
    stored: (feed, events) => storedEvents.add(events, feed),
    waited: (ms) => waits.observe(ms / 1_000),
    committed: (outcome, ms) => commits.observe(ms / 1_000, outcome),
    watchQueue(state) {
      for (const { of, ...gauge } of queueGauges) addGauge(register, gauge, () => of(state()))
      for (const { of, ...gauge } of sizeGauges) {
        addGauge(register, { ...gauge, labels: ['batch'] }, () =>
          state().sizes.map((size) => [{ batch: batchLabel(size) }, of(size)] as const),
        )
      }
    },
    json: () => [outcomes.json(), storedEvents.json(), waits.json(), commits.json()],
  }
}

const queueGauges = [
  {
    name: 'property_events_waiting_publish_requests',
    help: 'Publish requests that wait for a commit or for its end.',
    of: ({ waiting }: QueueState) => waiting,
  },
  {
    name: 'property_events_waiting_publish_characters',
    help: 'Characters of the payloads of these requests.',
    of: ({ waitingCharacters }: QueueState) => waitingCharacters,
  },
  {
    name: 'property_events_longest_publish_wait_seconds',
    help: 'How long the publication that has waited longest has waited for its commit to begin.',
    of: ({ longestWaitMs }: QueueState) => longestWaitMs / 1_000,
    aggregator: 'max',
  },
  {
    name: 'property_events_commits_under_way',
    help: 'Commits under way, without those that wait for a locked feed.',
    of: ({ commits }: QueueState) => commits,
  },
  {
    name: 'property_events_locked_feeds',
    help: 'Feeds whose publications wait because another session has locked them.',
    of: ({ blockedFeeds }: QueueState) => blockedFeeds,
  },
] as const

const sizeGauges = [
  {
    name: 'property_events_lane_waiting_requests',
    help: 'Publish requests whose commit has not begun, by the size of their batch (events, at most).',
    of: ({ waiting }: SizeState) => waiting,
  },
  {
    name: 'property_events_lane_commits_under_way',
    help: 'Commits under way, by the size of their batches (events, at most).',
    of: ({ commits }: SizeState) => commits,
  },
] as const

function batchLabel({ batchEvents }: SizeState): string {
  return Number.isFinite(batchEvents) ? String(batchEvents) : 'any'
}

interface OwnCounterOptions {
  readonly name: string
  readonly help: string
  readonly labels: readonly [string] | readonly [string, string]
}

function ownCounter({ name, help, labels: [firstLabel, secondLabel] }: OwnCounterOptions) {
  const counts = new Map<string, Map<string, number>>()
  return {
    /** `first`, `second`: the values of the labels. */
    add(count: number, first: string, second = ''): void {
      let ofFirst = counts.get(first)
      if (ofFirst === undefined) counts.set(first, (ofFirst = new Map()))
      ofFirst.set(second, (ofFirst.get(second) ?? 0) + count)
    },
    json(): MetricJson {
      const values: MetricSample[] = []
      for (const [first, ofFirst] of counts) {
        for (const [second, value] of ofFirst) {
          const more = secondLabel === undefined ? {} : { [secondLabel]: second }
          values.push({ labels: { [firstLabel]: first, ...more }, value })
        }
      }
      return { name, help, type: 'counter', aggregator: 'sum', values }
    },
  }
}
