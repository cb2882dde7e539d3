import { feeds } from '@property-events/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HttpContext } from './context.ts'
import { pathOnly } from './echo-text.ts'
import { factsOf } from './request-facts.ts'
import type { RequestFacts } from './request-facts.ts'
import { withoutOrigin } from './target.ts'

export interface DoneExchange {
  readonly requestId: string
  readonly method: string
  /** As it stood on the request line. */
  readonly target: string
  /** The route's pattern, or `none`. */
  readonly route: string
  readonly status: number
  /** On the clock of `performance.now()`. */
  readonly startedMs: number
  /** The client went away before it had the answer. */
  readonly aborted: boolean
  readonly facts: Omit<RequestFacts, 'startedMs'>
}

export function reportRequest(context: HttpContext, request: FastifyRequest, reply: FastifyReply): void {
  const { startedMs, ...facts } = factsOf(request)
  reportDone(context, {
    requestId: request.id,
    method: request.method,
    target: request.originalUrl,
    route: request.is404 ? 'none' : (request.routeOptions.url ?? 'none'),
    status: reply.statusCode,
    startedMs,
    aborted: !reply.raw.writableFinished,
    facts,
  })
}

/**
 * The one log line and the metrics of a request. Neither holds a query, a body or a header: keys and personal data turn
 * up there. The key's id and the tenant are in the log, never in a metric.
 */
export function reportDone(context: Pick<HttpContext, 'metrics' | 'log'>, done: DoneExchange): void {
  const { requestId, method, target, route, status, startedMs, aborted, facts } = done
  const durationMs = performance.now() - startedMs
  context.metrics.requestDone({ route, method, status, seconds: durationMs / 1_000 })
  if (!context.log.isLevelEnabled('info')) return
  const { problem, keyId, tenantId } = facts
  const line = {
    requestId,
    method,
    path: loggedPath(target, route),
    route,
    status,
    durationMs: Math.round(durationMs * 10) / 10,
    ...(problem === undefined ? {} : { problem }),
    ...(keyId === undefined ? {} : { keyId }),
    ...(tenantId === undefined ? {} : { tenantId }),
    ...(aborted ? { aborted } : {}),
  }
  context.log.info(line, 'request')
}

/**
 * A path as the log may have it: without what stands in front of it, where passwords do, and without the reference of a
 * contact, in whose place strangers may write a name (D18). `route`: its pattern, or `none`.
 */
export function loggedPath(target: string, route: string): string {
  if (route.startsWith(`${feeds.contact.subjectsPath}/`)) return route
  const path = pathOnly(withoutOrigin(target))
  return route === 'none' ? path.replace(/(\/contacts?\/).+/i, '$1hidden') : path
}
