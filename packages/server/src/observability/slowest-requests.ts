/** The slowest requests of the last minutes, for the question which ones they were. */

export interface SlowRequest {
  /** When the answer had left, as an ISO date. */
  readonly endedAt: string
  readonly requestId: string
  readonly method: string
  /** The route's pattern: the path of a contact names it (D18). */
  readonly route: string
  readonly status: number
  readonly durationMs: number
  readonly keyId: string | undefined
  readonly tenantId: string | undefined
}

export interface SlowestRequests {
  /** Whether it is among the slowest: nearly no request is, and the others need not be described. */
  isSlow(durationMs: number, nowMs: number): boolean
  note(request: SlowRequest, nowMs: number): void
  /** Of the last five to ten minutes, the slowest first. */
  list(nowMs: number): readonly SlowRequest[]
}

export const slowestShown = 20
const windowMs = 300_000

export function slowestRequests(): SlowestRequests {
  let before: readonly SlowRequest[] = []
  let present: SlowRequest[] = []
  let sinceMs = 0
  /** What a request has to take longer than, to be kept. */
  let leastMs = 0

  const turn = (nowMs: number): void => {
    const passedMs = nowMs - sinceMs
    if (passedMs < windowMs) return
    before = passedMs < 2 * windowMs ? present : []
    present = []
    sinceMs = nowMs
    leastMs = 0
  }
  return {
    isSlow: (durationMs, nowMs) => durationMs > leastMs || nowMs - sinceMs >= windowMs,
    note(request, nowMs) {
      turn(nowMs)
      present = slowest([...present, request])
      if (present.length === slowestShown) leastMs = present.at(-1)?.durationMs ?? 0
    },
    list(nowMs) {
      turn(nowMs)
      return slowest([...before, ...present])
    },
  }
}

/** The slowest of all of them, the slowest first. */
export function slowest(requests: readonly SlowRequest[]): SlowRequest[] {
  return requests.toSorted((one, other) => other.durationMs - one.durationMs).slice(0, slowestShown)
}
