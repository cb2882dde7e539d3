/** `GET /v1/properties/{agentRef}/history` and the same for contacts: all events of one subject (PROTOCOL §11). */
import { feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { readHistory } from '../run.ts'
import type { EventRun } from '../run.ts'
import { deliveredEvents } from '../../consumers/delivered.ts'
import { feedKeyOf } from '../../http/access.ts'
import { refused } from '../../http/exchange.ts'
import { cursorSchemas } from './cursor-schemas.ts'
import { subjectParams } from '../../http/openapi/parameters.ts'
import {
  answer,
  capital,
  feedHeaderSchemas,
  feedReadProblems,
  keyedHeaders,
} from '../../http/openapi/responses.ts'
import { refTo } from '../../http/openapi/schemas.ts'
import { success } from '../../http/problem/problem.ts'
import { readCursorParameters, readSubject } from './cursor-parameters.ts'
import type { Operation } from '../../http/operation.ts'
import { answerRun } from './run-answer.ts'
import type { EventStore } from '../../events/event-log.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import type { CursorRules } from './cursor-parameters.ts'
import type { RunContext } from './run-answer.ts'

/** What the history of a subject needs. */
export interface HistoryContext extends RunContext, CursorRules {
  readonly events: EventStore
  readonly limits: ServiceLimits
}

const names = ['after', 'limit', 'epoch'] as const

export function subjectHistory(context: HistoryContext, feedName: FeedName): Operation {
  const feed = feeds[feedName]
  const { events, limits } = context
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
          feedName,
          'missing_scope',
          'ambiguous_tenant',
          'subject_not_found',
          'cursor_beyond_head',
          'epoch_changed',
        ),
      },
    }),

    prepare({ query, params }) {
      const reading = readCursorParameters(query, names, feedName, context)
      if (reading.kind === 'faults')
        return () => refused({ code: 'invalid_parameter', errors: reading.errors })
      const subject = readSubject(params[0], feedName)
      if ('code' in subject) return () => refused({ code: 'invalid_parameter', errors: [subject] })
      return (request, access) => {
        const key = feedKeyOf(access, feedName)
        const { branches } = access
        const query = { key, ...subject, ...reading.parameters, branches }
        const delivered = ({ events: items }: EventRun) => deliveredEvents(key, items, 'history')
        return answerRun(context, { request, access, key, delivered }, async (take) => {
          const run = await readHistory(events, query, take)
          if (run.kind !== 'run' || run.events.length > 0) return run
          // There is nothing after the number: either the reader has caught up, or there is no such subject.
          const isKnown = (await events.readLatest(key, subject.subjectId, branches)) !== undefined
          return isKnown ? run : refused({ code: 'subject_not_found' })
        })
      }
    },
  }
}
