import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { acceptsMediaType } from './accept.ts'
import { requireAccess } from './authenticate.ts'
import type { HttpContext } from './context.ts'
import type { Operation } from './operation.ts'
import { sendProblem } from './send.ts'

/** Makes a Fastify route of an operation, and of a `GET` a `HEAD` as well. */
export function registerOperation(app: FastifyInstance, context: HttpContext, operation: Operation): void {
  const { method, path: url, mediaType, access, schema, beforeBody, handle } = operation
  const onRequest = [
    ...(access === undefined ? [] : [requireAccess(context, access)]),
    async (request: FastifyRequest, reply: FastifyReply) => {
      if (acceptsMediaType(request.headers.accept, mediaType)) return undefined
      const detail = `The Accept header refuses ${mediaType}, the only media type of this answer.`
      return sendProblem(request, reply, context.basePath, { code: 'not_acceptable', detail })
    },
    ...(beforeBody === undefined ? [] : [beforeBody]),
  ]
  app.route({ method, url, schema, onRequest, handler: handle })
  if (method === 'GET') app.route({ method: 'HEAD', url, schema: { hide: true }, onRequest, handler: handle })
}
