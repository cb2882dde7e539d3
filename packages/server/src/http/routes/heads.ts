/** `GET /v1/heads`: where the feeds stand that the key can read (PROTOCOL §11). */
import { feedNames, feeds, formatTicks } from '@property-events/protocol'
import { grantsOf } from '../authenticate.ts'
import type { HttpContext } from '../context.ts'
import { answer, keyedHeaders, keyedProblems } from '../openapi-responses.ts'
import { refTo } from '../openapi-schemas.ts'
import type { Operation } from '../operation.ts'
import { cacheHeaders } from '../page-response.ts'
import { success } from '../problem.ts'
import { refusalOfParameters } from '../query.ts'
import { sendProblem } from '../send.ts'
import { queryText } from '../target.ts'

export function readHeads(context: HttpContext): Operation {
  const { basePath, events, limits } = context
  return {
    method: 'GET',
    path: '/v1/heads',
    mediaType: 'application/json',
    access: { scope: 'anyRead', refusal: 'own' },
    schema: () => ({
      operationId: 'readHeads',
      summary: 'Read where the feeds stand',
      description:
        'One entry for each feed of each tenant that the key can read. Cheap: good for asking often.',
      tags: ['Copying'],
      security: [{ apiKey: [] }],
      response: {
        [success.ok]: answer('The heads.', refTo('Heads'), keyedHeaders),
        ...keyedProblems('missing_scope'),
      },
    }),

    async handle(request, reply) {
      const refusal = refusalOfParameters(queryText(request.originalUrl), limits.maxParameters)
      if (refusal !== undefined) return sendProblem(request, reply, basePath, refusal)
      const readable = grantsOf(request).flatMap(({ tenantId, scopes }) =>
        feedNames
          .filter((feed) => scopes.includes(feeds[feed].readScope))
          .map((feed) => ({ tenantId, feed })),
      )
      const heads = []
      for (const key of readable) {
        const head = await events.head(key)
        if (head === undefined) continue
        heads.push({
          ...key,
          sequenceNumber: head.sequenceNumber,
          createdDate: head.created === undefined ? null : formatTicks(head.created),
          epoch: head.epoch,
          revision: head.revision,
        })
      }
      reply.headers({ ...cacheHeaders, 'content-type': 'application/json' })
      return reply.send(Buffer.from(JSON.stringify({ heads })))
    },
  }
}
