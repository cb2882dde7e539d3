import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HttpContext } from './context.ts'
import { pathOnly } from './echo-text.ts'
import { factsOf } from './request-facts.ts'

/**
 * The one log line and the metrics of a request. Neither holds a query, a body or a header: keys and personal data turn
 * up there. The key's id and the tenant are in the log, never in a metric.
 */
export function reportRequest(context: HttpContext, request: FastifyRequest, reply: FastifyReply): void {
  const { startedMs, problem, keyId, tenantId } = factsOf(request)
  const durationMs = performance.now() - startedMs
  const route = request.is404 ? 'none' : (request.routeOptions.url ?? 'none')
  const { method } = request
  const status = reply.statusCode
  context.metrics.requestDone({ route, method, status, seconds: durationMs / 1_000 })
  if (!context.log.isLevelEnabled('info')) return
  const aborted = !reply.raw.writableFinished
  const line = {
    requestId: request.id,
    method,
    path: pathOnly(request.originalUrl),
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
