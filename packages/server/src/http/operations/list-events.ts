/** `GET …/getevents`: a feed, page by page (spec §4.1; D18 for contacts). */
import { feeds, windowBoundPattern } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import type { HttpContext } from '../context.ts'
import { refused } from '../exchange.ts'
import type { ServiceLimits } from '../limits.ts'
import { apiEventTypeSchema } from '../openapi/parameters.ts'
import {
  answer,
  capital,
  feedHeaderSchemas,
  feedReadProblems,
  lenientHeaders,
  notModified,
} from '../openapi/responses.ts'
import { refTo } from '../openapi/schemas.ts'
import { success } from '../problem.ts'
import { readListParameters } from '../requests/list-parameters.ts'
import { ignoredParameters } from '../requests/query.ts'
import type { Operation, OperationSchema } from './operation.ts'
import { pageCall } from './read-page.ts'

export function listEvents(context: HttpContext, feedName: FeedName): Operation {
  const feed = feeds[feedName]
  return {
    method: 'GET',
    path: `${feed.eventsPath}/getevents`,
    mediaType: 'application/json',
    access: { scope: feed.readScope, refusal: 'spec' },
    schema: () => schemaFor(feedName, context.limits),

    prepare({ query }) {
      const reading = readListParameters(query, feedName, context.limits)
      const headers = ignoredParameters(reading.ignored)
      if (reading.kind === 'parameters') return pageCall(context, feedName, reading.parameters, headers)
      const refusal = refused({ code: 'invalid_parameter', errors: reading.errors, headers })
      return () => refusal
    },
  }
}

function schemaFor(feedName: FeedName, limits: ServiceLimits): OperationSchema {
  const pageHeaders = { ...lenientHeaders, ...feedHeaderSchemas }
  return {
    operationId: `list${capital(feedName)}Events`,
    summary: `List ${feedName} events`,
    description: `Pages of the tenant's ${feedName} events in ascending \`sequenceNumber\`. Only the event with the highest \`sequenceNumber\` of each ${feedName} is current. Names match without regard to case; unknown parameters are ignored and named in \`x-ignored-parameters\`.`,
    tags: ['Reading'],
    security: [{ apiKey: [] }],
    querystring: {
      type: 'object',
      properties: {
        apiEventType: apiEventTypeSchema(feedName),
        page: {
          type: 'integer',
          minimum: 1,
          maximum: 999_999_999,
          default: 1,
          description: 'Page number, in plain digits. A page past the end has no items.',
        },
        pageSize: {
          type: 'integer',
          minimum: 1,
          maximum: limits.maxPageSize,
          default: Math.min(limits.defaultPageSize, limits.maxPageSize),
          description: 'Events per page, in plain digits.',
        },
        from: {
          type: 'string',
          pattern: windowBoundPattern,
          description:
            'First `createdDate`: `YYYY-MM-DD`, alone or with a space or `T` and `HH:mm` or `HH:mm:ss`, fraction digits, and `Z` or an offset such as `+01:00`. UTC without an offset. Percent-encode the plus (`%2B`); a blank in its place is read as one. Starts at the instant written; fraction digits after the seventh are cut off.',
          examples: ['2025-01-31 00:00:00.00', '2025-01-31', '2025-07-01T09:30+01:00'],
        },
        to: {
          type: 'string',
          pattern: windowBoundPattern,
          description:
            'Last `createdDate`, in the same forms; includes the whole interval of its last written digit, so `2025-01-31` is that whole day.',
          examples: ['2025-01-31', '2025-07-01T09:30:00+01:00'],
        },
      },
    },
    response: {
      [success.ok]: answer('A page of events.', refTo('EventPage'), pageHeaders),
      [success.notModified]: notModified(pageHeaders),
      ...feedReadProblems('key_scope', 'tenant_moving'),
    },
  }
}
