/** `GET …/getevents`: a feed, page by page (spec §4.1; D18 for contacts). */
import { feeds, windowBoundPattern } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { BoundedMap } from '../../runtime/bounded-map.ts'
import { refused } from '../../http/exchange.ts'
import type { Headers } from '../../http/exchange.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import { apiEventTypeSchema } from '../../http/openapi/parameters.ts'
import {
  answer,
  capital,
  contractProblems,
  feedHeaderSchemas,
  lenientHeaders,
  notModified,
} from '../../http/openapi/responses.ts'
import { refTo } from '../../http/openapi/schemas.ts'
import { success } from '../../http/problem/problem.ts'
import { readListParameters } from './list-parameters.ts'
import type { ListParameters } from './list-parameters.ts'
import { ignoredParameters } from '../../http/requests/query.ts'
import type { Call, Operation, OperationSchema } from '../../http/operation.ts'
import { currentCall, currentHeader, currentHeaderSchema } from '../current/read-current.ts'
import { pageCall } from './read-page.ts'
import type { CurrentContext } from '../current/read-current.ts'
import type { PageContext } from './read-page.ts'

/** What listing events needs. */
export interface ListEventsContext extends CurrentContext, PageContext {
  readonly limits: ServiceLimits
}

/**
 * Calls that are kept for all connections. A consumer reads the pages of a feed one after the other, so no connection asks for the same
 * page twice, but many consumers ask for the same pages: without kept calls a compressed page took 9 % longer.
 */
const cacheLimit = 256

/** The length in bytes of the longest query whose call is kept: 256 of them take 50 KiB at most. */
const longestCachedQuery = 200

export function listEvents(context: ListEventsContext, feedName: FeedName): Operation {
  const feed = feeds[feedName]
  const cache = new BoundedMap<string, Call>(cacheLimit)
  return {
    method: 'GET',
    path: `${feed.eventsPath}/getevents`,
    mediaType: 'application/json',
    access: { scope: feed.readScope, refusal: 'spec' },
    schema: () => schemaFor(feedName, context.limits),

    prepare({ query }) {
      const known = cache.get(query)
      if (known !== undefined) return known
      const reading = readListParameters(query, feedName, context.limits)
      const headers = ignoredParameters(reading.ignored)
      if (reading.kind === 'parameters') {
        const call = listCall(context, feedName, reading.parameters, headers)
        if (query.length <= longestCachedQuery && reading.ignored.length === 0) cache.set(query, call)
        return call
      }
      const refusal = refused({ code: 'invalid_parameter', errors: reading.errors, headers })
      return () => refusal
    },
  }
}

/** Lists all events or the current ones, as the request says, or otherwise the key. */
function listCall(
  context: ListEventsContext,
  feedName: FeedName,
  parameters: ListParameters,
  headers: Headers,
): Call {
  const { current } = parameters
  const ofAll = pageCall(context, feedName, parameters, headers)
  const ofCurrent = currentCall(context, feedName, parameters, headers)
  return (request, access) =>
    (current ?? access.reading?.current === true) ? ofCurrent(request, access) : ofAll(request, access)
}

const completeUntilSchema = {
  type: 'string',
  description:
    'Of a window of time: no event with an earlier `createdDate` appears in it later. Send it as the next `from`, from page 1 of the answer. `Date` is the same moment, rounded down to the second.',
} as const

function schemaFor(feedName: FeedName, limits: ServiceLimits): OperationSchema {
  const pageHeaders = {
    ...lenientHeaders,
    ...feedHeaderSchemas,
    'x-feed-complete-until': completeUntilSchema,
    [currentHeader]: currentHeaderSchema,
  }
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
            'First `createdDate`: `YYYY-MM-DD`, alone or with a space or `T` and `HH:mm` or `HH:mm:ss`, fraction digits, and `Z` or an offset such as `+01:00`, `+0100` or `+01`. UTC without an offset. Percent-encode the plus (`%2B`); a blank in its place is read as one. Starts at the instant written; fraction digits after the seventh are cut off.',
          examples: ['2025-01-31 00:00:00.00', '2025-01-31', '2025-07-01T09:30+01:00'],
        },
        to: {
          type: 'string',
          pattern: windowBoundPattern,
          description:
            'Last `createdDate`, in the same forms; includes the whole interval of its last written digit, so `2025-01-31` is that whole day.',
          examples: ['2025-01-31', '2025-07-01T09:30:00+01:00'],
        },
        current: {
          type: 'boolean',
          description: `\`true\`: only the last event of each ${feedName}, as of a moment that page 1 fixes and the pages after it share, for 10 minutes. At most 100,000, and without \`from\` and \`to\`. Left out: as the key was created.`,
        },
      },
    },
    response: {
      [success.ok]: answer('A page of events.', refTo('EventPage'), pageHeaders),
      [success.notModified]: notModified(pageHeaders),
      ...contractProblems(feedName, 'tenant_moving', 'moment_expired'),
    },
  }
}
