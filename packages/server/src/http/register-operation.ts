import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { acceptsMediaType } from './accept.ts'
import { requireAccess } from './authenticate.ts'
import type { HttpContext } from './context.ts'
import { readsOneFeed, requireMinSequence } from './min-sequence.ts'
import type { Operation } from './operation.ts'
import { sendProblem } from './send.ts'

/** Makes a Fastify route of an operation, and of a `GET` a `HEAD` as well. */
export function registerOperation(app: FastifyInstance, context: HttpContext, operation: Operation): void {
  const { method, path: url, mediaType, access, beforeBody, handle } = operation
  const feedScope = readsOneFeed(access)
  const onRequest = [
    ...(access === undefined ? [] : [requireAccess(context, access)]),
    ...(feedScope === undefined ? [] : [requireMinSequence(context, feedScope)]),
    async (request: FastifyRequest, reply: FastifyReply) => {
      if (acceptsMediaType(request.headers.accept, mediaType)) return undefined
      const detail = `The Accept header refuses ${mediaType}, the only media type of this answer.`
      return sendProblem(request, reply, context.basePath, { code: 'not_acceptable', detail })
    },
    ...(beforeBody === undefined ? [] : [beforeBody]),
  ]
  app.route({ method, url, onRequest, handler: handle })
  if (method === 'GET') app.route({ method: 'HEAD', url, onRequest, handler: handle })
}
