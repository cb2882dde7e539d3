/** `GET /v1/property-events` and `/v1/contact-events`: events behind a number (PROTOCOL §11). */
import { feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { readRun } from '../../feed/read-run.ts'
import { tenantOf } from '../authenticate.ts'
import type { HttpContext } from '../context.ts'
import { cursorSchemas, readCursorParameters, refusalOfCursor } from '../cursor-parameters.ts'
import { feedHeaderSchemas } from '../feed-headers.ts'
import { answer, capital, keyedHeaders, feedReadProblems } from '../openapi-responses.ts'
import { refTo } from '../openapi-schemas.ts'
import type { Operation } from '../operation.ts'
import { success } from '../problem.ts'
import { sendRun } from '../send-run.ts'
import { sendProblem } from '../send.ts'
import { queryText } from '../target.ts'

const names = ['after', 'limit', 'epoch', 'apiEventType'] as const

export function readEventRun(context: HttpContext, feedName: FeedName): Operation {
  const feed = feeds[feedName]
  const { basePath, events, limits } = context
  return {
    method: 'GET',
    path: feed.publishPath,
    mediaType: 'application/json',
    access: { scope: feed.readScope, refusal: 'own' },
    schema: () => ({
      operationId: `read${capital(feedName)}Events`,
      summary: `Read ${feedName} events behind a number`,
      description:
        'The next events in ascending `sequenceNumber`. Ask again with `after` = `next`, and the `epoch` and `apiEventType` as before; nothing is left when `next` has reached `head`. A greater `revision` than before tells that payloads read earlier have been reduced.',
      tags: ['Copying'],
      security: [{ apiKey: [] }],
      querystring: { type: 'object', properties: cursorSchemas(names, feedName, limits) },
      response: {
        [success.ok]: answer('The next events.', refTo('EventRun'), {
          ...keyedHeaders,
          ...feedHeaderSchemas,
        }),
        ...feedReadProblems('missing_scope', 'ambiguous_tenant', 'cursor_beyond_head', 'epoch_changed'),
      },
    }),

    async handle(request, reply) {
      const reading = readCursorParameters(queryText(request.originalUrl), names, feedName, limits)
      if (reading.kind === 'faults') {
        return sendProblem(request, reply, basePath, { code: 'invalid_parameter', errors: reading.errors })
      }
      const key = { tenantId: tenantOf(request), feed: feedName }
      const run = await readRun(events, { key, ...reading.parameters })
      if (run.kind !== 'run') return sendProblem(request, reply, basePath, refusalOfCursor(run))
      return sendRun(request, reply, run)
    },
  }
}
