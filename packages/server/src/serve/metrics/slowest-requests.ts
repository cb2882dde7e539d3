/** Keeps the slowest requests of the last minutes, to show which ones they were. */

export interface SlowRequest {
  /** When the answer had been sent, as an ISO date. */
  readonly endedAt: string
  readonly requestId: string
  readonly method: string
  /** The route's pattern, because the path of a contact would name it (D18). */
  readonly route: string
  readonly status: number
  readonly durationMs: number
  readonly keyId: string | undefined
  readonly tenantId: string | undefined
}

export const slowestShown = 20
const windowMs = 300_000

export function slowestRequests() {
  let before: readonly SlowRequest[] = []
  let present: SlowRequest[] = []
  let sinceMs = 0
  /** A request must take longer than this to be kept. */
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
    /** Whether it is among the slowest. Hardly any request is, and the others need no description. */
    isSlow: (durationMs: number, nowMs: number) => durationMs > leastMs || nowMs - sinceMs >= windowMs,
    note(request: SlowRequest, nowMs: number): void {
      turn(nowMs)
      present = slowest([...present, request])
      if (present.length === slowestShown) leastMs = present.at(-1)?.durationMs ?? 0
    },
    /** Those of the last five to ten minutes, slowest first. */
    list(nowMs: number): readonly SlowRequest[] {
      turn(nowMs)
      return slowest([...before, ...present])
    },
  }
}

/** The slowest of all of them, slowest first. */
function slowest(requests: readonly SlowRequest[]): SlowRequest[] {
  return requests.toSorted((one, other) => other.durationMs - one.durationMs).slice(0, slowestShown)
}
