/** How Node's HTTP server is set up. Whatever it leaves unlimited is limited here. */
import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import { createServer } from '../../node-http.ts'
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
  /** A request has come as a whole, and nothing of its answer has left. */
  const waitsForAnswer = (socket: Socket): boolean => {
    const response = underWay.of(socket)
    return response !== undefined && response.req.complete && !response.headersSent
  }
  server.setTimeout(limits.idleSocketTimeoutMs, (socket) => {
    // A client that waits for the store waits as long as that takes, which has limits of its own: a commit may take 30 s, and a
    // client that is not told of it sends it again.
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
  server.on('clientError', onClientError)
  return server
}
