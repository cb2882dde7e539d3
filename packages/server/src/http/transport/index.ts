/** The two ways requests come in, put together on one port: plain requests from the bare socket, all others by Node's HTTP. */
import type { AddressInfo } from 'node:net'
import { answerHeads } from '../answer-head.ts'
import type { HttpContext } from '../context.ts'
import type { Router } from '../router.ts'
import { clientErrorHandler } from './broken-request.ts'
import { nodeExchanges } from './node-exchange.ts'
import { createLimitedServer } from './node-server.ts'
import { noPlainConnections, takePlainConnections } from './plain-connections.ts'
import { responsesUnderWay } from './responses-under-way.ts'

export interface Transport {
  /** Rejects with Node's own error when that cannot be (`EADDRINUSE`, `EACCES`, `ENOTSUP`, …). */
  listen(options: TransportAddress): Promise<AddressInfo | string | null>
  /** Takes no new connections and answers what was asked, within `closeTimeoutMs`. */
  close(): Promise<void>
}

export interface TransportAddress {
  readonly host: string
  readonly port: number
  /** Other threads may listen there too. */
  readonly sharePort: boolean
}

export function createTransport(
  context: HttpContext,
  router: Router,
  { plainConnections }: { readonly plainConnections: boolean },
): Transport {
  const { limits } = context
  const heads = answerHeads(limits)
  const underWay = responsesUnderWay()
  const onClientError = clientErrorHandler(context, heads, underWay)
  const listener = nodeExchanges(context, router, heads, underWay)
  const server = createLimitedServer(limits, listener, onClientError, underWay)
  const plain = plainConnections
    ? takePlainConnections(context, router, heads, server, onClientError)
    : noPlainConnections

  const closeIdle = (): void => {
    plain.closeIdle()
    server.closeIdleConnections()
  }

  return {
    listen({ host, port, sharePort }) {
      return new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen({ host, port, reusePort: sharePort }, () => {
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
      // A request that began before the stop is answered with keep-alive: its connection would wait for another 5 s.
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
