import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HttpContext } from './context.ts'
import { success } from './problem.ts'
import { rateLimitHeaders } from './rate-limit.ts'
import { factsOf } from './request-facts.ts'

/** Answers 304, which costs no token of the rate limit (D10): asking whether there is something new is to be cheap. */
export function sendNotModified(
  context: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { keyId } = factsOf(request)
  if (keyId !== undefined) {
    reply.headers(rateLimitHeaders(context.limits.requests, context.requestBuckets.refund(keyId)))
  }
  return reply.code(success.notModified).send()
}
