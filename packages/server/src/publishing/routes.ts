/** `POST /v1/property-events` and `/v1/contact-events`: publishing, all or nothing (PROTOCOL §4, P6, P7). */
import { isAscii } from 'node:buffer'
import { feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import type { PublishOutcome, PublishRequest, Publisher } from './publish.ts'
import { freeBytes } from '../runtime/memory/free-bytes.ts'
import { refusalOfError } from '../http/problem/errors.ts'
import { refused, uncachedAnswer } from '../http/exchange.ts'
import { feedKeyOf } from '../http/access.ts'
import type { Outcome, Refused, Request } from '../http/exchange.ts'
import type { Access } from '../http/access.ts'
import {
  answer,
  bodyProblems,
  capital,
  changeProblems,
  keyedHeaders,
  keyedProblems,
} from '../http/openapi/responses.ts'
import { refTo } from '../http/openapi/schemas.ts'
import { readBody } from '../http/requests/read-body.ts'
import { success } from '../http/problem/problem.ts'
import { formatOf, readBodyHeaders, refusalOfBytes, unsupportedType } from '../http/requests/body-headers.ts'
import { readPublishParameters } from './publish-parameters.ts'
import type { PublishParameters } from './publish-parameters.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { Operation, OperationSchema } from '../http/operation.ts'
import { refusalOfPublish } from './publish-refusal.ts'
import type { ServiceLimits } from '../http/limits.ts'
import type { BodyContext } from '../http/requests/read-body.ts'
import type { PublishHistory } from './history/publish-history.ts'
import type { RequestObserver } from '../http/observer.ts'

/** What publishing needs. */
interface PublishContext extends BodyContext {
  readonly limits: ServiceLimits
  readonly metrics: RequestObserver
  readonly publishHistory: PublishHistory
  readonly publisher: Publisher
}

export function publishEvents(context: PublishContext, feedName: FeedName): Operation {
  const feed = feeds[feedName]
  const { limits } = context
  return {
    method: 'POST',
    path: feed.publishPath,
    mediaType: 'application/json',
    access: { scope: feed.publishScope, refusal: 'own' },
    schema: () => schemaFor(feedName, limits.maxBodyBytes, limits.publication.maxEvents),

    prepare({ query }) {
      const reading = readPublishParameters(query, limits)
      if (reading.kind === 'refused') {
        return (request, access) => {
          noteRefusal(context, request, access, feedKeyOf(access, feedName), reading)
          return reading
        }
      }
      return async (request, access) => {
        const key = feedKeyOf(access, feedName)
        const taking = takeBody(context, request, access, key, reading.parameters)
        // A dry run publishes nothing, whatever its outcome.
        if (reading.parameters.dryRun) return taking
        try {
          const outcome = await taking
          if (outcome.kind === 'refused') noteRefusal(context, request, access, key, outcome)
          return outcome
        } catch (error) {
          noteRefusal(context, request, access, key, refused(refusalOfError(error)))
          throw error
        }
      }
    },
  }
}

/** Reads the body of a request and publishes it. Rejects as the store does. */
async function takeBody(
  context: PublishContext,
  request: Request,
  access: Access,
  key: FeedKey,
  parameters: PublishParameters,
): Promise<Outcome> {
  const { maxBodyBytes } = context.limits
  const head = readBodyHeaders(request, maxBodyBytes)
  if (head.kind === 'refused') return head
  const announced = Number(request.header('content-length') ?? 0)
  const refusal = context.inFlight.refuses(access.keyId, 'publication', announced)
  if (refusal !== undefined) return refused(refusal)
  // Held until the answer: the events that are read from a body are as long as the body was.
  const flight = context.inFlight.begin(access.keyId, 'publication')
  try {
    const body = await readBody(context, request, access, head.coding, flight, maxBodyBytes)
    if (body.kind === 'gone') return { kind: 'none' }
    if (body.kind === 'refused') return body
    const noRoom = flight.take(besideBytes(body.bytes))
    if (noRoom !== undefined) {
      freeBytes(body.bytes)
      return refused(noRoom)
    }
    const format = head.format ?? formatOf(body.bytes)
    if (format === undefined) return refused(unsupportedType(request.header('content-type') ?? ''))
    const { branches, withoutDuties } = access
    const publication = { key, body: body.bytes, format, branches, withoutDuties, ...parameters }
    return await publish(context, access, publication)
  } finally {
    flight.end()
  }
}

function noteRefusal(
  { publishHistory }: PublishContext,
  { id }: Request,
  { keyId }: Access,
  key: FeedKey,
  { refusal: { code, errors = [] } }: Refused,
): void {
  if (keyId !== undefined) publishHistory.refused(keyId, key, { requestId: id, code, errors })
}

/** Shorter bodies are not worth checking. */
const longBytes = 2 ** 20

/**
 * The memory that the events of a body need in addition to its own length, on their way to the store: as texts, and once more as what the
 * store is given. A text takes two bytes per character in memory as soon as one of them is not Latin, such as a typographic quotation
 * mark.
 */
function besideBytes(body: Buffer): number {
  return body.byteLength < longBytes ? 0 : (isAscii(body) ? 2 : 3) * body.byteLength
}

/** Publishes a body and returns the answer. Consumes the body: its memory is released. Rejects as the store does. */
async function publish(
  { metrics, publisher, publishHistory }: PublishContext,
  { keyId }: Access,
  publication: PublishRequest,
): Promise<Outcome> {
  const { feed } = publication.key
  const refusal = refusalOfBytes(publication.body)
  if (refusal !== undefined) {
    metrics.published(feed, 'invalid')
    return refused(await refusal)
  }
  let outcome: PublishOutcome
  try {
    outcome = await publisher.publish(publication)
  } catch (error) {
    metrics.published(feed, 'failed')
    throw error
  }
  metrics.published(feed, outcome.kind)
  if (outcome.kind !== 'receipt') return refused(refusalOfPublish(outcome))
  if (keyId !== undefined && !publication.dryRun)
    publishHistory.accepted(keyId, publication.key, outcome.receipt)
  const status = outcome.created ? success.created : success.ok
  return uncachedAnswer(outcome.receipt, status)
}

function schemaFor(feedName: FeedName, maxBytes: number, maxEvents: number): OperationSchema {
  const one = refTo(feedName === 'property' ? 'PropertyPublication' : 'ContactPublication')
  return {
    operationId: `publish${capital(feedName)}Events`,
    summary: `Publish ${feedName} events`,
    description: `One event or an array of them; also one event per line, as \`application/x-ndjson\`, which generated clients do without. At most ${maxEvents.toLocaleString('en-GB')} events and ${maxBytes.toLocaleString('en-GB')} bytes. All are stored, in this order, or none is. The answer is sent when they are on disk.`,
    tags: ['Publishing'],
    security: [{ apiKey: [] }],
    querystring: {
      type: 'object',
      properties: {
        dryRun: {
          type: 'boolean',
          default: false,
          description: 'Report what would happen, and store nothing.',
        },
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
        ...(feedName === 'property' ? (['branch_not_granted'] as const) : []),
        'invalid_body',
        'id_conflict',
        'unknown_subject',
        ...bodyProblems,
        'storage_full',
        'clock_behind',
        'overloaded',
        'epoch_required',
        ...changeProblems,
      ),
    },
  }
}
