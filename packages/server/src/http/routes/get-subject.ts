/** `GET /v1/properties/{agentRef}` and `/v1/contacts/{contactRef}`: the latest event of one subject (PROTOCOL §11). */
import { feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { preferredCoding } from '../accept.ts'
import { tenantOf } from '../authenticate.ts'
import type { HttpContext } from '../context.ts'
import { readSubject } from '../cursor-parameters.ts'
import { contentTag, tagMatches } from '../entity-tag.ts'
import { sendNotModified } from '../not-modified.ts'
import { answer, capital, feedReadProblems, notModified, taggedHeaders } from '../openapi-responses.ts'
import { refTo } from '../openapi-schemas.ts'
import type { Operation, ParameterSchemas } from '../operation.ts'
import { cacheHeaders } from '../page-response.ts'
import { success } from '../problem.ts'
import type { Refusal } from '../problem.ts'
import { refusalOfParameters } from '../query.ts'
import { gaveUp, sendEvent } from '../send-event-bytes.ts'
import { sendProblem } from '../send.ts'
import { queryText } from '../target.ts'

export function getSubject(context: HttpContext, feedName: FeedName): Operation {
  const feed = feeds[feedName]
  return {
    method: 'GET',
    path: `${feed.subjectsPath}/:subjectId`,
    mediaType: 'application/json',
    access: { scope: feed.readScope, refusal: 'own' },
    schema: () => ({
      operationId: `get${capital(feedName)}`,
      summary: `Get the latest event of a ${feedName}`,
      description: `The event that says how the ${feedName} is now, removed ones included, as it stands in the list.`,
      tags: ['Copying'],
      security: [{ apiKey: [] }],
      params: subjectParams(feedName),
      response: {
        [success.ok]: answer('The latest event.', refTo('Event'), taggedHeaders),
        [success.notModified]: notModified(taggedHeaders),
        ...feedReadProblems('missing_scope', 'ambiguous_tenant', 'subject_not_found'),
      },
    }),

    async handle(request, reply) {
      const refuse = (refusal: Refusal) => sendProblem(request, reply, context.basePath, refusal)
      const refusal = refusalOfParameters(queryText(request.originalUrl), context.limits.maxParameters)
      if (refusal !== undefined) return refuse(refusal)
      const subject = readSubject(request.params, feedName)
      if ('code' in subject) return refuse({ code: 'invalid_parameter', errors: [subject] })
      const key = { tenantId: tenantOf(request), feed: feedName }
      const event = await context.events.readLatest(key, subject.subjectId)
      if (event === undefined) return refuse({ code: 'subject_not_found' })
      const coding = preferredCoding(request.headers['accept-encoding'])
      const tag = contentTag(event.json, coding)
      reply.headers({ ...cacheHeaders, etag: tag })
      if (tagMatches(request.headers['if-none-match'], tag)) return sendNotModified(context, request, reply)
      if (gaveUp(request, reply)) return undefined
      await sendEvent(request, reply, event.json, coding)
      return undefined
    },
  }
}

export function subjectParams(feedName: FeedName): ParameterSchemas {
  return {
    type: 'object',
    properties: {
      subjectId: {
        type: 'string',
        format: 'uuid',
        description: `The \`${feeds[feedName].subjectField}\` of the payload, in either case.`,
      },
    },
    required: ['subjectId'],
  }
}
