/** A request and its answer as values: all that an operation is given, and all that it can say. No transport shows through. */
import type { AdminScope, ContactLimits } from '@property-events/protocol'
import type { ContentCoding, PageBody } from '../pages/index.ts'
import type { Told } from '../feed/noted-parts.ts'
import type { Sent } from '../feed/sent.ts'
import type { FeedKey, Grant, Head, KeyReading } from '../storage/storage.ts'
import type { Flight, FlightUse } from './bytes-in-flight.ts'
import type { ProblemCode, Refusal } from './problem.ts'
import type { Routed } from './router.ts'
import type { Spending } from './key-limits.ts'

/** A request whose head has come. Its body comes when it is asked for. */
export interface Request {
  /** Names the request in the log and in `x-request-id`. */
  readonly id: string
  readonly method: string
  /** As it stood on the request line. */
  readonly target: string
  /** On the clock of `performance.now()`. */
  readonly startedMs: number
  readonly head: RequestHead
  /** The key as it was sent, as text or as the bytes that came; `undefined`: none. It is in no other place of a request. */
  readonly credential: string | Buffer | undefined
  /** The address of the other end of the connection; `undefined` once that is closed. */
  readonly remote: string | undefined
  /** Aborted when the client has gone before it had its answer. Made when it is first asked for. */
  readonly gone: AbortSignal
  /** A header by its name in lower case; several lines of one name are one value, joined by commas (RFC 9110 §5.3). */
  header(name: string): string | undefined
  /**
   * Reads the body, at most once; its bytes are taken from `flight`, and refused where that has no room for them. A client that waits
   * for `100 Continue` is then told to send it. Never rejects.
   */
  body(flight: Flight): Body | Promise<Body>
}

/** What a guard looks at beside the values of headers. */
export interface RequestHead {
  /** `1.1`. */
  readonly version: string
  readonly headerCount: number
  /** One for each `Host` line. */
  readonly hosts: readonly string[]
}

export type Body =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | Refused
  /** The connection ended before the body did. */
  | { readonly kind: 'gone' }

/** A request that is refused: `handle` makes a problem of it. */
export interface Refused {
  readonly kind: 'refused'
  readonly refusal: Refusal
}

export function refused(refusal: Refusal): Refused {
  return { kind: 'refused', refusal }
}

/** Names in lower case. One object for the same headers, wherever it can be: the lines made of it are kept. */
export type Headers = Readonly<Record<string, string>>

export const noHeaders: Headers = {}

export type Answer =
  | {
      readonly kind: 'notModified'
      readonly headers: Headers
      readonly etag: string
      readonly feed: Head | undefined
      /** As of `pieces`. */
      readonly told?: Told | undefined
    }
  | {
      /** 200 with bytes that are ready. The transport releases them once they are with the kernel, or the client has gone. */
      readonly kind: 'pieces'
      readonly headers: Headers
      readonly etag: string | undefined
      /** The state of the feed that the answer was made in (D20); `undefined`: the answer does not say. */
      readonly feed: Head | undefined
      readonly body: PageBody
      readonly coding: ContentCoding
      /** The events in it, to be noted as sent to the key; `undefined`: none that are noted. */
      readonly sent?: Sent | undefined
      /** What its reader has been sent once the last byte is taken; `undefined`: no feed. */
      readonly told?: Told | undefined
      /** Nothing was new, and the request gets its token back (D10). */
      readonly isFree?: boolean
    }
  | {
      readonly kind: 'text'
      readonly status: number
      readonly headers: Headers
      /** Empty: the answer has no body. */
      readonly body: string
      /** As of `pieces`. */
      readonly isFree?: boolean
    }
  | {
      /** 200 with bytes that are made while they are sent. */
      readonly kind: 'stream'
      readonly headers: Headers
      readonly etag: string | undefined
      readonly feed: Head
      readonly coding: ContentCoding
      /** As of `pieces`; `undefined` also where the operation notes what it sends while it sends it. */
      readonly sent?: Sent | undefined
      /** As of `pieces`, and as `sent`. */
      readonly told?: Told | undefined
      /** `undefined`: nobody knows before the end. */
      readonly byteLength: number | undefined
      readonly use: FlightUse
      /**
       * Called once, and not at all for `HEAD`. A piece may be used until the next one is asked for. What it throws cuts the answer off,
       * and so do pieces of another length than was said.
       */
      readonly pieces: () => AsyncGenerator<Uint8Array>
      /** The transport calls it once: when the answer has left, or nobody is there any more to take it. */
      readonly release: () => void
    }
  /** Nobody is there any more to be answered. */
  | { readonly kind: 'none' }

export type Outcome = Answer | Refused

/** What a key grants the request it came with. */
export interface Access {
  readonly kind: 'granted'
  /** `undefined`: the operation asks for no key. */
  readonly keyId: string | undefined
  /** `undefined`: the operation reads feeds of any number of tenants, or asks for no key. */
  readonly tenantId: string | undefined
  readonly grants: readonly Grant[]
  /** Of the tenant's properties only those of these branches. `undefined`: all, or there is no one tenant. */
  readonly branches: readonly string[] | undefined
  /** Tenants of its grants whose events of the granted branches are being put together, so that they cannot be read yet. */
  readonly viewsBeingMade: readonly string[]
  /** Of an operator key, for operations of administration alone. */
  readonly adminScopes: readonly AdminScope[]
  /** How the key reads where that is not as usual. */
  readonly reading: KeyReading | undefined
  /** What of contacts it reads of the tenant; left out: all of them. */
  readonly contact?: ContactLimits | undefined
  /** What came in place of the key's text; left out: nothing did. */
  readonly session?: OpenSession
}

/** A session of the console, as the request found it. */
export interface OpenSession {
  /** It was begun a few minutes ago at most. */
  readonly isFresh: boolean
  /** Whether it still lasts; counts as using it. Rejects as the store does. */
  readonly isOpen: () => Promise<boolean>
}

/** Of an operation that asks for no key. */
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

/** A request with all that became known of it on its way: for its answer's head, its log line and its metrics. */
export interface Exchange {
  readonly request: Request
  readonly routed: Routed
  answer: Answer
  /** Set once the key is known to be one. */
  keyId: string | undefined
  /** Set once the key is known to grant what the operation needs. */
  tenantId: string | undefined
  /** Of the limits of its key and of its tenant. Set once the key is known to be one, and the request to be within what it may at once. */
  spending: Spending | undefined
  /** Set when the request was refused. */
  problem: ProblemCode | undefined
  /** What the answer is counted with as long as it has not left; the transport ends it. */
  flight: Flight | undefined
  /** Of the body of a stream, so far. */
  streamedBytes: number
  /** The connection ends with this answer. */
  closes: boolean
}
