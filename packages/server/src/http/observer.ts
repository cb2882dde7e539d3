/** What requests report about themselves. `serve/` makes the observers: metrics, and outages in the log. */
import type { FeedName } from '@property-events/protocol'

export interface DoneRequest {
  readonly requestId: string
  /** The route's pattern, or `none`: paths are not labels, because strangers could add new ones without end. */
  readonly route: string
  readonly method: string
  /** 0: the client was no longer there. */
  readonly status: number
  readonly seconds: number
  /** On the clock of `performance.now()`. */
  readonly endedMs: number
  /** Why the request was refused; `undefined`: it was not. */
  readonly problem: string | undefined
  /** Only for a valid key. */
  readonly keyId: string | undefined
  readonly tenantId: string | undefined
  /** The answer's bytes without its head. 0 if it has no body, and for streams, which count their bytes as they send them. */
  readonly bodyBytes: number
}

/** How a request waits: for events of one feed, for one of many feeds, or on a stream. */
export const waitingKinds = ['long_poll', 'heads', 'stream'] as const
export type WaitingKind = (typeof waitingKinds)[number]

export interface LiveObserver {
  /** A reader that had caught up received an event. The kernel had its last byte this many seconds after its commit. */
  delivered(kind: WaitingKind, seconds: number): void
}

export interface RequestObserver {
  requestDone(request: DoneRequest): void
  /** Adds bytes of an answer that is sent while it is made. */
  streamed(tenantId: string, bytes: number): void
  /** `outcome`: its kind. */
  published(feed: FeedName, outcome: string): void
  /** A site has reported that it shows the latest event of a property, this many seconds after its commit. */
  wentLive(keyId: string, consumer: string, seconds: number): void
  readonly live: LiveObserver
}

export interface FailureObserver {
  /** A request failed with this error. `isPublishing`: before its events were stored. */
  requestFailed(error: unknown, requestId: string | undefined, isPublishing: boolean): void
}
