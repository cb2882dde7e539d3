/** Metrics of requests that wait for events, and of how late events reach their readers. */
import { Gauge, Histogram } from 'prom-client'
import type { Registry } from 'prom-client'

/** How a request waits: for events of one feed, for one of many feeds, or on a stream. */
export const waitingKinds = ['long_poll', 'heads', 'stream'] as const
export type WaitingKind = (typeof waitingKinds)[number]

export interface LiveMetrics {
  /** A reader that had caught up received an event. The kernel had its last byte this many seconds after its commit. */
  told(kind: WaitingKind, seconds: number): void
  /** Sets the function that returns, at each scrape, how many requests wait. */
  watchWaiting(state: () => Readonly<Record<WaitingKind, number>>): void
}

/** The target is half a second. A notice that gets lost costs a second. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function liveMetrics(register: Registry): LiveMetrics {
  const delays: Histogram<'kind'> = new Histogram({
    name: 'property_events_live_delay_seconds',
    help: 'Time from the commit of an event until a reader that waited for it was sent it.',
    labelNames: ['kind'],
    buckets,
    registers: [register],
  })
  return {
    told: (kind, seconds) => delays.observe({ kind }, Math.max(0, seconds)),
    watchWaiting(state) {
      const waiting: Gauge<'kind'> = new Gauge({
        name: 'property_events_waiting_requests',
        help: 'Requests that wait for events, by how they wait.',
        labelNames: ['kind'],
        registers: [register],
        collect() {
          const counts = state()
          for (const kind of waitingKinds) waiting.set({ kind }, counts[kind])
        },
      })
    },
  }
}
