/** Counts of each request. Every read passes here, so each number costs no more than one look-up. */
import type { DoneRequest } from '../../http/observer.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { MetricJson } from '../../runtime/metrics/histogram-samples.ts'
import { namedCounts } from '../../runtime/metrics/named-counts.ts'
import type { CountsByName } from '../../runtime/metrics/named-counts.ts'
import { requestDurations } from './request-durations.ts'
import { slowestRequests } from './slowest-requests.ts'
import type { SlowRequest } from './slowest-requests.ts'
import type { TopCounterOptions } from '../../runtime/metrics/top-counter.ts'
import { countWentLive } from './went-live-metrics.ts'

interface RequestMetrics {
  done(request: DoneRequest): void
  /** Adds bytes of an answer that is sent while it is made. */
  streamed(tenantId: string, bytes: number): void
  stored(key: FeedKey, events: number): void
  /** A site has reported that it shows the latest event of a property, this many seconds after its commit. */
  wentLive(keyId: string, consumer: string, seconds: number): void
  json(): readonly MetricJson[]
  /** The counts by name since the last call. */
  takeCounts(): NameCounts
  slowest(): readonly SlowRequest[]
}

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

export function requestMetrics(): RequestMetrics {
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
    done(request) {
      const { route, method, status, seconds, tenantId, problem } = request
      durations.observe(route, method, status, seconds)
      if (tenantId !== undefined && method !== 'POST') reads.add(tenantId, 1, request.bodyBytes)
      if (problem !== undefined) refused(problem, request)
      const { endedMs } = request
      if (slow.isSlow(seconds * 1_000, endedMs)) slow.note(slowRequest(request), endedMs)
    },
    streamed: (tenantId, bytes) => reads.add(tenantId, 0, bytes),
    stored: ({ tenantId }, events) => stored.add(tenantId, events, 0),
    wentLive: (keyId, consumer, seconds) => live.add(keyId, consumer, Math.max(0, seconds)),
    json: () => [durations.json(), problemsJson(problems)],
    takeCounts: () => ({
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
