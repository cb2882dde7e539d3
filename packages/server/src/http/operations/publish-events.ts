/** `POST /v1/property-events` and `/v1/contact-events`: publishing, all or nothing (PROTOCOL §4, P6, P7). */
import { feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import type { HttpContext } from '../context.ts'
import { feedKeyOf, refused } from '../exchange.ts'
import type { Headers, Outcome } from '../exchange.ts'
import { answer, capital, keyedHeaders, keyedProblems } from '../openapi/responses.ts'
import { refTo } from '../openapi/schemas.ts'
import { success } from '../problem.ts'
import { readBodyHeaders, refusalOfBytes } from '../requests/body-headers.ts'
import { readPublishParameters } from '../requests/publish-parameters.ts'
import type { Operation, OperationSchema } from './operation.ts'
import { refusalOfPublish } from './publish-refusal.ts'

/** All that is to be published, and how. */
type Publication = Parameters<HttpContext['publisher']['publish']>[0]

export function publishEvents(context: HttpContext, feedName: FeedName): Operation {
  const feed = feeds[feedName]
  const { limits } = context
  return {
    method: 'POST',
    path: feed.publishPath,
    mediaType: 'application/json',
    access: { scope: feed.publishScope, refusal: 'own' },
    schema: () => schemaFor(feedName, limits.maxBodyBytes, limits.publication.maxEvents),

    prepare({ query }) {
      const reading = readPublishParameters(query, limits.maxParameters)
      if (reading.kind === 'faults') {
        const refusal = refused({ code: 'invalid_parameter', errors: reading.errors })
        return () => refusal
      }
      return async (request, access) => {
        const head = readBodyHeaders(request, limits.maxBodyBytes)
        if (head.kind === 'refused') return head
        const key = feedKeyOf(access, feedName)
        const body = await request.body()
        if (body.kind === 'gone') return { kind: 'none' }
        if (body.kind === 'refused') return body
        return publish(context, { key, body: body.bytes, format: head.format, ...reading.parameters })
      }
    },
  }
}

const receiptHeaders: Headers = { 'content-type': 'application/json', 'cache-control': 'no-store' }

/** Publishes a body and says what to answer. Takes the body: its memory is gone afterwards. Rejects as the store does. */
async function publish({ metrics, publisher }: HttpContext, publication: Publication): Promise<Outcome> {
  const { feed } = publication.key
  const refusal = refusalOfBytes(publication.body)
  if (refusal !== undefined) {
    metrics.published(feed, 'invalid')
    return refused(refusal)
  }
  const outcome = await publisher.publish(publication).catch((error: unknown) => {
    metrics.published(feed, 'failed')
    throw error
  })
  metrics.published(feed, outcome.kind)
  if (outcome.kind !== 'receipt') return refused(refusalOfPublish(outcome))
  const status = outcome.created ? success.created : success.ok
  return { kind: 'text', status, headers: receiptHeaders, body: JSON.stringify(outcome.receipt) }
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
