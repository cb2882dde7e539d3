/** Bytes that never became a whole request: Node's parser and time-outs report them with nothing but a socket. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { STATUS_CODES } from '../node-http.ts'
import type { HttpContext } from './context.ts'
import { refusalOfClientError } from './errors.ts'
import type { ClientError } from './errors.ts'
import { pathOnly } from './echo-text.ts'
import { problemAnswer } from './problem.ts'
import { loggedPath } from './report-request.ts'
import { newRequestId, requestIdOf } from './request-facts.ts'
import { responseUnderWay } from './response-under-way.ts'
import { withoutOrigin } from './target.ts'

/**
 * Refuses broken bytes on the bare socket and closes it: what follows on such a connection cannot be told apart from the
 * rest of the broken request. Whoever asked something whole before them gets the answer to that first.
 */
export function clientErrorHandler(context: HttpContext) {
  /** Where broken bytes wait for an answer to what came before; all that follows them is broken too, and told again. */
  const waiting = new WeakSet<Socket>()

  function onClientError(error: ClientError, socket: Socket): void {
    const response = responseUnderWay(socket)
    if (response === undefined) refuse(error, socket)
    else if (response.req.complete) {
      if (waiting.has(socket)) return
      waiting.add(socket)
      response.once('close', () => {
        waiting.delete(socket)
        // An answer that was the last of its connection has closed it.
        if (socket.writable) onClientError(error, socket)
      })
    } else if (response.headersSent) {
      // Of the request that is being answered: another answer would be read as a part of this one.
      socket.destroy(error)
    } else refuse(error, socket, response.req)
  }

  /** `request`: whose body the bytes were to be, if its head was whole. */
  function refuse(error: ClientError, socket: Socket, request?: IncomingMessage): void {
    const refusal = refusalOfClientError(error)
    if (refusal === undefined || !socket.writable) {
      socket.destroy(error)
      return
    }
    const target = request?.url
    const requestId = request === undefined ? newRequestId() : requestIdOf(request)
    const { status, headers, body } = problemAnswer(refusal, {
      instance: target === undefined ? '' : pathOnly(withoutOrigin(target)),
      requestId,
      basePath: context.basePath,
    })
    const lines = Object.entries({
      ...headers,
      'x-request-id': requestId,
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    }).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`)
    // Whoever sends nonsense may not read either: the socket does not wait for him.
    const timer = setTimeout(() => socket.destroy(), 1_000)
    timer.unref()
    socket.once('close', () => clearTimeout(timer))
    const asked = target === undefined ? {} : { method: request?.method, path: loggedPath(target, 'none') }
    context.log.info({ requestId, ...asked, problem: refusal.code, parser: error.code }, 'broken request')
    context.metrics.requestDone({ route: 'none', method: 'none', status, seconds: 0 })
  }

  return onClientError
}
