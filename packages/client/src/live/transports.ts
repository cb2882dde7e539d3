/** The transports of events, and what a client has learnt about them on its way to the service. */

/** A stream; waiting requests; requests with pauses between them. */
export type Transport = 'stream' | 'wait' | 'polls'

export interface TransportState {
  /** The transport to use now. */
  readonly best: 'stream' | 'wait'
  /** No stream comes through. It is tried again later, because a proxy can be corrected. */
  giveUpStreams(): void
  /** Seconds that a request waits. */
  readonly waitSeconds: number
  /** A proxy did not wait that long. */
  shortenWait(): void
}

const givenUpMs = 600_000
/** Less than the 30 s after which many proxies end a request without an answer. */
const longestWaitSeconds = 25

/** `now` as of the client. */
export function createTransportState(now: () => number): TransportState {
  let givenUpAtMs = -Infinity
  let waitSeconds = longestWaitSeconds
  return {
    get best() {
      // A clock that was set back must not disable streams for longer.
      return Math.abs(now() - givenUpAtMs) >= givenUpMs ? 'stream' : 'wait'
    },
    giveUpStreams: () => void (givenUpAtMs = now()),
    get waitSeconds() {
      return waitSeconds
    },
    shortenWait() {
      waitSeconds = Math.max(1, Math.floor(waitSeconds / 2))
    },
  }
}
