/** Refusals of a service, one class per code of PROTOCOL §7. Other servers send no code: the status chooses the class. */
import { decodeProblem } from './decode.ts'
import { PropertyEventsError } from './errors.ts'
import type { ProblemFault } from './wire.ts'

interface Refusal {
  readonly code: string
  readonly status: number
  readonly message: string
  readonly detail: string | undefined
  readonly requestId: string | undefined
  readonly faults: readonly ProblemFault[]
  /** Milliseconds the service asks to wait. */
  readonly retryAfterMs: number | undefined
}

/** An answer with a status other than the wished-for one. */
export class ServiceError extends PropertyEventsError {
  readonly status: number
  /** The service's own sentence; `undefined` when it gave none. `message` begins with the request, and ends with the faults. */
  readonly detail: string | undefined
  /** For a 400: each parameter or place in the body, and what is allowed. */
  readonly faults: readonly ProblemFault[]
  readonly retryAfterMs: number | undefined
  constructor(refusal: Refusal) {
    super(refusal.code, refusal.message, { requestId: refusal.requestId })
    this.status = refusal.status
    this.detail = refusal.detail
    this.faults = refusal.faults
    this.retryAfterMs = refusal.retryAfterMs
  }
}

export class InvalidParameterError extends ServiceError {}
export class InvalidTargetError extends ServiceError {}
export class InvalidHostError extends ServiceError {}
export class MalformedRequestError extends ServiceError {}
export class InvalidBodyError extends ServiceError {}
export class UnauthorizedError extends ServiceError {}
export class KeyExpiredError extends UnauthorizedError {}
export class KeyRevokedError extends UnauthorizedError {}
export class KeyDisabledError extends UnauthorizedError {}
export class KeyScopeError extends UnauthorizedError {}
export class ForbiddenError extends ServiceError {}
export class MissingScopeError extends ForbiddenError {}
export class AmbiguousTenantError extends ForbiddenError {}
export class NotFoundError extends ServiceError {}
export class EventNotFoundError extends NotFoundError {}
export class SubjectNotFoundError extends NotFoundError {}
export class PathNotFoundError extends NotFoundError {}
export class MethodNotAllowedError extends ServiceError {}
export class NotAcceptableError extends ServiceError {}
export class RequestTimeoutError extends ServiceError {}
export class IdConflictError extends ServiceError {}
export class UnknownSubjectError extends ServiceError {}
/** The cursor lies beyond the feed's last event: the feed was restored, or the cursor is another feed's. */
export class CursorBeyondHeadError extends ServiceError {}
/** The cursor is of an earlier epoch: start again from a snapshot. */
export class EpochChangedError extends ServiceError {}
export class BodyTooLargeError extends ServiceError {}
export class TargetTooLongError extends ServiceError {}
export class UnsupportedMediaTypeError extends ServiceError {}
export class UnsupportedCharsetError extends UnsupportedMediaTypeError {}
export class UnsupportedContentEncodingError extends UnsupportedMediaTypeError {}
export class ExpectationFailedError extends ServiceError {}
export class RateLimitedError extends ServiceError {}
export class TooManyFailuresError extends RateLimitedError {}
export class HeadersTooLargeError extends ServiceError {}
export class InternalError extends ServiceError {}
/** The store does not hold what was written to it. The operator has to restore it. */
export class StorageDamagedError extends ServiceError {}
export class UnavailableError extends ServiceError {}
export class StorageFullError extends UnavailableError {}
export class StorageUnavailableError extends UnavailableError {}
export class ClockBehindError extends UnavailableError {}
export class OverloadedError extends UnavailableError {}
export class EpochRequiredError extends UnavailableError {}
/** The tenant is moving to another store: the same request is answered there in a moment, at the same address. */
export class TenantMovingError extends UnavailableError {}
export class SequenceNotReachedError extends UnavailableError {}
export class UnsupportedHttpVersionError extends ServiceError {}
/** The address leads elsewhere. Not followed: the key would go along. `status` is 0 in browsers, which do not tell it. */
export class RedirectedError extends ServiceError {}

type ServiceErrorClass = new (refusal: Refusal) => ServiceError

