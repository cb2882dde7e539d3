/** Bytes that never became a request: Node's parser and time-outs report them with nothing but a socket. */
import type { Socket } from 'node:net'
import { STATUS_CODES } from '../node-http.ts'
import type { HttpContext } from './context.ts'
import { refusalOfClientError } from './errors.ts'
import type { ClientError } from './errors.ts'
import { problemAnswer } from './problem.ts'

/**
 * Answers on the bare socket, where nothing was answered yet, and closes it: what follows on such a connection cannot
 * be told apart from the rest of the broken request.
 */
export function clientErrorHandler(context: HttpContext, nextId: () => string) {
  return (error: ClientError, socket: Socket): void => {
    const refusal = refusalOfClientError(error)
    if (refusal === undefined || !socket.writable || answering(socket)) {
      socket.destroy(error)
      return
    }
    const requestId = nextId()
    const { status, headers, body } = problemAnswer(refusal, {
      instance: '',
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
    context.log.info({ requestId, problem: refusal.code, parser: error.code }, 'broken request')
    context.metrics.requestDone({ route: 'none', method: 'none', status, seconds: 0 })
  }
}

/** An answer is on its way on this socket: a second one would be read as a part of it. */
function answering(socket: Socket): boolean {
  const message: unknown = Object.getOwnPropertyDescriptor(socket, '_httpMessage')?.value
  return (
    typeof message === 'object' &&
    message !== null &&
    'headersSent' in message &&
    message.headersSent === true
  )
}
