/** Bytes that never became a whole request: Node's parser and time-outs report them with only a socket. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { AnswerHeads } from '../answer-head.ts'
import type { HttpContext } from '../context.ts'
import type { DoneRequest } from '../observer.ts'
import { problemAnswer } from '../problem/problem-answer.ts'
import type { Refusal } from '../problem/problem.ts'
import { loggedPath } from '../report.ts'
import { pathOnly } from '../requests/echo-text.ts'
import { requestIdOf } from '../requests/request-id.ts'
import { withoutOrigin } from '../requests/target.ts'
import { headerOf } from './node-request.ts'
import type { ResponsesUnderWay } from './responses-under-way.ts'

/** Refuses a connection that has carried no request yet, and closes it. */
export function refuseConnection(
  { basePath, metrics }: Pick<HttpContext, 'basePath' | 'metrics'>,
  heads: AnswerHeads,
  socket: Socket,
  refusal: Refusal,
): void {
  const requestId = requestIdOf(undefined)
  const { status, headers, body } = problemAnswer(refusal, { instance: '', requestId, basePath })
  socket.on('error', () => undefined)
  socket.on('end', () => socket.destroy())
  // Unread bytes would make the system reset the connection, which would lose the answer.
  socket.resume()
  socket.end(heads.refusal(requestId, status, headers, body) + body)
  destroyLater(socket)
  metrics.requestDone(withoutRequest(requestId, status, refusal, body))
}

function withoutRequest(requestId: string, status: number, { code }: Refusal, body: string): DoneRequest {
  return {
    requestId,
    route: 'none',
    method: 'none',
    status,
    seconds: 0,
    endedMs: performance.now(),
    problem: code,
    keyId: undefined,
    tenantId: undefined,
    bodyBytes: body.length,
  }
}

/** How long a connection stays half open after its last answer, so that the client can read it. A refused client may not read either. */
const lingerMs = 1_000

export function destroyLater(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  timer.unref()
  socket.once('close', () => clearTimeout(timer))
}

/** As Node emits it; `rawPacket` is what the parser was reading. */
type ClientError = NodeJS.ErrnoException & { readonly rawPacket?: unknown }

/** An error of Node's HTTP parser or of its time-outs, for bytes that never became a request. `undefined`: just close. */
function refusalOfClientError(error: ClientError): Refusal | undefined {
  switch (error.code ?? '') {
    case 'ECONNRESET':
    case 'EPIPE':
      return undefined
    case 'HPE_HEADER_OVERFLOW':
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { code: 'headers_too_large' }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { code: 'request_timeout' }
    case 'HPE_INVALID_VERSION':
      // The parser reports the same for a request line that ends in a bare line feed.
      return /^[^\r\n]* HTTP\/\d\.\d\r\n/.test(
        Buffer.isBuffer(error.rawPacket) ? error.rawPacket.toString('latin1') : '',
      )
        ? { code: 'unsupported_http_version' }
        : { code: 'malformed_request' }
    default:
      return { code: 'malformed_request' }
  }
}

export type OnClientError = (error: ClientError, socket: Socket) => void

/**
 * Refuses broken bytes on the bare socket and closes it: what follows on such a connection cannot be distinguished from the rest of the
 * broken request. A whole request before them is answered first.
 */
export function clientErrorHandler(
  context: Pick<HttpContext, 'basePath' | 'log' | 'metrics'>,
  heads: AnswerHeads,
  underWay: ResponsesUnderWay,
): OnClientError {
  /** Sockets whose broken bytes wait for the answer before them; all that follows is broken too, and reported again. */
  const waiting = new WeakSet<Socket>()

  function onClientError(error: ClientError, socket: Socket): void {
    const response = underWay.of(socket)
    if (response === undefined) refuse(error, socket)
    else if (response.req.complete) {
      if (waiting.has(socket)) return
      waiting.add(socket)
      response.once('close', () => {
        waiting.delete(socket)
        // If the answer was the last of its connection, it has closed it.
        if (socket.writable) onClientError(error, socket)
      })
    } else if (response.headersSent) {
      // The error belongs to the request that is being answered: another answer would be read as part of this one.
      socket.destroy(error)
    } else refuse(error, socket, response.req)
  }

  /** `request`: the request whose body the bytes were meant to be, if its head was whole. */
  function refuse(error: ClientError, socket: Socket, request?: IncomingMessage): void {
    const refusal = refusalOfClientError(error)
    if (refusal === undefined || !socket.writable) {
      socket.destroy(error)
      return
    }
    const target = request?.url
    const requestId = requestIdOf(request && headerOf(request, 'x-request-id'))
    const { status, headers, body } = problemAnswer(refusal, {
      instance: target === undefined ? '' : pathOnly(withoutOrigin(target)),
      requestId,
      basePath: context.basePath,
    })
    socket.end(heads.refusal(requestId, status, headers, body) + body)
    destroyLater(socket)
    const asked = target === undefined ? {} : { method: request?.method, path: loggedPath(target, 'none') }
    context.log.info({ requestId, ...asked, problem: refusal.code, parser: error.code }, 'broken request')
    context.metrics.requestDone(withoutRequest(requestId, status, refusal, body))
  }

  return onClientError
}