const classOfCode: Readonly<Record<string, ServiceErrorClass>> = {
  invalid_parameter: InvalidParameterError,
  invalid_target: InvalidTargetError,
  invalid_host: InvalidHostError,
  malformed_request: MalformedRequestError,
  invalid_body: InvalidBodyError,
  unauthorized: UnauthorizedError,
  key_expired: KeyExpiredError,
  key_revoked: KeyRevokedError,
  key_disabled: KeyDisabledError,
  key_scope: KeyScopeError,
  missing_scope: MissingScopeError,
  ambiguous_tenant: AmbiguousTenantError,
  event_not_found: EventNotFoundError,
  subject_not_found: SubjectNotFoundError,
  path_not_found: PathNotFoundError,
  method_not_allowed: MethodNotAllowedError,
  not_acceptable: NotAcceptableError,
  request_timeout: RequestTimeoutError,
  id_conflict: IdConflictError,
  unknown_subject: UnknownSubjectError,
  cursor_beyond_head: CursorBeyondHeadError,
  epoch_changed: EpochChangedError,
  body_too_large: BodyTooLargeError,
  target_too_long: TargetTooLongError,
  unsupported_media_type: UnsupportedMediaTypeError,
  unsupported_charset: UnsupportedCharsetError,
  unsupported_content_encoding: UnsupportedContentEncodingError,
  expectation_failed: ExpectationFailedError,
  rate_limited: RateLimitedError,
  too_many_failures: TooManyFailuresError,
  headers_too_large: HeadersTooLargeError,
  internal_error: InternalError,
  storage_damaged: StorageDamagedError,
  storage_full: StorageFullError,
  storage_unavailable: StorageUnavailableError,
  clock_behind: ClockBehindError,
  overloaded: OverloadedError,
  epoch_required: EpochRequiredError,
  tenant_moving: TenantMovingError,
  sequence_not_reached: SequenceNotReachedError,
  unsupported_http_version: UnsupportedHttpVersionError,
}

/** Codes with a class of their own, for the test that compares them with the service's. */
export const serviceErrorCodes: readonly string[] = Object.keys(classOfCode)

const codeOfStatus: Readonly<Record<number, readonly [string, ServiceErrorClass]>> = {
  400: ['bad_request', InvalidParameterError],
  401: ['unauthorized', UnauthorizedError],
  403: ['forbidden', ForbiddenError],
  404: ['not_found', NotFoundError],
  405: ['method_not_allowed', MethodNotAllowedError],
  406: ['not_acceptable', NotAcceptableError],
  408: ['request_timeout', RequestTimeoutError],
  409: ['conflict', ServiceError],
  413: ['body_too_large', BodyTooLargeError],
  414: ['target_too_long', TargetTooLongError],
  415: ['unsupported_media_type', UnsupportedMediaTypeError],
  429: ['rate_limited', RateLimitedError],
  431: ['headers_too_large', HeadersTooLargeError],
  500: ['internal_error', InternalError],
  502: ['bad_gateway', UnavailableError],
  503: ['unavailable', UnavailableError],
  504: ['gateway_timeout', UnavailableError],
}

export interface RefusedAnswer {
  readonly status: number
  readonly headers: Headers
  /** At most the first part of the body. */
  readonly body: string
  /** What the message calls the request: method and path, without the query. */
  readonly request: string
  readonly nowMs: number
  /** A fault in the caller's terms. */
  readonly placeFault: ((fault: ProblemFault) => ProblemFault) | undefined
}

/** The error for an answer that refuses: by its problem code, else by its status. */
export function serviceErrorOf(answer: RefusedAnswer): ServiceError {
  const problem = decodeProblem(answer.body)
  const [statusCode, statusClass] = codeOfStatus[answer.status] ?? [`http_${answer.status}`, ServiceError]
  const code = problem.code ?? statusCode
  const { placeFault = (fault) => fault } = answer
  const faults = problem.faults.map((fault) => placeFault(fault))
  const { detail } = problem
  const sentence = detail ?? `The service answered with status ${answer.status}.`
  const Class = Object.hasOwn(classOfCode, code) ? (classOfCode[code] ?? statusClass) : statusClass
  return new Class({
    code,
    status: answer.status,
    message: `${answer.request}: ${[sentence, ...faults.map(faultText)].join(' ')}`,
    detail,
    requestId: problem.requestId ?? answer.headers.get('x-request-id') ?? undefined,
    faults,
    retryAfterMs: retryAfterMs(answer.headers.get('retry-after'), answer.nowMs),
  })
}

function faultText({ parameter, pointer, message }: ProblemFault): string {
  const place = parameter ?? pointer ?? ''
  return place === '' ? message : `${place}: ${message}`
}

/** RFC 9110 §10.2.3: seconds, or a date. */
export function retryAfterMs(value: string | null, nowMs: number): number | undefined {
  if (value === null || value.trim() === '') return undefined
  if (/^\s*\d{1,9}\s*$/.test(value)) return Number(value) * 1_000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}
