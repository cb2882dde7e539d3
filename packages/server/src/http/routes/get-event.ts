/** `GET …/geteventbyid/{eventId}`: one event (spec §4.2; D18 for contacts). */
import { feeds, parseUuid } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import type { FastifyRequest } from 'fastify'
import { preferredCoding } from '../accept.ts'
import { tenantOf } from '../authenticate.ts'
import type { HttpContext } from '../context.ts'
import { namesForHeader, quoteInput } from '../echo-text.ts'
import { eventTag, tagMatches } from '../entity-tag.ts'
import { sendNotModified } from '../not-modified.ts'
import { answer, capital, feedReadProblems, lenientHeaders, notModified } from '../openapi-responses.ts'
import { refTo } from '../openapi-schemas.ts'
import type { Operation, OperationSchema } from '../operation.ts'
import { cacheHeaders } from '../page-response.ts'
import { success } from '../problem.ts'
import type { Refusal } from '../problem.ts'
import { readQuery } from '../query.ts'
import { gaveUp, sendEvent } from '../send-event-bytes.ts'
import { sendProblem } from '../send.ts'
import { queryText } from '../target.ts'

export function getEvent(context: HttpContext, feedName: FeedName): Operation {
  const feed = feeds[feedName]
  const { maxParameters } = context.limits
  return {
    method: 'GET',
    path: `${feed.eventsPath}/geteventbyid/:eventId`,
    mediaType: 'application/json',
    access: { scope: feed.readScope, refusal: 'spec' },
    schema: () => schemaFor(feedName),

    async handle(request, reply) {
      const refuse = (refusal: Refusal) => sendProblem(request, reply, context.basePath, refusal)
      const query = readQuery(queryText(request.originalUrl), { names: [], style: 'spec', maxParameters })
      if (query.ignored.length > 0) reply.header('x-ignored-parameters', namesForHeader(query.ignored))
      if (query.errors.length > 0) return refuse({ code: 'invalid_parameter', errors: query.errors })
      const given = eventIdOf(request)
      if (given === '') return refuse({ code: 'path_not_found' })
      const eventId = parseUuid(given)
      if (eventId === undefined) {
        const message = `${quoteInput(given)} is not a UUID: 8-4-4-4-12 hexadecimal digits, without braces or prefix.`
        const errors = [{ parameter: 'eventId', code: 'not_a_uuid', message }]
        return refuse({ code: 'invalid_parameter', errors })
      }
      // One look-up in the caller's own feed, so another tenant's event and none at all take the same path (D8).
      const key = { tenantId: tenantOf(request), feed: feedName }
      // Before the event is read: its bytes are of this state of the feed or of a later one.
      const located = await context.ranges.locate({ key, view: 'all' })
      const event = await context.events.readEvent(key, eventId)
      if (event === undefined || located === undefined) return refuse({ code: 'event_not_found' })
      const coding = preferredCoding(request.headers['accept-encoding'])
      const tag = eventTag(eventId, located.head, coding)
      reply.headers({ ...cacheHeaders, etag: tag })
      if (tagMatches(request.headers['if-none-match'], tag)) return sendNotModified(context, request, reply)
      if (gaveUp(request, reply)) return undefined
      await sendEvent(request, reply, event.json, coding)
      return undefined
    },
  }
}

function eventIdOf(request: FastifyRequest): string {
  const { params } = request
  if (typeof params !== 'object' || params === null || !('eventId' in params)) return ''
  return typeof params.eventId === 'string' ? params.eventId : ''
}

function schemaFor(feedName: FeedName): OperationSchema {
  return {
    operationId: `get${capital(feedName)}Event`,
    summary: `Get one ${feedName} event`,
    description: `The event as it stands in the list. Another tenant's event is as unknown as none at all.`,
    tags: ['Reading'],
    security: [{ apiKey: [] }],
    params: {
      type: 'object',
      properties: {
        eventId: { type: 'string', format: 'uuid', description: 'The `id` of an event, in either case.' },
      },
      required: ['eventId'],
    },
    response: {
      [success.ok]: answer('The event.', refTo('Event'), lenientHeaders),
      [success.notModified]: notModified(lenientHeaders),
      ...feedReadProblems('key_scope', 'event_not_found'),
    },
  }
}
