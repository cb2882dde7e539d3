/** The two transports together on one port: plain requests on the bare socket, all others through Node's HTTP. */
import type { AddressInfo } from 'node:net'
import { answerHeads } from '../answer-head.ts'
import type { NodeCounts } from '../bytes-in-flight.ts'
import type { HttpContext } from '../context.ts'
import type { Refusal } from '../problem.ts'
import type { Router } from '../router.ts'
import { clientErrorHandler, refuseConnection } from './broken-request.ts'
import { limitConnections } from './connections.ts'
import { nodeExchanges } from './node-exchange.ts'
import { createLimitedServer } from './node-server.ts'
import { noPlainConnections, takePlainConnections } from './plain-connections.ts'
import { responsesUnderWay } from './responses-under-way.ts'

export interface Transport {
  /** Rejects with Node's own error if it cannot listen (`EADDRINUSE`, `EACCES`, `ENOTSUP`, …). */
  listen(options: TransportAddress): Promise<AddressInfo | string | null>
  /** Accepts no new connections and answers open requests, within `closeTimeoutMs`. */
  close(): Promise<void>
}

export interface TransportAddress {
  readonly host: string
  readonly port: number
  /** Other threads may listen on the same port. */
  readonly sharePort: boolean
}

/**
 * How many new connections the system keeps until they are taken; Linux allows 4,096 by default. With Node's 511, strangers who connected by the
 * thousand had it drop those of others, whose next try comes after 1, 3, 7 and 15 s.
 */
const waitingConnections = 4_096

const tooManyConnections: Refusal = {
  code: 'overloaded',
  detail:
    'The service has as many connections open as it may, and closes this one. Nothing was read of it. Try again, after the time in Retry-After.',
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
  const listener = nodeExchanges(context, router, heads, underWay)
  const server = createLimitedServer(limits, listener, onClientError, underWay)
  const plain = plainConnections
    ? takePlainConnections(context, router, heads, server, onClientError)
    : noPlainConnections
  limitConnections(server, {
    context,
    counts,
    refuse: (socket) => refuseConnection(context, heads, socket, tooManyConnections),
  })

  const closeIdle = (): void => {
    plain.closeIdle()
    server.closeIdleConnections()
  }

  return {
    listen({ host, port, sharePort }) {
      return new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen({ host, port, reusePort: sharePort, backlog: waitingConnections }, () => {
          server.off('error', reject)
          resolve(server.address())
        })
      })
    },
    async close() {
      if (!server.listening) return
      const timer = setTimeout(() => {
        plain.closeAll()
        server.closeAllConnections()
      }, limits.closeTimeoutMs)
      // A request that began before the stop is answered with keep-alive, so its connection would wait for another 5 s.
      const idleTimer = setInterval(closeIdle, 100)
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        closeIdle()
      })
      clearInterval(idleTimer)
      clearTimeout(timer)
    },
  }
}
