/** A request and its answer as values: everything an operation is given, and everything it can return. No transport shows through. */
import type { AdminScope, ContactLimits, Ticks } from '@property-events/protocol'
import type { EndSignal } from '../runtime/end-signal.ts'
import type { ContentCoding, PageBody } from '../reading/page-cache/index.ts'
import type { Delivered } from '../consumers/read-ranges.ts'
import type { Disclosure } from '../privacy/disclosure/disclosure.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { Grant, KeyReading } from '../keys/key.ts'
import type { Head } from '../events/event-log.ts'
import type { AccessNeed } from './access/access.ts'
import type { Flight, FlightUse } from './bytes-in-flight.ts'
import type { LiveOut } from './live-piece.ts'
import type { ProblemCode, Refusal } from './problem/problem.ts'
import type { Routed } from './router.ts'
import type { Spending } from '../keys/rate-limit/key-limits.ts'

/** A request whose head has arrived. Its body is read on demand. */
export interface Request {
  /** The request's id in the log and in `x-request-id`. */
  readonly id: string
  readonly method: string
  /** As it was on the request line. */
  readonly target: string
  /** On the clock of `performance.now()`. */
  readonly startedMs: number
  readonly head: RequestHead
  /** The key as it was sent, as text or as raw bytes; `undefined` if there is none. Nothing else in a request holds it. */
  readonly credential: string | Buffer | undefined
  /** The address of the other end of the connection; `undefined` once that is closed. */
  readonly remote: string | undefined
  /** Aborted when the client has gone before it had its answer. Created on first use. */
  readonly gone: EndSignal
  /** A header by its name in lower case. Several lines of one name are one value, joined by commas (RFC 9110 §5.3). */
  header(name: string): string | undefined
  /**
   * Reads the body, at most once. Its bytes are counted in `flight`, and refused if that has no room for them. If the client waits for
   * `100 Continue`, it gets that now. Never rejects.
   */
  body(flight: Flight): Body | Promise<Body>
}

/** What a guard checks in addition to the values of headers. */
export interface RequestHead {
  /** The HTTP version, such as `1.1`. */
  readonly version: string
  readonly headerCount: number
  /** One value for each `Host` line. */
  readonly hosts: readonly string[]
}

export type Body =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | Refused
  /** The connection ended before the body did. */
  | { readonly kind: 'gone' }

/** A refused request; `handle` turns it into a problem. */
export interface Refused {
  readonly kind: 'refused'
  readonly refusal: Refusal
}

export function refused(refusal: Refusal): Refused {
  return { kind: 'refused', refusal }
}

/** Names are in lower case. Equal headers share one object wherever possible, because the lines made from it are kept. */
export type Headers = Readonly<Record<string, string>>

export const noHeaders: Headers = {}

export type Answer =
  | {
      readonly kind: 'notModified'
      readonly headers: Headers
      readonly etag: string
      readonly feed: Head | undefined
      /** As in `pieces`. */
      readonly completeUntil?: Ticks | undefined
      /** As in `pieces`. */
      readonly delivered?: Delivered | undefined
    }
  | {
      /** 200 with bytes that are ready. The transport releases them once they are with the kernel, or the client has gone. */
      readonly kind: 'pieces'
      readonly headers: Headers
      readonly etag: string | undefined
      /** The state of the feed in which the answer was made (D20); `undefined` if the answer does not show it. */
      readonly feed: Head | undefined
      /** As of a located page; the answer says so in two headers. */
      readonly completeUntil?: Ticks | undefined
      readonly body: PageBody
      readonly coding: ContentCoding
      /** The events in the answer, to be noted as sent to the key; `undefined` if none are noted. */
      readonly sent?: Disclosure | undefined
      /** What the reader has been sent once the last byte is taken; `undefined` if no feed was read. */
      readonly delivered?: Delivered | undefined
      /** Nothing was new, so the request gets its token back (D10). */
      readonly isFree?: boolean
      /** When the oldest of its events was committed, in milliseconds since 1970, if the reader was waiting for it. */
      readonly committedMs?: number | undefined
    }
  | {
      readonly kind: 'text'
      readonly status: number
      readonly headers: Headers
      /** Empty if the answer has no body. */
      readonly body: string
      /** As in `pieces`. */
      readonly isFree?: boolean
    }
  | {
      /** 200 with bytes that are made while they are sent. */
      readonly kind: 'stream'
      readonly headers: Headers
      readonly etag: string | undefined
      readonly feed: Head
      /** As in `pieces`. */
      readonly completeUntil?: Ticks | undefined
      readonly coding: ContentCoding
      /** As in `pieces`; also `undefined` if the operation notes what it sends while sending it. */
      readonly sent?: Disclosure | undefined
      /** As in `pieces`, and with the same exception as `sent`. */
      readonly delivered?: Delivered | undefined
      /** `undefined` if it is unknown before the end. */
      readonly byteLength: number | undefined
      readonly use: FlightUse
      /**
       * Called once, and not at all for `HEAD`. A piece may be used until the next one is requested. If this throws, or the pieces have
       * another length than announced, the answer is cut off.
       */
      readonly pieces: () => AsyncGenerator<Uint8Array>
      /** Aborted when its reader may no longer have it: the answer is then cut off. */
      readonly over?: EndSignal
      /** The transport calls this once: when the answer has left, or nobody is left to take it. */
      readonly release: () => void
    }
  | {
      /** 200 whose pieces are sent when there are events. The operation notes what it sends while it sends it. */
      readonly kind: 'live'
      readonly headers: Headers
      readonly feed: Head
      readonly use: FlightUse
      /** Called once, and not at all for `HEAD`. */
      readonly begin: (out: LiveOut) => void
      /** As in `stream`. Nothing is written after it. */
      readonly release: () => void
    }
  /** Nobody is left to answer. */
  | { readonly kind: 'none' }

