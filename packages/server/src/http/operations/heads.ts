/** `GET /v1/heads`: where the feeds stand that the key can read (PROTOCOL §11). */
import { feedNames, feeds, formatTicks } from '@property-events/protocol'
import type { FeedKey } from '../../storage/storage.ts'
import type { HttpContext } from '../context.ts'
import { refused } from '../exchange.ts'
import { answer, keyedHeaders, keyedProblems } from '../openapi/responses.ts'
import { refTo } from '../openapi/schemas.ts'
import { success } from '../problem.ts'
import { refusalOfParameters } from '../requests/query.ts'
import { jsonHeaders } from './answers.ts'
import type { Operation } from './operation.ts'

export function readHeads(context: HttpContext): Operation {
  const { events, limits } = context
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

    prepare({ query }) {
      const refusal = refusalOfParameters(query, limits.maxParameters)
      if (refusal !== undefined) return () => refused(refusal)
      return async (_request, { grants }) => {
        const readable = grants.flatMap(({ tenantId, scopes }) =>
          feedNames
            .filter((feed) => scopes.includes(feeds[feed].readScope))
            .map((feed) => ({ tenantId, feed })),
        )
        const heads = await Promise.all(readable.map((key) => headOf(events, key)))
        const body = JSON.stringify({ heads: heads.filter((head) => head !== undefined) })
        return { kind: 'text', status: success.ok, headers: jsonHeaders, body }
      }
    },
  }
}

/** `undefined`: there is no such tenant any more. */
async function headOf(events: HttpContext['events'], key: FeedKey) {
  const head = await events.head(key)
  if (head === undefined) return undefined
  const { sequenceNumber, created, epoch, revision } = head
  const createdDate = created === undefined ? null : formatTicks(created)
  return { ...key, sequenceNumber, createdDate, epoch, revision }
}
