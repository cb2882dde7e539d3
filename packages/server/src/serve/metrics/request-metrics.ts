/** Counts of each request. Every read passes here, so each number costs no more than one look-up. */
import type { DoneRequest } from '../../http/observer.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { MetricJson, MetricSample, Series } from '../../runtime/metrics/own-histogram.ts'
import { addTo, emptySeries, histogramSamples } from '../../runtime/metrics/own-histogram.ts'
import { namedCounts } from '../../runtime/metrics/top-counter.ts'
import type { CountsByName, TopCounterOptions } from '../../runtime/metrics/top-counter.ts'
import { slowestRequests } from './slowest-requests.ts'
import type { SlowRequest } from './slowest-requests.ts'
import { countWentLive } from './went-live-metrics.ts'

/** By tenant: reads and their bytes, and events stored. By key: refusals. By consumer: properties that went live, and after how long. */
export interface NameCounts {
  readonly reads: CountsByName
  readonly stored: CountsByName
  readonly refusals: CountsByName
  readonly wentLive: CountsByName
}

/** How the counts are shown. `of`: where they are counted. */
export const topCounters: readonly (TopCounterOptions & { readonly of: keyof NameCounts })[] = [
  {
    of: 'reads',
    column: 0,
    label: 'tenant',
    name: 'property_events_tenant_read_requests_total',
    help: 'Requests that read, by the 20 tenants that read most; the others together.',
  },
  {
    of: 'reads',
    column: 1,
    label: 'tenant',
    name: 'property_events_tenant_read_bytes_total',
    help: 'Bytes of the bodies of answers, by the 20 tenants that read most; the others together.',
  },
  {
    of: 'stored',
    column: 0,
    label: 'tenant',
    name: 'property_events_tenant_stored_events_total',
    help: 'Events stored, by the 20 tenants that publish most; the others together.',
  },
  {
    of: 'refusals',
    column: 0,
    label: 'key',
    name: 'property_events_key_refusals_total',
    help: 'Requests that were refused to a key (4xx), by the ids of the 20 keys with most; the others together.',
  },
]

const problemsName = 'property_events_problems_total'
const faultsFrom = 500

export function requestMetrics() {
  const durations = requestDurations()
  const slow = slowestRequests()
  const problems = new Map<string, number>()
  const [reads, stored, refusals] = [namedCounts(), namedCounts(), namedCounts()]
  const live = countWentLive()

  const refused = (code: string, { status, keyId }: DoneRequest): void => {
    problems.set(code, (problems.get(code) ?? 0) + 1)
    if (keyId !== undefined && status < faultsFrom) refusals.add(keyId, 1, 0)
  }
  return {
    done(request: DoneRequest): void {
      const { route, method, status, seconds, tenantId, problem } = request
      durations.observe(route, method, status, seconds)
      if (tenantId !== undefined && method !== 'POST') reads.add(tenantId, 1, request.bodyBytes)
      if (problem !== undefined) refused(problem, request)
      const { endedMs } = request
      if (slow.isSlow(seconds * 1_000, endedMs)) slow.note(slowRequest(request), endedMs)
    },
    /** Adds bytes of an answer that is sent while it is made. */
    streamed: (tenantId: string, bytes: number) => reads.add(tenantId, 0, bytes),
    stored: ({ tenantId }: FeedKey, events: number) => stored.add(tenantId, events, 0),
    /** A site has reported that it shows the latest event of a property, this many seconds after its commit. */
    wentLive: (keyId: string, consumer: string, seconds: number) =>
      live.add(keyId, consumer, Math.max(0, seconds)),
    json: () => [durations.json(), problemsJson(problems)],
    /** The counts by name since the last call. */
    takeCounts: (): NameCounts => ({
      reads: reads.take(),
      stored: stored.take(),
      refusals: refusals.take(),
      wentLive: live.take(),
    }),
    slowest: () => slow.list(performance.now()),
  }
}

function slowRequest({
  seconds,
  requestId,
  method,
  route,
  status,
  keyId,
  tenantId,
}: DoneRequest): SlowRequest {
  const endedAt = new Date().toISOString()
  return {
    endedAt,
    requestId,
    method,
    route,
    status,
    durationMs: Math.round(seconds * 10_000) / 10,
    keyId,
    tenantId,
  }
}

function problemsJson(problems: ReadonlyMap<string, number>): MetricJson {
  const values = [...problems].map(([code, value]) => ({ labels: { code }, value }))
  const help = 'Requests that were answered with a problem, by its code.'
  return { name: problemsName, help, type: 'counter', aggregator: 'sum', values }
}

/** From a 304 out of memory to a publish request that waits for a slow disk. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
const name = 'property_events_http_request_duration_seconds'

/** Strangers choose methods, and each label value is kept for ever. */
const methods = ['GET', 'HEAD', 'POST', 'OPTIONS', 'none', 'other'] as const
const otherMethod = methods.length - 1
const statusesPerMethod = 1_000

/**
 * The histogram of requests. It is our own, because every read passes here: prom-client takes 375 ns per call for three labels, most of
 * it to build one text from them, and this takes 16. Counting a read takes 40 ns in all, 0.4 % of a poll of 10 µs (measured manually).
 */
function requestDurations() {
  const routes = new Map<string, Map<number, Series>>()

  const seriesOf = (route: string, place: number): Series => {
    let ofRoute = routes.get(route)
    if (ofRoute === undefined) routes.set(route, (ofRoute = new Map()))
    let series = ofRoute.get(place)
    if (series === undefined) ofRoute.set(place, (series = emptySeries(bounds)))
    return series
  }

  return {
    observe(route: string, method: string, status: number, seconds: number): void {
      addTo(seriesOf(route, methodNumber(method) * statusesPerMethod + status), bounds, seconds)
    },
    json(): MetricJson {
      const values: MetricSample[] = []
      for (const [route, ofRoute] of routes) {
        for (const [place, series] of ofRoute) {
          const method = methods[Math.floor(place / statusesPerMethod)] ?? 'other'
          const labels = { route, method, status: place % statusesPerMethod }
          values.push(...histogramSamples({ name, bounds, ...series, labels }))
        }
      }
      const help = 'Time from the request line to the end of the answer, by route and status.'
      return { name, help, type: 'histogram', aggregator: 'sum', values }
    },
  }
}

function methodNumber(method: string): number {
  // The most frequent first, without a list or a map, because this runs for each request.
  if (method === 'GET') return 0
  if (method === 'POST') return 2
  if (method === 'HEAD') return 1
  if (method === 'OPTIONS') return 3
  return method === 'none' ? 4 : otherMethod
}