export type Outcome = Answer | Refused

/** What a key grants to the request it came with. */
export interface Access {
  readonly kind: 'granted'
  /** `undefined` if the operation needs no key. */
  readonly keyId: string | undefined
  /** `undefined` if the operation reads feeds of any number of tenants, or needs no key. */
  readonly tenantId: string | undefined
  readonly grants: readonly Grant[]
  /** Limits the tenant's properties to these branches. `undefined`: all, or the request is not about one tenant. */
  readonly branches: readonly string[] | undefined
  /** Tenants of its grants whose branch events are still being collected, so that they cannot be read yet. */
  readonly viewsBeingMade: readonly string[]
  /** The scopes of an operator key, for administration operations only. */
  readonly adminScopes: readonly AdminScope[]
  /** How the key reads, if that differs from the default. */
  readonly reading: KeyReading | undefined
  /** Which contact data of the tenant the key reads; left out: all of it. */
  readonly contact?: ContactLimits | undefined
  /** The session that came in place of the key's text; left out if there is none. */
  readonly session?: OpenSession
  /** What the access was decided for, so that it can be decided again; left out if no key was needed. */
  readonly asked?: { readonly need: AccessNeed; readonly tenant: string | undefined }
}

/** A session of the console, as the request found it. */
export interface OpenSession {
  /** Whether it was begun within the last few minutes. */
  readonly isFresh: boolean
  /** Whether the session is still open; the call counts as using it. Rejects as the store does. */
  readonly isOpen: () => Promise<boolean>
}

/** The access of an operation that needs no key. */
export const openAccess: Access = {
  kind: 'granted',
  keyId: undefined,
  tenantId: undefined,
  grants: [],
  branches: undefined,
  viewsBeingMade: [],
  adminScopes: [],
  reading: undefined,
}

/** The feed that a request is about. Only for operations whose access is to one feed. */
export function feedKeyOf({ tenantId }: Access, feed: FeedKey['feed']): FeedKey {
  if (tenantId === undefined) throw new Error('an operation asks for the tenant without requiring access')
  return { tenantId, feed }
}

/** A request with everything that became known about it on its way: for its answer's head, its log line and its metrics. */
export interface Exchange {
  readonly request: Request
  readonly routed: Routed
  answer: Answer
  /** Set once the key is known to be valid. */
  keyId: string | undefined
  /** Set once the key is known to grant what the operation needs. */
  tenantId: string | undefined
  /** What its key may do; set once it may do what the operation needs. */
  access: Access | undefined
  /**
   * What the request takes from the limits of its key and of its tenant. Set once the key is known to be valid, and the request is within
   * the key's simultaneous requests.
   */
  spending: Spending | undefined
  /** Set when the request was refused. */
  problem: ProblemCode | undefined
  /** Counts the bytes of the answer until it has left; the transport ends it. */
  flight: Flight | undefined
  /** The bytes of a stream's body so far. */
  streamedBytes: number
  /** The connection closes after this answer. */
  closes: boolean
}
