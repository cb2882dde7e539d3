/** A request on its way: where its line leads, and what became known about it until it was answered. */
import type { Access } from './access.ts'
import type { Flight } from './bytes-in-flight.ts'
import type { Answer, Headers, Request } from './exchange.ts'
import type { Call, Operation } from './operation.ts'
import type { ProblemCode } from './problem/problem.ts'
import type { Spending } from './rate-limit/rate-limit-headers.ts'

/** What a request line asks for. It contains nothing else of the request, so a connection may reuse it for its next request. */
export interface Routed {
  /** The operation's path, for the log and the metrics; `none` if there is no operation, and `call` says why. */
  readonly route: string
  /** The operation's id in the service's description; also `none` if there is no operation. */
  readonly operationId: string
  readonly access: Operation['access']
  /** `undefined` if there is no operation. */
  readonly mediaType: string | undefined
  readonly transport: Operation['transport']
  /** The request waits for events, and what it reads is noted as it is read. */
  readonly waits: boolean
  /** Headers of every answer of the operation. */
  readonly headers: Headers
  /** The tenant in the query, as sent (`takeTenant`); empty if there is none, or none is read there. */
  readonly tenants: readonly string[]
  readonly call: Call
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
