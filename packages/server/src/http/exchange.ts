/** A request and its answer as values: everything an operation is given, and everything it can return. No transport shows through. */
import type { LiveOut } from './live-piece.ts'
import type { ProblemError, Ticks } from '@property-events/protocol'
import type { EndSignal } from '../runtime/end-signal.ts'
import type { ContentCoding, PageBody } from './answer-body.ts'
import type { Flight, FlightUse } from './bytes-in-flight.ts'
import { success } from './problem/problem.ts'
import type { Refusal } from './problem/problem.ts'

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

/** Why the parameters of a request, in its path, its query or its headers, are refused. */
export function invalidParameters(...errors: readonly ProblemError[]): Refused {
  return refused({ code: 'invalid_parameter', errors })
}

/** Names are in lower case. Equal headers share one object wherever possible, because the lines made from it are kept. */
export type Headers = Readonly<Record<string, string>>

export const noHeaders: Headers = {}

/** Of JSON that no cache may keep. */
export const uncachedJson: Headers = { 'content-type': 'application/json', 'cache-control': 'no-store' }

/** JSON that no cache may keep, with headers of its own beside. */
export function uncachedAnswer(body: object, status: number = success.ok, further: Headers = {}): Outcome {
  return { kind: 'text', status, headers: { ...uncachedJson, ...further }, body: JSON.stringify(body) }
}

/** The state of a feed, as the headers of an answer show it (D20). */
export interface FeedState {
  readonly sequenceNumber: number
  readonly epoch: string
  readonly revision: number
}

/**
 * What an answer carries for those that record what was sent to whom. Each feature declares its own member here (`declare module`), and
 * nothing in http reads it.
 */
export interface AnswerRecords {
  /** When the oldest of its events was committed, in milliseconds since 1970, if the reader was waiting for it. */
  readonly committedMs?: number | undefined
}

export type Answer =
  | (AnswerRecords & {
      readonly kind: 'notModified'
      readonly headers: Headers
      readonly etag: string
      readonly feed: FeedState | undefined
      /** As in `pieces`. */
      readonly completeUntil?: Ticks | undefined
    })
  | (AnswerRecords & {
      /** 200 with bytes that are ready. The transport releases them once they are with the kernel, or the client has gone. */
      readonly kind: 'pieces'
      readonly headers: Headers
      readonly etag: string | undefined
      /** The state of the feed in which the answer was made (D20); `undefined` if the answer does not show it. */
      readonly feed: FeedState | undefined
      /** As of a located page; the answer says so in two headers. */
      readonly completeUntil?: Ticks | undefined
      readonly body: PageBody
      readonly coding: ContentCoding
      /** Nothing was new, so the request gets its token back (D10). */
      readonly isFree?: boolean
    })
  | {
      readonly kind: 'text'
      readonly status: number
      readonly headers: Headers
      /** Empty if the answer has no body. */
      readonly body: string
      /** As in `pieces`. */
      readonly isFree?: boolean
    }
  | (AnswerRecords & {
      /** 200 with bytes that are made while they are sent. */
      readonly kind: 'stream'
      readonly headers: Headers
      readonly etag: string | undefined
      readonly feed: FeedState
      /** As in `pieces`. */
      readonly completeUntil?: Ticks | undefined
      readonly coding: ContentCoding
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
    })
  | {
      /** 200 whose pieces are sent when there are events. The operation notes what it sends while it sends it. */
      readonly kind: 'live'
      readonly headers: Headers
      readonly feed: FeedState
      readonly use: FlightUse
      /** Called once, and not at all for `HEAD`. */
      readonly begin: (out: LiveOut) => void
      /** As in `stream`. Nothing is written after it. */
      readonly release: () => void
    }
  /** Nobody is left to answer. */
  | { readonly kind: 'none' }

export type StreamAnswer = Extract<Answer, { kind: 'stream' }>
export type TextAnswer = Extract<Answer, { kind: 'text' }>

export type Outcome = Answer | Refused

/** The answer has left, or will not be sent. */
export function releaseAnswer(answer: Outcome): void {
  if (answer.kind === 'pieces') answer.body.release()
  if (answer.kind === 'stream' || answer.kind === 'live') answer.release()
}
