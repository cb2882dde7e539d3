/** `POST /v1/property-events` and `/v1/contact-events`: publishing, all or nothing (PROTOCOL §4, P6, P7). */
import { feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import type { FastifyRequest } from 'fastify'
import { tenantOf } from '../authenticate.ts'
import type { HttpContext } from '../context.ts'
import { answer, capital, keyedHeaders, keyedProblems } from '../openapi-responses.ts'
import { refTo } from '../openapi-schemas.ts'
import type { Operation, OperationSchema } from '../operation.ts'
import { success } from '../problem.ts'
import { answerPublish, readPublishHead } from '../publish-request.ts'
import { sendProblem } from '../send.ts'

export function publishEvents(context: HttpContext, feedName: FeedName): Operation {
  const feed = feeds[feedName]
  const { basePath, limits } = context
  const headOf = (request: FastifyRequest) => readPublishHead(request.originalUrl, request.headers, limits)
  return {
    method: 'POST',
    path: feed.publishPath,
    mediaType: 'application/json',
    access: { scope: feed.publishScope, refusal: 'own' },
    schema: () => schemaFor(feedName, limits.maxBodyBytes, limits.publication.maxEvents),

    async beforeBody(request, reply) {
      const head = headOf(request)
      if (head.kind === 'refused') return sendProblem(request, reply, basePath, head.refusal)
      // Only now is a client that asked told to send its body.
      if (request.headers.expect !== undefined) reply.raw.writeContinue()
      return undefined
    },

    async handle(request, reply) {
      const head = headOf(request)
      if (head.kind === 'refused') return sendProblem(request, reply, basePath, head.refusal)
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const key = { tenantId: tenantOf(request), feed: feedName }
      const answered = await answerPublish(context, key, head, body)
      if (answered.kind === 'refused') return sendProblem(request, reply, basePath, answered.refusal)
      return reply.code(answered.status).headers(answered.headers).send(Buffer.from(answered.body))
    },
  }
}

function schemaFor(feedName: FeedName, maxBytes: number, maxEvents: number): OperationSchema {
  const one = refTo(feedName === 'property' ? 'PropertyPublication' : 'ContactPublication')
  return {
    operationId: `publish${capital(feedName)}Events`,
    summary: `Publish ${feedName} events`,
    description: `One event, an array of them, or one per line (NDJSON); at most ${maxEvents} events and ${maxBytes} bytes. All are stored, in this order, or none is. The answer leaves when they are on disk.`,
    tags: ['Publishing'],
    security: [{ apiKey: [] }],
    querystring: {
      type: 'object',
      properties: {
        dryRun: { type: 'boolean', default: false, description: 'Say what would happen and store nothing.' },
        unchanged: {
          type: 'string',
          enum: ['store', 'skip'],
          default: 'store',
          description: "`skip` stores nothing for a payload equal to its subject's latest.",
        },
      },
    },
    body: {
      content: {
        'application/json': {
          schema: { anyOf: [one, { type: 'array', items: one, minItems: 1, maxItems: maxEvents }] },
        },
        'application/x-ndjson': { schema: { type: 'string', description: 'One event per line.' } },
      },
    },
    response: {
      [success.ok]: answer(
        'Nothing new: a dry run, or everything was stored before.',
        refTo('PublishReceipt'),
        keyedHeaders,
      ),
      [success.created]: answer('Something new is on disk.', refTo('PublishReceipt'), keyedHeaders),
      ...keyedProblems(
        'missing_scope',
        'ambiguous_tenant',
        'invalid_body',
        'id_conflict',
        'unknown_subject',
        'body_too_large',
        'unsupported_media_type',
        'unsupported_charset',
        'unsupported_content_encoding',
        'storage_full',
        'clock_behind',
        'overloaded',
        'epoch_required',
        'tenant_moving',
      ),
    },
  }
}
