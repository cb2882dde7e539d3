/** `GET /v1/heads`: the heads of the feeds that the key can read (PROTOCOL §11, §13.3). */
import { isToken, tokenPattern } from '../../live/state-token.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import { invalidParameters } from '../../http/exchange.ts'
import { hasWait, readWait, waitSchema } from './cursor-parameters.ts'
import { answer, keyedHeaders, keyedProblems } from '../../http/openapi/responses.ts'
import { refTo } from '../../http/openapi/schemas.ts'
import { success } from '../../http/problem/problem.ts'
import { quoteInput } from '../../http/requests/echo-text.ts'
import { readQuery } from '../../http/requests/query.ts'
import { headsAnswer, readableOf } from './heads-answer.ts'
import type { Operation, OperationSchema } from '../../http/operation.ts'
import { waitForHeads } from '../../live/wait-for-heads.ts'
import type { HeadsWaitContext } from '../../live/wait-for-heads.ts'

interface Context extends HeadsWaitContext {
  readonly limits: ServiceLimits
}

export function readHeads(context: Context): Operation {
  const { moved, limits } = context
  const rules = { names: ['since', 'wait'], style: 'own', maxParameters: limits.maxParameters } as const
  return {
    method: 'GET',
    path: '/v1/heads',
    mediaType: 'application/json',
    access: { scope: 'anyFeed', refusal: 'own' },
    schema: () => schema,
    waits: hasWait,

    prepare({ query }) {
      const { values, errors } = readQuery(query, rules)
      const since = values.get('since')
      const wait = readWait(values.get('wait'))
      const faults = [...errors]
      if (since !== undefined && !isToken(since)) faults.push(notToken(since))
      if (typeof wait === 'object') faults.push(wait)
      if (typeof wait === 'object' || faults.length > 0) return () => invalidParameters(...faults)
      return async (request, access) => {
        const readable = readableOf(access)
        if (wait === undefined) return headsAnswer(context, readable, await moved.since(since, readable))
        const waitMs = Math.min(wait * 1_000, limits.longestWaitMs)
        return waitForHeads(context, { request, access }, since, waitMs)
      }
    },
  }
}

const schema: OperationSchema = {
  operationId: 'readHeads',
  summary: 'Get the heads of the feeds',
  description:
    'One entry for each feed of each tenant that the key can read; with `since`, for each of those that have changed since. Cheap enough to ask often. With `wait` the answer waits until a feed has changed, for at most that many seconds, so a reader of thousands of feeds holds one connection. A key that reads nothing gets the feeds that it publishes to.',
  tags: ['Copying'],
  security: [{ apiKey: [] }],
  querystring: {
    type: 'object',
    properties: {
      since: {
        type: 'string',
        pattern: tokenPattern,
        description: 'The `next` of an earlier answer: only feeds that have changed after it.',
      },
      wait: waitSchema('a feed that has changed'),
    },
  },
  response: {
    [success.ok]: answer('The heads.', refTo('Heads'), keyedHeaders),
    ...keyedProblems('missing_scope', 'too_many_waiting'),
  },
}

function notToken(since: string) {
  const message = `${quoteInput(since)} is not the "next" of an answer of this operation. Leave it out for all feeds.`
  return { parameter: 'since', code: 'not_a_token', message }
}
