/** `GET /v1/properties/{agentRef}/history` and the same for contacts: all events of one subject (PROTOCOL §11). */
import { feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { readHistory } from '../../feed/read-run.ts'
import { tenantOf } from '../authenticate.ts'
import type { HttpContext } from '../context.ts'
import { cursorSchemas, readCursorParameters, readSubject, refusalOfCursor } from '../cursor-parameters.ts'
import { feedHeaderSchemas } from '../feed-headers.ts'
import { answer, capital, keyedHeaders, feedReadProblems } from '../openapi-responses.ts'
import { refTo } from '../openapi-schemas.ts'
import type { Operation } from '../operation.ts'
import { success } from '../problem.ts'
import type { Refusal } from '../problem.ts'
import { sendRun } from '../send-run.ts'
import { sendProblem } from '../send.ts'
import { queryText } from '../target.ts'
import { subjectParams } from './get-subject.ts'

const names = ['after', 'limit', 'epoch'] as const

export function subjectHistory(context: HttpContext, feedName: FeedName): Operation {
  const feed = feeds[feedName]
  const { basePath, events, limits } = context
  return {
    method: 'GET',
    path: `${feed.subjectsPath}/:subjectId/history`,
    mediaType: 'application/json',
    access: { scope: feed.readScope, refusal: 'own' },
    schema: () => ({
      operationId: `read${capital(feedName)}History`,
      summary: `Read all events of a ${feedName}`,
      description: `Every event of the ${feedName} in ascending \`sequenceNumber\`; only the last one is current. Ask again with \`after\` = \`next\` until \`next\` has reached \`head\`.`,
      tags: ['Copying'],
      security: [{ apiKey: [] }],
      params: subjectParams(feedName),
      querystring: { type: 'object', properties: cursorSchemas(names, feedName, limits) },
      response: {
        [success.ok]: answer('The events.', refTo('EventRun'), { ...keyedHeaders, ...feedHeaderSchemas }),
        ...feedReadProblems(
          'missing_scope',
          'ambiguous_tenant',
          'subject_not_found',
          'cursor_beyond_head',
          'epoch_changed',
        ),
      },
    }),

    async handle(request, reply) {
      const refuse = (refusal: Refusal) => sendProblem(request, reply, basePath, refusal)
      const reading = readCursorParameters(queryText(request.originalUrl), names, feedName, limits)
      if (reading.kind === 'faults') return refuse({ code: 'invalid_parameter', errors: reading.errors })
      const subject = readSubject(request.params, feedName)
      if ('code' in subject) return refuse({ code: 'invalid_parameter', errors: [subject] })
      const key = { tenantId: tenantOf(request), feed: feedName }
      const run = await readHistory(events, { key, ...subject, ...reading.parameters })
      if (run.kind !== 'run') return refuse(refusalOfCursor(run))
      // Nothing behind a number: either the subject has caught up, or there is no such subject.
      if (run.events.length === 0 && (await events.readLatest(key, subject.subjectId)) === undefined) {
        return refuse({ code: 'subject_not_found' })
      }
      return sendRun(request, reply, run)
    },
  }
}
