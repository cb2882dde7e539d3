/** Refusals of a service: one class for each way to respond, and a code for the reason. */
import { familyOf, refusalCode } from './codes.ts'
import type { CodeOf, ServiceErrorCode, ServiceFamily } from './codes.ts'
import { decodeProblem } from './decode.ts'
import { PropertyEventsError } from './errors.ts'
import type { ProblemError } from './wire.ts'

interface Refusal {
  readonly code: ServiceErrorCode
  /** The code as the service wrote it. */
  readonly serviceCode: string | undefined
  readonly status: number
  readonly message: string
  readonly detail: string | undefined
  readonly requestId: string | undefined
  readonly faults: readonly ProblemError[]
  /** Milliseconds that the service asks the client to wait. */
  readonly retryAfterMs: number | undefined
}

/** An answer with an unexpected status: always of one of the classes below. */
export class ServiceError extends PropertyEventsError {
  declare readonly code: ServiceErrorCode
  /** The code as the service wrote it, which may be newer than this package; `undefined` when it gave none, as proxies do. */
  readonly serviceCode: string | undefined
  /** 0 for a redirect in a browser, which hides the status. */
  readonly status: number
  /** The service's own sentence; `undefined` when it gave none. `message` begins with the request, and ends with the faults. */
  readonly detail: string | undefined
  /** For a 400: each parameter or pointer into the body, and what is allowed. */
  readonly faults: readonly ProblemError[]
  /** How long the service asks to wait. */
  readonly retryAfterMs: number | undefined
  constructor(refusal: Refusal) {
    super(refusal.code, refusal.message, { requestId: refusal.requestId })
    this.serviceCode = refusal.serviceCode
    this.status = refusal.status
    this.detail = refusal.detail
    this.faults = refusal.faults
    this.retryAfterMs = refusal.retryAfterMs
  }
}

/**
 * The request has to change: its parameters, its body or its address. `redirected`: the address leads elsewhere. The
 * client does not follow, because the key would go with the request.
 */
export class InvalidRequestError extends ServiceError {
  declare readonly code: CodeOf<'request'>
}

/** The key is wrong, has expired, or does not allow this. */
export class AccessError extends ServiceError {
  declare readonly code: CodeOf<'access'>
}

/** No such event, subject or path. */
export class NotFoundError extends ServiceError {
  declare readonly code: CodeOf<'notFound'>
}

/**
 * The request conflicts with the service's data: an id with other content, a removal of an unknown subject, a cursor
 * that is no longer valid.
 */
export class ConflictError extends ServiceError {
  declare readonly code: CodeOf<'conflict'>
}

/**
 * The service cannot answer now: too many requests, a fault of its own or, with `again: 'operator'`, a state that an
 * operator has to end.
 */
export class UnavailableError extends ServiceError {
  declare readonly code: CodeOf<'unavailable'>
}

const classOfFamily: { readonly [F in ServiceFamily]: new (refusal: Refusal) => ServiceError } = {
  request: InvalidRequestError,
  access: AccessError,
  notFound: NotFoundError,
  conflict: ConflictError,
  unavailable: UnavailableError,
}

interface RefusedAnswer {
  readonly status: number
  readonly headers: Headers
  /** At most the first part of the body. */
  readonly body: string
  /** The request's name in the message: method and path, without the query. */
  readonly request: string
  readonly nowMs: number
  /** A fault in the caller's terms. */
  readonly mapFault: ((fault: ProblemError) => ProblemError) | undefined
}

/** The error for a refusal: by its problem code, else by its status. */
export function serviceErrorOf(answer: RefusedAnswer): ServiceError {
  const problem = decodeProblem(answer.body)
  const code = refusalCode(answer.status, problem.code)
  const { mapFault = (fault) => fault } = answer
  const faults = problem.faults.map((fault) => mapFault(fault))
  const sentence = problem.detail ?? `The service answered with status ${answer.status}.`
  return new classOfFamily[familyOf(code)]({
    code,
    serviceCode: problem.code,
    status: answer.status,
    message: `${answer.request}: ${[sentence, ...faults.map(faultText)].join(' ')}`,
    detail: problem.detail,
    requestId: problem.requestId ?? answer.headers.get('x-request-id') ?? undefined,
    faults,
    retryAfterMs: retryAfterMs(answer.headers.get('retry-after'), answer.nowMs),
  })
}

function faultText({ parameter, pointer, message }: ProblemError): string {
  const where = parameter ?? pointer ?? ''
  return where === '' ? message : `${where}: ${message}`
}

/** RFC 9110 §10.2.3: seconds, or a date. */
function retryAfterMs(value: string | null, nowMs: number): number | undefined {
  if (value === null || value.trim() === '') return undefined
  if (/^\s*\d{1,9}\s*$/.test(value)) return Number(value) * 1_000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}
