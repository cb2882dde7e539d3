/**
 * Whether an endpoint as a whole works, and how fast it may be sent to. An event that one receiver refuses waits by itself; when much is
 * refused in a row, or nobody answers, the endpoint is failing: its cursor stands, one request probes it, and nothing counts against an
 * event.
 */

/** Refusals in a row, over at least `failingSubjects` properties, that make an endpoint failing: fewer are the fault of single events. */
const failingRefusals = 10
const failingSubjects = 3
/** The same for connections that were not made. */
const failingConnections = 3
const firstProbeMs = 5_000
const usualLongestProbeMs = 15 * 60_000
/** A `Retry-After` beyond this is cut. */
const longestPostponedMs = 3_600_000
/** Before the next try, where nothing was connected and the endpoint is not failing yet. */
const unreachableMs = 1_000

export interface HealthSettings {
  /** Requests under way at once. */
  readonly concurrency: number
  /** `undefined`: no limit. */
  readonly maxPerSecond: number | undefined
  /** Between two probes of an endpoint that fails; left out: a quarter of an hour. */
  readonly longestProbeMs?: number
}

export interface EndpointHealth {
  /** Milliseconds since 1970; `undefined`: it works. */
  readonly failingSinceMs: number | undefined
  acknowledged(): void
  refused(subjectId: string, nowMs: number): void
  unreachable(nowMs: number): void
  postponed(subjectId: string, waitMs: number, nowMs: number): void
  /** Takes leave for one more request beside `underWay` others; otherwise the moment from which to ask again (`Infinity`: when one ends). */
  take(underWay: number, nowMs: number): 'taken' | number
}

/** `failingSinceMs`: as it was stored. */
export function endpointHealth(
  failingSinceMs: number | undefined,
  { concurrency, maxPerSecond, longestProbeMs = usualLongestProbeMs }: HealthSettings,
): EndpointHealth {
  let sinceMs = failingSinceMs
  let probeMs = firstProbeMs
  let notBeforeMs = 0
  let connections = 0
  let refusals: string[] = []
  /** Doubled by each acknowledgement after a failure. */
  let limit = sinceMs === undefined ? concurrency : 1
  /** The moment for which the last request's share of a second is spent. */
  let spentMs = 0

  function fail(nowMs: number): void {
    if (sinceMs !== undefined) probeMs = Math.min(longestProbeMs, probeMs * 2)
    sinceMs ??= nowMs
    notBeforeMs = nowMs + probeMs
    limit = 1
  }

  function refuse(subjectId: string, nowMs: number): void {
    connections = 0
    refusals = [...refusals, subjectId].slice(-failingRefusals)
    const isMuch = refusals.length === failingRefusals && new Set(refusals).size >= failingSubjects
    if (sinceMs !== undefined || isMuch) fail(nowMs)
  }

  return {
    get failingSinceMs() {
      return sinceMs
    },
    acknowledged() {
      limit = Math.min(concurrency, limit * 2)
      refusals = []
      connections = 0
      sinceMs = undefined
      probeMs = firstProbeMs
    },
    refused: refuse,
    unreachable(nowMs) {
      connections += 1
      if (sinceMs !== undefined || connections >= failingConnections) fail(nowMs)
      else notBeforeMs = nowMs + unreachableMs
    },
    postponed(subjectId, waitMs, nowMs) {
      refuse(subjectId, nowMs)
      notBeforeMs = Math.max(notBeforeMs, nowMs + Math.min(waitMs, longestPostponedMs))
    },
    take(underWay, nowMs) {
      if (underWay >= limit) return Infinity
      if (nowMs < notBeforeMs) return notBeforeMs
      if (maxPerSecond === undefined) return 'taken'
      if (nowMs < spentMs) return spentMs
      // A second's worth may be sent at once after a rest.
      spentMs = Math.max(spentMs, nowMs - 1_000) + 1_000 / maxPerSecond
      return 'taken'
    },
  }
}
