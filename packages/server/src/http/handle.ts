/**
 * One request to one answer, whatever its transport, in one straight line: guard, route, access, accept, the number that the answer must
 * include, the operation, and settling. The transport then sends the answer and has it reported (report.ts).
 */
import { mapMaybePromise } from '../runtime/map-maybe-promise.ts'
import type { HttpContext } from './context.ts'
import { reportedRefusal } from './problem/errors.ts'
import { refused, releaseAnswer } from './exchange.ts'
import { openAccess } from './access.ts'
import type { Outcome, Request } from './exchange.ts'
import type { Exchange, Routed } from './routed.ts'
import type { Access } from './access.ts'
import { refusalOfAnswer } from './response-budget.ts'
import { problemAnswer } from './problem/problem-answer.ts'
import { acceptsMediaType } from './requests/accept.ts'
import { pathOnly } from './requests/echo-text.ts'
import { withoutOrigin } from './requests/target.ts'
import type { Refusal } from './problem/problem.ts'
import type { ServiceLimits } from './limits.ts'

type Handling = Outcome | Promise<Outcome>

/** Answers a request. Synchronous if nothing has to be waited for, as for most polls and pages. Never fails. */
export function handle(context: HttpContext, request: Request, routed: Routed): Exchange | Promise<Exchange> {
  const exchange: Exchange = {
    request,
    routed,
    answer: noAnswer,
    keyId: undefined,
    tenantId: undefined,
    access: undefined,
    spending: undefined,
    problem: undefined,
    flight: undefined,
    streamedBytes: 0,
    closes: false,
  }
  try {
    const outcome = admit(context, exchange)
    if (!(outcome instanceof Promise)) return settle(context, exchange, outcome)
    const handling = outcome.then(
      (given) => settleLate(context, exchange, given),
      (error: unknown) => settle(context, exchange, failed(context, request, error)),
    )
    if (request.method === 'GET' && !routed.waits) context.reads.add(handling)
    return handling
  } catch (error) {
    return settle(context, exchange, failed(context, request, error))
  }
}

const noAnswer = { kind: 'none' } as const

function admit(context: HttpContext, exchange: Exchange): Handling {
  const { request, routed } = exchange
  const refusal = guardRequest(request, context.limits)
  if (refusal !== undefined) return refused(refusal)
  if (routed.access === undefined) return accept(context, exchange, openAccess)
  return mapMaybePromise(context.access.require(exchange, routed.access), (access) => {
    if (access.kind === 'refused') return access
    exchange.access = access
    const outcome = accept(context, exchange, access)
    // A request that is answered at once never runs beside another.
    if (outcome instanceof Promise) context.keyLimits.enter(exchange)
    return outcome
  })
}

function accept(context: HttpContext, { request, routed }: Exchange, access: Access): Handling {
  const { mediaType } = routed
  if (mediaType === undefined) return routed.call(request, access)
  // The contract's operations have one media type, and their clients name others by habit (D9).
  const isContract = routed.access?.refusal === 'spec'
  if (!isContract && !acceptsMediaType(request.header('accept'), mediaType)) {
    const detail = `The Accept header refuses ${mediaType}, the only media type of this answer. Add it or */* to the header, or leave the header out.`
    return refused({ code: 'not_acceptable', detail })
  }
  return mapMaybePromise(context.refusalBefore(request, routed.access, access), (refusal) =>
    refusal === undefined ? routed.call(request, access) : refused(refusal),
  )
}

/** An answer that took more than a moment is given only if its key may still have it. What a request has changed is answered in any case. */
function settleLate(context: HttpContext, exchange: Exchange, made: Outcome): Exchange | Promise<Exchange> {
  const { request, routed, access } = exchange
  // Requests that wait are watched meanwhile, and ask for themselves.
  const isAsked = made.kind !== 'refused' && !routed.waits
  const isRead = isAsked && (request.method === 'GET' || request.method === 'HEAD')
  const asking = isRead ? context.access.refusalIfLate(request, access) : undefined
  if (asking === undefined) return settle(context, exchange, made)
  return asking
    .then(
      (refusal) => (refusal === undefined ? made : instead(made, refusal)),
      (error: unknown) => instead(made, reportedRefusal(context, request, error)),
    )
    .then((outcome) => settle(context, exchange, outcome))
}

/** A refusal in place of an answer that is not sent. */
function instead(outcome: Outcome, refusal: Refusal): Outcome {
  releaseAnswer(outcome)
  return refused(refusal)
}

/** The answer is complete except for its head. */
function settle(context: HttpContext, exchange: Exchange, made: Outcome): Exchange {
  const { request } = exchange
  const outcome = withRoom(context, exchange, made)
  if (outcome.kind === 'refused') {
    exchange.problem = outcome.refusal.code
    exchange.closes = outcome.refusal.closes === true
    const instance = pathOnly(withoutOrigin(request.target))
    const place = { instance, requestId: request.id, basePath: context.basePath }
    exchange.answer = problemAnswer(outcome.refusal, place)
  } else {
    exchange.answer =
      outcome.kind === 'stream' ? context.access.watched(request, exchange.access, outcome) : outcome
    context.recorder.sending(exchange)
  }
  context.keyLimits.settle(exchange)
  return exchange
}

/** The outcome, or a refusal if the node has no room for such an answer. */
function withRoom(context: HttpContext, exchange: Exchange, outcome: Outcome): Outcome {
  const refusal = refusalOfAnswer(context, exchange, outcome)
  return refusal === undefined ? outcome : instead(outcome, refusal)
}

function failed(context: HttpContext, request: Request, error: unknown): Outcome {
  return refused(reportedRefusal(context, request, error))
}

/** Host name or address with an optional port (RFC 9110 §7.2). An empty one is allowed for a target without authority. */
const hostPattern = /^(?:[A-Za-z0-9._~%!$&'()*+,;=-]*|\[[0-9A-Fa-f:.%]+\])(?::\d{0,5})?$/

/** Why a request gets no further, or `undefined`. The router checks the request line. */
function guardRequest(
  request: Request,
  { maxHeaders }: Pick<ServiceLimits, 'maxHeaders'>,
): Refusal | undefined {
  const { version, headerCount, hosts } = request.head
  if (version !== '1.1' && version !== '1.0') return { code: 'unsupported_http_version', closes: true }
  if (headerCount > maxHeaders) return { code: 'headers_too_large' }
  const host = hosts[0] ?? (version === '1.0' ? '' : undefined)
  if (host === undefined || hosts.length > 1) {
    const detail = `A request must have exactly one Host header; this one has ${hosts.length}.`
    // Two hosts are a sign of request smuggling: nothing more is read from such a connection.
    return { code: 'invalid_host', detail, closes: true }
  }
  if (!hostPattern.test(host)) return { code: 'invalid_host', closes: true }
  const expect = request.header('expect')
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') return { code: 'expectation_failed' }
  return undefined
}
