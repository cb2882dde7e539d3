/** The two transports together on one port: plain requests on the bare socket, all others through Node's HTTP. */
import type { Socket } from 'node:net'
import { answerHeads } from '../answer-head.ts'
import type { NodeCounts } from '../bytes-in-flight.ts'
import type { HttpContext } from '../context.ts'
import type { Refusal } from '../problem/problem.ts'
import type { Router } from '../router.ts'
import { clientErrorHandler, refuseConnection } from './broken-request.ts'
import { limitConnections } from './connections.ts'
import { listening } from './listening.ts'
import type { Listening } from './listening.ts'
import { nodeExchanges } from './node-exchange.ts'
import { noPlainConnections, takePlainConnections } from './plain-connections.ts'
import { responsesUnderWay } from './responses-under-way.ts'
import { stalledReaders } from './stalled-readers.ts'
import type { RequestListener, Server } from 'node:http'
import { createServer } from '../../runtime/node-http.ts'
import type { ServiceLimits } from '../limits.ts'
import type { OnClientError } from './broken-request.ts'
import type { ResponsesUnderWay } from './responses-under-way.ts'

const tooManyConnections: Refusal = {
  code: 'overloaded',
  detail:
    'The service has reached its limit of open connections, and closes this one. Nothing was read from it. Try again after the time in Retry-After.',
  headers: { 'retry-after': '5' },
}

/** Its `close` answers open requests, within `closeTimeoutMs`. */
export function createTransport(
  context: HttpContext,
  router: Router,
  { plainConnections, counts }: { readonly plainConnections: boolean; readonly counts: NodeCounts },
): Listening {
  const { limits } = context
  const heads = answerHeads(limits, context.crossOrigin)
  const underWay = responsesUnderWay()
  const onClientError = clientErrorHandler(context, heads, underWay)
  const watchReader = stalledReaders(limits.idleSocketTimeoutMs)
  const listener = nodeExchanges({ context, router, heads, underWay, watchReader })
  const server = createLimitedServer(limits, listener, onClientError, underWay)
  const plain = plainConnections
    ? takePlainConnections({ context, router, heads, server, onBroken: onClientError, watchReader })
    : noPlainConnections
  limitConnections(server, {
    context,
    counts,
    refuse: (socket) => refuseConnection(context, heads, socket, tooManyConnections),
  })

  const sockets = listening(server)
  const closeIdle = (): void => {
    plain.closeIdle()
    server.closeIdleConnections()
  }

  return {
    listen: sockets.listen,
    async close() {
      if (!server.listening) return
      const timer = setTimeout(() => {
        plain.closeAll()
        server.closeAllConnections()
      }, limits.closeTimeoutMs)
      // A request that began before the stop is answered with keep-alive, so its connection would wait for another 5 s.
      const idleTimer = setInterval(closeIdle, 100)
      const ended = sockets.close()
      closeIdle()
      await ended
      clearInterval(idleTimer)
      clearTimeout(timer)
    },
  }
}

/** Whatever Node leaves unlimited is limited here. */
function createLimitedServer(
  limits: ServiceLimits,
  listener: RequestListener,
  onClientError: OnClientError,
  underWay: ResponsesUnderWay,
): Server {
  const server = createServer(
    {
      // We answer this ourselves, with a problem as the body.
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
  /** A whole request has arrived, and its answer has not left as a whole. */
  const isAnswered = (socket: Socket): boolean => underWay.of(socket)?.req.complete === true
  server.setTimeout(limits.idleSocketTimeoutMs, (socket) => {
    // A client that waits for the store waits as long as that takes, which has limits of its own: a commit may take 30 s, and a client
    // that does not learn of it sends it again. Whether a client takes what waits for it is watched elsewhere (stalled-readers.ts).
    if (isAnswered(socket)) socket.setTimeout(limits.idleSocketTimeoutMs)
    else socket.destroy()
  })
  server.maxRequestsPerSocket = limits.maxRequestsPerSocket
  // Node silently drops headers beyond its limit, so that limit must be one higher than the guard's.
  server.maxHeadersCount = limits.maxHeaders + 1
  // By default Node answers these before the key has been checked.
  for (const event of ['checkContinue', 'checkExpectation']) {
    server.on(event, (request, response) => server.emit('request', request, response))
  }
  server.on('clientError', onClientError)
  // A client may close its side once its request is sent (RFC 9112 §9.6). Node's types do not name this, and its default is to answer nothing.
  Object.assign(server, { httpAllowHalfOpen: true })
  return server
}
