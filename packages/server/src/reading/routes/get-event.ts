/** `GET …/geteventbyid/{eventId}`: one event (spec §4.2; D18 for contacts). */
import { feeds, parseUuid } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { feedKeyOf } from '../../http/access.ts'
import { refused } from '../../http/exchange.ts'
import { exampleIds } from '@property-events/protocol/example-ids'
import { uuidSchema } from '../../http/openapi/parameters.ts'
import {
  answer,
  capital,
  contractProblems,
  lenientHeaders,
  notModified,
} from '../../http/openapi/responses.ts'
import { refTo } from '../../http/openapi/schemas.ts'
import { success } from '../../http/problem/problem.ts'
import type { Refusal } from '../../http/problem/problem.ts'
import { quoteInput } from '../../http/requests/echo-text.ts'
import { ignoredParameters, readQuery } from '../../http/requests/query.ts'
import type { Operation, OperationSchema } from '../../http/operation.ts'
import { readEvent } from './read-event.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import type { RepresentationOf } from '../representation/representation.ts'
import type { EventContext } from './read-event.ts'

/** What getting an event needs. */
export interface GetEventContext extends EventContext {
  readonly formOf: RepresentationOf
  readonly limits: ServiceLimits
}

export function getEvent(context: GetEventContext, feedName: FeedName): Operation {
  const feed = feeds[feedName]
  const { maxParameters } = context.limits
  return {
    method: 'GET',
    path: `${feed.eventsPath}/geteventbyid/:eventId`,
    mediaType: 'application/json',
    access: { scope: feed.readScope, refusal: 'spec' },
    schema: () => schemaFor(feedName),

    prepare({ query, params }) {
      const { ignored, errors } = readQuery(query, { names: [], style: 'spec', maxParameters })
      const headers = ignored.length === 0 ? undefined : ignoredParameters(ignored)
      const [given = ''] = params
      const eventId = parseUuid(given)
      if (errors.length === 0 && eventId !== undefined) {
        return (request, access) => {
          const form = context.formOf(access, feedName)
          const asked = { key: feedKeyOf(access, feedName), eventId, form, branches: access.branches }
          return readEvent(context, request, asked, headers)
        }
      }
      const refusal: Refusal =
        errors.length > 0
          ? { code: 'invalid_parameter', errors }
          : given === ''
            ? {
                code: 'path_not_found',
                detail: 'The path ends where the id of an event belongs: …/geteventbyid/{eventId}.',
              }
            : { code: 'invalid_parameter', errors: [notUuid(given)] }
      return () => refused({ ...refusal, ...(headers && { headers }) })
    },
  }
}

function notUuid(given: string) {
  const message = `${quoteInput(given)} is not a UUID: 8-4-4-4-12 hexadecimal digits, without braces or prefix. It is the "id" of an event in a list.`
  return { parameter: 'eventId', code: 'not_a_uuid', message }
}

function schemaFor(feedName: FeedName): OperationSchema {
  return {
    operationId: `get${capital(feedName)}Event`,
    summary: `Get one ${feedName} event`,
    description: `The event as in the list. An event of another tenant is answered as if it did not exist.`,
    tags: ['Reading'],
    security: [{ apiKey: [] }],
    params: {
      type: 'object',
      properties: { eventId: uuidSchema('The `id` of an event, in either case.', exampleIds.eventId) },
    },
    response: {
      [success.ok]: answer('The event.', refTo('FeedEvent'), lenientHeaders),
      [success.notModified]: notModified(lenientHeaders),
      ...contractProblems(feedName, 'event_not_found'),
    },
  }
}
