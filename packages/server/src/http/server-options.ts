/** How Node's HTTP server is set up. Whatever it or Fastify leaves unlimited is limited here. */
import type { FastifyHttpOptions } from 'fastify'
import type { Server } from 'node:http'
import { requestIdOf } from './request-facts.ts'
import { routedTarget } from './target.ts'
import type { ServiceLimits } from './limits.ts'

export function serverOptions(limits: ServiceLimits, basePath: string) {
  return {
    logger: false,
    genReqId: requestIdOf,
    requestIdHeader: false,
    rewriteUrl: (request) => routedTarget(request.url ?? '', basePath),
    bodyLimit: limits.maxBodyBytes,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionTimeout: limits.idleSocketTimeoutMs,
    maxRequestsPerSocket: limits.maxRequestsPerSocket,
    forceCloseConnections: 'idle',
    // Requests that are already on a connection are answered while the service stops; new connections are not taken.
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: {
      // The request target is limited as a whole.
      maxParamLength: limits.maxTargetLength,
      // Read by ourselves, from the text: see query.ts.
      querystringParser: () => ({}),
    },
    http: {
      // Answered by ourselves, with a problem for a body.
      requireHostHeader: false,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.timeoutCheckMs,
      maxHeaderSize: limits.maxHeaderBytes,
      noDelay: true,
    },
  } as const satisfies FastifyHttpOptions<Server>
}

/** What can only be set on the server itself. */
export function tuneServer(server: Server, limits: ServiceLimits): void {
  // Node drops headers beyond its limit in silence: it must let one more through than the guard accepts.
  server.maxHeadersCount = limits.maxHeaders + 1
  // By default Node answers these before anybody has looked at the key.
  for (const event of ['checkContinue', 'checkExpectation']) {
    server.on(event, (request, response) => server.emit('request', request, response))
  }
}
