/** The ways to wait for events, and what a client has learnt about them on its way to the service. */

/** A stream; waiting requests; requests with pauses between them. */
export type Transport = 'stream' | 'wait' | 'polls'

/** What a service or a proxy in front of it may lack. `types`: the parameter. `heads`: waiting for heads. */
type Way = 'stream' | 'wait' | 'types' | 'heads'

export interface Ways {
  /** The way to use now. */
  readonly best: Transport
  has(way: Way): boolean
  /** The way does not work here. It is tried again later: a proxy can be corrected, a service upgraded. */
  giveUp(way: Way): void
  /** Seconds that a request waits. */
  readonly waitSeconds: number
  /** A proxy did not wait that long. */
  shortenWait(): void
}

const givenUpMs = 600_000
/** Less than the 30 s after which many proxies end a request without an answer. */
const longestWaitSeconds = 25

/** `now` as of the client. */
export function createWays(now: () => number): Ways {
  const givenUp = new Map<Way, number>()
  const has = (way: Way): boolean => {
    const sinceMs = givenUp.get(way)
    // A clock that was set back must not disable the way for longer.
    return sinceMs === undefined || Math.abs(now() - sinceMs) >= givenUpMs
  }
  let waitSeconds = longestWaitSeconds
  return {
    get best() {
      if (has('stream')) return 'stream'
      return has('wait') ? 'wait' : 'polls'
    },
    has,
    giveUp: (way) => void givenUp.set(way, now()),
    get waitSeconds() {
      return waitSeconds
    },
    shortenWait() {
      waitSeconds = Math.max(1, Math.floor(waitSeconds / 2))
    },
  }
}
