/** `POST /v1/property-events` and `/v1/contact-events`: publishing, all or nothing (PROTOCOL §4, P6, P7). */
import { feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import type { FastifyRequest } from 'fastify'
import { isArray } from '../../feed/publication-body.ts'
import { tenantOf } from '../authenticate.ts'
import type { HttpContext } from '../context.ts'
import { answer, capital, keyedHeaders, keyedProblems } from '../openapi-responses.ts'
import { refTo } from '../openapi-schemas.ts'
import type { Operation, OperationSchema } from '../operation.ts'
import { success } from '../problem.ts'
import type { Refusal } from '../problem.ts'
import { readPublishParameters } from '../publish-parameters.ts'
import { refusalOfPublish } from '../publish-refusal.ts'
import { readBodyHeaders, refusalOfBytes } from '../request-body.ts'
import { sendProblem } from '../send.ts'
import { queryText } from '../target.ts'

export function publishEvents(context: HttpContext, feedName: FeedName): Operation {
  const feed = feeds[feedName]
  const { basePath, limits, metrics, publisher } = context
  const parametersOf = (request: FastifyRequest) =>
    readPublishParameters(queryText(request.originalUrl), limits.maxParameters)
  return {
    method: 'POST',
    path: feed.publishPath,
    mediaType: 'application/json',
    access: { scope: feed.publishScope, refusal: 'own' },
    schema: () => schemaFor(feedName, limits.maxBodyBytes, limits.publication.maxEvents),

    async beforeBody(request, reply) {
      const refuse = (refusal: Refusal) => sendProblem(request, reply, basePath, refusal)
      const parameters = parametersOf(request)
      if (parameters.kind === 'faults')
        return refuse({ code: 'invalid_parameter', errors: parameters.errors })
      const headers = readBodyHeaders(request.headers, limits.maxBodyBytes)
      if (headers.kind === 'refused') return refuse(headers.refusal)
      // Only now is a client that asked told to send its body.
      if (request.headers.expect !== undefined) reply.raw.writeContinue()
      return undefined
    },

    async handle(request, reply) {
      const refuse = (refusal: Refusal) => sendProblem(request, reply, basePath, refusal)
      const parameters = parametersOf(request)
      const headers = readBodyHeaders(request.headers, limits.maxBodyBytes)
      if (parameters.kind === 'faults')
        return refuse({ code: 'invalid_parameter', errors: parameters.errors })
      if (headers.kind === 'refused') return refuse(headers.refusal)
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const refusal = refusalOfBytes(body)
      if (refusal !== undefined) return refuse(refusal)

      const key = { tenantId: tenantOf(request), feed: feedName }
      const { format } = headers
      const outcome = await publisher.publish({ key, body, format, ...parameters.parameters })
      metrics.published(feedName, outcome.kind)
      if (outcome.kind !== 'receipt') {
        const many = format === 'ndjson' || isArray(body)
        return refuse(refusalOfPublish(outcome, (index) => (many ? `/${index}` : '')))
      }
      reply.headers({ 'content-type': 'application/json', 'cache-control': 'no-store' })
      return reply
        .code(outcome.created ? success.created : success.ok)
        .send(Buffer.from(JSON.stringify(outcome.receipt)))
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
      ),
    },
  }
}
