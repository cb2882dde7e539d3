/** `GET /v1/heads`: where the feeds stand that the key can read (PROTOCOL §11). */
import { feedNames, feeds, formatTicks } from '@property-events/protocol'
import { isToken, readableFeeds } from '../../feed/moved-feeds.ts'
import type { ReadableFeeds } from '../../feed/moved-feeds.ts'
import type { FeedKey, Grant, Head } from '../../storage/storage.ts'
import type { HttpContext } from '../context.ts'
import { refused } from '../exchange.ts'
import { answer, keyedHeaders, keyedProblems } from '../openapi/responses.ts'
import { refTo } from '../openapi/schemas.ts'
import { success } from '../problem.ts'
import { quoteInput } from '../requests/echo-text.ts'
import { readQuery } from '../requests/query.ts'
import { jsonHeaders } from './answers.ts'
import type { Operation, OperationSchema } from './operation.ts'

export function readHeads(context: HttpContext): Operation {
  const { events, moved, limits } = context
  const rules = { names: ['since'], style: 'own', maxParameters: limits.maxParameters } as const
  return {
    method: 'GET',
    path: '/v1/heads',
    mediaType: 'application/json',
    access: { scope: 'anyRead', refusal: 'own' },
    schema: () => schema,

    prepare({ query }) {
      const { values, errors } = readQuery(query, rules)
      const since = values.get('since')
      const faults = since === undefined || isToken(since) ? errors : [...errors, notToken(since)]
      if (faults.length > 0) return () => refused({ code: 'invalid_parameter', errors: faults })
      return async (_request, { grants }) => {
        const { keys, next } = await moved.since(since, readableOf(grants))
        const heads = await events.heads(keys)
        const shown = keys.flatMap((key, index) => shownHead(key, heads[index]))
        const body = JSON.stringify({ heads: shown, next })
        return { kind: 'text', status: success.ok, headers: jsonHeaders, body }
      }
    },
  }
}

const schema: OperationSchema = {
  operationId: 'readHeads',
  summary: 'Read where the feeds stand',
  description:
    'One entry for each feed of each tenant that the key can read; with `since`, for each of those that have changed since. Cheap: good for asking often.',
  tags: ['Copying'],
  security: [{ apiKey: [] }],
  querystring: {
    type: 'object',
    properties: {
      since: {
        type: 'string',
        pattern: '^[0-9a-z]{1,20}(-[0-9a-z]{1,7}){2}$',
        description: 'The `next` of an earlier answer: only feeds that have changed after it.',
      },
    },
  },
  response: {
    [success.ok]: answer('The heads.', refTo('Heads'), keyedHeaders),
    ...keyedProblems('missing_scope'),
  },
}

/** A key's grants are one object for as long as the key is as it was. */
const readable = new WeakMap<readonly Grant[], ReadableFeeds>()

function readableOf(grants: readonly Grant[]): ReadableFeeds {
  const known = readable.get(grants)
  if (known !== undefined) return known
  const made = readableFeeds(
    grants.flatMap(({ tenantId, scopes }) =>
      feedNames.filter((feed) => scopes.includes(feeds[feed].readScope)).map((feed) => ({ tenantId, feed })),
    ),
  )
  readable.set(grants, made)
  return made
}

function notToken(since: string) {
  const message = `${quoteInput(since)} is not the "next" of an answer of this operation. Leave it out for all feeds.`
  return { parameter: 'since', code: 'not_a_token', message }
}

/** None: there is no such tenant any more. */
function shownHead(key: FeedKey, head: Head | undefined) {
  if (head === undefined) return []
  const { sequenceNumber, created, epoch, revision } = head
  const createdDate = created === undefined ? null : formatTicks(created)
  return [{ ...key, sequenceNumber, createdDate, epoch, revision }]
}
