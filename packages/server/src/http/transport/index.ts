/** The two transports together on one port: plain requests on the bare socket, all others through Node's HTTP. */
import type { AddressInfo } from 'node:net'
import { answerHeads } from '../answer-head.ts'
import type { NodeCounts } from '../bytes-in-flight.ts'
import type { HttpContext } from '../context.ts'
import type { Refusal } from '../problem/problem.ts'
import type { Router } from '../router.ts'
import { clientErrorHandler, refuseConnection } from './broken-request.ts'
import { limitConnections } from './connections.ts'
import { listening } from './listening.ts'
import type { ListenAt } from './listening.ts'
import { nodeExchanges } from './node-exchange.ts'
import { createLimitedServer } from './node-server.ts'
import { noPlainConnections, takePlainConnections } from './plain-connections.ts'
import { responsesUnderWay } from './responses-under-way.ts'
import { stalledReaders } from './stalled-readers.ts'

export interface Transport {
  /** Rejects with Node's own error if it cannot listen (`EADDRINUSE`, `EACCES`, …). */
  listen(options: ListenAt): Promise<AddressInfo | string | null>
  /** Accepts no new connections and answers open requests, within `closeTimeoutMs`. */
  close(): Promise<void>
}

const tooManyConnections: Refusal = {
  code: 'overloaded',
  detail:
    'The service has reached its limit of open connections, and closes this one. Nothing was read from it. Try again after the time in Retry-After.',
  headers: { 'retry-after': '5' },
}

export function createTransport(
  context: HttpContext,
  router: Router,
  { plainConnections, counts }: { readonly plainConnections: boolean; readonly counts: NodeCounts },
): Transport {
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
    listen: (options) => sockets.listen(options),
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
