/**
 * In front of Node's HTTP: connections with only plain requests are answered on the bare socket, without a parser, a request object and a
 * response object, which are a third of a poll (measured manually: an empty 304 takes 12 µs, and 8 on the socket). The first request that
 * is not plain moves its connection to Node's HTTP, before anything was done with it: Node's HTTP gets every unanswered byte, and keeps
 * the connection. So everything that could be misread (pipelining, broken, slow or divided requests, chunks, upgrades) belongs to Node
 * from its first byte. A body is accepted only if exactly as many bytes follow the head as it announces.
 *
 * A client that closes its side once its request is sent gets its answer on both, unless the request waits for events. In the log such a
 * publication is `aborted` either way.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { AnswerHeads } from '../answer-head.ts'
import type { HttpContext } from '../context.ts'
import { handle } from '../handle.ts'
import type { Router } from '../router.ts'
import type { OnClientError } from './broken-request.ts'
import { PlainConnection } from './plain-connection.ts'
import type { PlainConnectionParts } from './plain-connection.ts'
import { plainHeads } from './plain-head.ts'
import { sendTogether } from './send-together.ts'
import type { WatchReader } from './stalled-readers.ts'

interface PlainConnections {
  /** Ends the connections on which nothing is being answered. */
  closeIdle(): void
  closeAll(): void
}

/** For a service in which Node's HTTP has all connections. */
export const noPlainConnections: PlainConnections = { closeIdle: () => undefined, closeAll: () => undefined }

interface TakingParts {
  readonly context: HttpContext
  readonly router: Router
  readonly heads: AnswerHeads
  readonly server: Server
  /** Answers a connection that never became a request, and closes it. */
  readonly onBroken: OnClientError
  readonly watchReader: WatchReader
}

export function takePlainConnections({
  context,
  router,
  heads,
  server,
  onBroken,
  watchReader,
}: TakingParts): PlainConnections {
  const [toHttp, ...others] = server.listeners('connection')
  if (toHttp === undefined || others.length > 0) {
    // Node passes connections to its parser through one listener. If it does not, there is nothing to put in front of it.
    context.log.warn('This version of Node takes connections otherwise: each request goes through its HTTP.')
    return noPlainConnections
  }
  server.removeAllListeners('connection')
  const open = new Map<Socket, PlainConnection>()
  const parts: Omit<PlainConnectionParts, 'readHead' | 'onEnd'> = {
    context,
    handle: (request, routed) => handle(context, request, routed),
    heads,
    sendSoon: sendTogether(),
    watchReader,
    passOn(socket, unanswered) {
      socket.pause()
      Reflect.apply(toHttp, server, [socket])
      socket.unshift(unanswered)
      socket.resume()
    },
    onSilence(socket) {
      onBroken(Object.assign(new Error('no request came'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
    },
  }
  server.on('connection', (socket: Socket) => {
    const readHead = plainHeads(context.limits, router)
    const onEnd = (): void => void open.delete(socket)
    open.set(socket, new PlainConnection(socket, { ...parts, readHead, onEnd }))
  })

  return {
    closeIdle() {
      for (const [socket, connection] of open) if (connection.isIdle) socket.destroy()
    },
    closeAll() {
      for (const socket of open.keys()) socket.destroy()
    },
  }
}
