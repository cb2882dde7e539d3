/** How Node's HTTP server is set up. Whatever it or Fastify leaves unlimited is limited here. */
import type { FastifyHttpOptions } from 'fastify'
import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import { createServer } from '../node-http.ts'
import { requestIdOf } from './request-facts.ts'
import { responseUnderWay } from './response-under-way.ts'
import { routedTarget } from './target.ts'
import type { ServiceLimits } from './limits.ts'

export function routerOptions(limits: ServiceLimits, basePath: string) {
  return {
    logger: false,
    genReqId: requestIdOf,
    requestIdHeader: false,
    rewriteUrl: (request) => routedTarget(request.url ?? '', basePath),
    bodyLimit: limits.maxBodyBytes,
    forceCloseConnections: 'idle',
    // Requests that are already on a connection are answered while the service stops; new connections are not taken.
    return503OnClosing: false,
    exposeHeadRoutes: false,
    // Routes have no schemas: Fastify's validation would coerce, round and drop (see query.ts), and its serialiser would
    // rebuild bodies that are ready bytes. Saying so keeps it from loading its compilers, 100 modules.
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    routerOptions: {
      // The request target is limited as a whole.
      maxParamLength: limits.maxTargetLength,
      // Read by ourselves, from the text: see query.ts.
      querystringParser: () => ({}),
    },
  } as const satisfies FastifyHttpOptions<Server>
}

function noCompiler(): never {
  throw new Error('a route has a schema')
}

export function createLimitedServer(limits: ServiceLimits, listener: RequestListener): Server {
  const server = createServer(
    {
      // Answered by ourselves, with a problem for a body.
      requireHostHeader: false,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: limits.timeoutCheckMs,
      maxHeaderSize: limits.maxHeaderBytes,
      noDelay: true,
    },
    listener,
  )
  server.setTimeout(limits.idleSocketTimeoutMs, (socket) => {
    // Whoever waits for the store waits as long as that takes, which has limits of its own: a commit may take 30 s, and who is
    // not told of it sends it again.
    if (waitsForAnswer(socket)) socket.setTimeout(limits.idleSocketTimeoutMs)
    else socket.destroy()
  })
  server.maxRequestsPerSocket = limits.maxRequestsPerSocket
  // Node drops headers beyond its limit in silence: it must let one more through than the guard accepts.
  server.maxHeadersCount = limits.maxHeaders + 1
  // By default Node answers these before anybody has looked at the key.
  for (const event of ['checkContinue', 'checkExpectation']) {
    server.on(event, (request, response) => server.emit('request', request, response))
  }
  return server
}

/** A request has come as a whole, and nothing of its answer has left. */
function waitsForAnswer(socket: Socket): boolean {
  const response = responseUnderWay(socket)
  return response !== undefined && response.req.complete && !response.headersSent
}
