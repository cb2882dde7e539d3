/** Sending what is not a page: problems, small JSON answers, and the bodies of refused requests that were never read. */
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { pathOnly } from './echo-text.ts'
import { problemAnswer } from './problem.ts'
import type { ProblemPlace, Refusal } from './problem.ts'
import { factsOf } from './request-facts.ts'
import { withoutOrigin } from './target.ts'

/** Where a problem happened, as its body says it. */
export function placeOf(request: FastifyRequest, basePath: string): ProblemPlace {
  return {
    instance: pathOnly(withoutOrigin(request.originalUrl)),
    requestId: request.id,
    basePath,
  }
}

/** Answers a request with a problem (D6). */
export function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  basePath: string,
  refusal: Refusal,
): FastifyReply {
  factsOf(request).problem = refusal.code
  const { status, headers, body } = problemAnswer(refusal, placeOf(request, basePath))
  leaveBodyUnread(request, reply)
  // As bytes: to a string Fastify would add a charset, which JSON does not have (RFC 8259 §11).
  return reply.code(status).headers(headers).send(Buffer.from(body))
}

/** How long a connection with an unwanted body stays half open, for the client to read its answer. */
const lingerMs = 1_000

/**
 * A request that was refused before its body was read: the rest is not read, so the connection ends after the answer. But
 * not at once: closing a socket that still has unread bytes makes the kernel send a reset, which destroys the answer on
 * its way to a client that is still sending.
 */
function leaveBodyUnread(request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = request
  if (raw.complete) return
  const length = Number(request.headers['content-length'] ?? 0)
  if (request.headers['transfer-encoding'] === undefined && length === 0) return
  reply.header('connection', 'close')
  const { socket } = raw
  socket.destroySoon = () => linger(socket)
}

function linger(socket: Socket): void {
  // Paused, the socket takes no more than its buffers hold; the client feels it and reads its answer.
  socket.pause()
  socket.end()
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  timer.unref()
  socket.once('close', () => clearTimeout(timer))
}
