/**
 * In front of Node's HTTP: connections over which nothing but plain requests comes, reads and what is published in one piece, are
 * answered on the bare socket, without a parser, a request and a response, which are a third of a poll (by hand: an empty 304
 * takes 12 us, and 8 on the socket).
 *
 * The first request that is not plain takes its connection along: Node's HTTP gets it with every byte that was not answered,
 * and keeps it. So everything that could be misread (pipelining, broken, slow or divided requests, chunks, upgrades) is Node's
 * from its first byte. A body is taken only where exactly as many bytes stand behind its head as the head announces.
 *
 * One thing differs: a client that shuts down its side while it is answered gets the answer here. Node's HTTP takes it for gone,
 * and has to: that is how it learns that nobody waits for a stream any more. In the log a publication is `aborted` either way.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { ClientError } from '../errors.ts'
import type { HttpContext } from '../context.ts'
import { answerHeads } from './answer.ts'
import { directReads } from './direct-reads.ts'
import { PlainConnection } from './plain-connection.ts'
import { plainHeads } from './plain-head.ts'
import type { PlainRequest } from './plain-head.ts'
import { plainPublishing } from './plain-publishing.ts'
import { sendTogether } from './send-together.ts'
import { directTargets, publicationTargets } from './target.ts'

export interface PlainConnections {
  /** Ends those on which nothing is being answered. */
  closeIdle(): void
  closeAll(): void
}

/** `onBroken`: answers a connection that never became a request, and closes it. */
export function takePlainConnections(
  context: HttpContext,
  server: Server,
  onBroken: (error: ClientError, socket: Socket) => void,
): PlainConnections {
  const open = new Map<Socket, PlainConnection>()
  const toHttp = server.listeners('connection')
  server.removeAllListeners('connection')

  const readTarget = directTargets(context.basePath, context.limits)
  const readPublicationTarget = publicationTargets(context.basePath, context.limits)
  const readDirectly = directReads(context)
  const publishDirectly = plainPublishing(context)
  const answerDirectly = (request: PlainRequest, socket: Socket, requestId: string) =>
    request.kind === 'read' ? readDirectly(request, socket) : publishDirectly(request, socket, requestId)
  const writeHead = answerHeads(context)
  const sendSoon = sendTogether()
  const passOn = (socket: Socket, unanswered: Buffer): void => {
    socket.pause()
    for (const listener of toHttp) Reflect.apply(listener, server, [socket])
    socket.unshift(unanswered)
    socket.resume()
  }
  const onSilence = (socket: Socket): void => {
    onBroken(Object.assign(new Error('no request came'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
  }

  server.on('connection', (socket: Socket) => {
    const readHead = plainHeads(context.limits, readTarget, readPublicationTarget)
    const onEnd = (): void => void open.delete(socket)
    open.set(
      socket,
      new PlainConnection(socket, {
        context,
        readHead,
        answerDirectly,
        writeHead,
        sendSoon,
        passOn,
        onSilence,
        onEnd,
      }),
    )
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
