/** Sets up Node's HTTP server. Whatever Node leaves unlimited is limited here. */
import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import { createServer } from '../../runtime/node-http.ts'
import type { ServiceLimits } from '../limits.ts'
import type { OnClientError } from './broken-request.ts'
import type { ResponsesUnderWay } from './responses-under-way.ts'

export function createLimitedServer(
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
