/** What answering a request needs, whatever is asked: given by whoever puts a service together. Two services in one process share nothing. */
import type { Logger } from 'pino'
import type { FailureObserver, RequestObserver } from './observer.ts'
import type { BytesInFlight } from './bytes-in-flight.ts'
import type { RequestLines } from '../runtime/log/request-lines.ts'
import type { Access, AccessNeed } from './access.ts'
import type { CrossOrigin } from './cross-origin.ts'
import type { Refused, Request, StreamAnswer } from './exchange.ts'
import type { ServiceLimits } from './limits.ts'
import type { Refusal } from './problem/problem.ts'
import type { KeyLimits } from './rate-limit/key-limits.ts'
import type { ReadsInProgress } from './reads-in-progress.ts'
import type { Exchange } from './routed.ts'

/** Decides what the key of a request may do. */
export interface AccessControl {
  /**
   * What the key may do, or why the request gets no further. What becomes known about the key is written into the exchange. Immediate for
   * a key that was verified a moment ago. Rejects as the store does.
   */
  require(exchange: Exchange, need: AccessNeed): Access | Refused | Promise<Access | Refused>
  /**
   * Why a request that was let in would be refused now, if it has taken more than a moment; `undefined` at once for all others. Rejects as
   * the store does.
   */
  refusalIfLate(request: Request, access: Access | undefined): undefined | Promise<Refusal | undefined>
  /** The answer, cut off when its reader may no longer have it. */
  watched(request: Request, access: Access | undefined, answer: StreamAnswer): StreamAnswer
}

/** Records what was sent to whom. */
export interface ExchangeRecorder {
  /** Called before the first byte leaves: what may have been sent counts as sent. */
  sending(exchange: Exchange): void
  /** The answer is with the kernel, or (`aborted`) the client went away before. `status`: 0 if there is no answer. `bodyBytes`: of its body. */
  ended(exchange: Exchange, aborted: boolean, status: number, bodyBytes: number): void
}

export interface HttpContext {
  readonly access: AccessControl
  /** Why a request with the right key is refused before its operation sees it; it may wait. */
  readonly refusalBefore: (
    request: Request,
    need: AccessNeed | undefined,
    access: Access,
  ) => Refusal | undefined | Promise<Refusal | undefined>
  readonly recorder: ExchangeRecorder
  readonly keyLimits: KeyLimits
  readonly reads: ReadsInProgress
  readonly limits: ServiceLimits
  readonly inFlight: BytesInFlight
  readonly log: Logger
  readonly metrics: RequestObserver
  /** Where failures are reported: not directly to the log, which would grow by megabytes. */
  readonly outages: FailureObserver
  readonly requestLines: RequestLines
  /** Which web pages of other origins may read answers. */
  readonly crossOrigin: CrossOrigin
  /** Path prefix of every route, such as `/feed`; empty for none (D21). */
  readonly basePath: string
  /** True once the service is stopping: connections then close with their next answer. */
  readonly stopping: () => boolean
}
