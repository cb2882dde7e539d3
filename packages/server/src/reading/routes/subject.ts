/** `GET /v1/properties/{agentRef}/history` and the same for contacts: all events of one subject (PROTOCOL §11). */
import { feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { withChanges } from '../history-changes.ts'
import { readHistory } from '../run.ts'
import type { EventRun } from '../run.ts'
import { deliveredEvents } from '../../consumers/delivered.ts'
import { feedKeyOf } from '../../http/access.ts'
import { refused, invalidParameters } from '../../http/exchange.ts'
import { cursorSchemas, readCursorParameters, readSubject } from './cursor-parameters.ts'
import type { CursorRules } from './cursor-parameters.ts'
import { subjectParams } from '../../http/openapi/parameters.ts'
import {
  answer,
  capital,
  feedHeaders,
  feedReadProblems,
  notModified,
  taggedHeaders,
} from '../../http/openapi/responses.ts'
import { refTo } from '../../http/openapi/schemas.ts'
import { success } from '../../http/problem/problem.ts'
import { feedOperation } from '../../http/keyed-operation.ts'
import type { Operation } from '../../http/operation.ts'
import { answerRun, eventAnswer } from './answers.ts'
import type { RunContext } from './answers.ts'
import type { EventStore } from '../../events/event-log.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import { represent } from '../representation/representation.ts'
import type { RepresentationOf } from '../representation/representation.ts'
import { disclosedEvents } from '../../privacy/disclosure/disclosure.ts'
import { preferredCoding } from '../../http/requests/accept.ts'
import { contentTag } from '../../http/requests/entity-tag.ts'
import { withoutParameters } from '../../http/requests/query.ts'
import { ownBody } from '../../http/answer-body.ts'

/** `GET /v1/properties/{agentRef}` and `/v1/contacts/{contactRef}`: the latest event of one subject (PROTOCOL §11). */

/** What getting a subject needs. */
export interface SubjectContext {
  readonly events: EventStore
  readonly formOf: RepresentationOf
  readonly limits: ServiceLimits
}

export function getSubject(context: SubjectContext, feedName: FeedName): Operation {
  const feed = feeds[feedName]
  return {
    method: 'GET',
    path: `${feed.subjectsPath}/:subjectId`,
    mediaType: 'application/json',
    // A property is also readable by its publisher, to whom nothing in it is new.
    access: {
      scope: feed.readScope,
      ...(feedName === 'property' ? { orScope: feed.publishScope } : {}),
      refusal: 'own',
    },
    schema: () => ({
      operationId: `get${capital(feedName)}`,
      summary: `Get the latest event of a ${feedName}`,
      description: `The event that says how the ${feedName} is now, even if it was removed, as in the list.${feedName === 'property' ? ' A key that publishes properties may read it, too.' : ''}`,
      tags: ['Copying'],
      security: [{ apiKey: [] }],
      params: subjectParams(feedName),
      response: {
        [success.ok]: answer('The latest event.', refTo('FeedEvent'), taggedHeaders),
        [success.notModified]: notModified(taggedHeaders),
        ...feedReadProblems(feedName, 'missing_scope', 'ambiguous_tenant', 'subject_not_found'),
      },
    }),

    prepare: withoutParameters(context.limits, ([given]) => {
      const subject = readSubject(given, feedName)
      if ('code' in subject) return () => invalidParameters(subject)
      return async (request, access) => {
        const key = feedKeyOf(access, feedName)
        const event = await context.events.readLatest(key, subject.subjectId, access.branches)
        if (event === undefined) return refused({ code: 'subject_not_found' })
        const json = represent(event.json, context.formOf(access, feedName))
        const coding = preferredCoding(request.header('accept-encoding'))
        const etag = contentTag(json, coding)
        const recorded = {
          sent: disclosedEvents(key, [event]),
          delivered: deliveredEvents(key, [event], 'latest'),
        }
        return eventAnswer(request, ownBody(json), etag, coding, recorded)
      }
    }),
  }
}

/** What the history of a subject needs. */
export interface HistoryContext extends RunContext, CursorRules {
  readonly events: EventStore
  readonly limits: ServiceLimits
}

const names = ['after', 'limit', 'epoch', 'changes'] as const

export function subjectHistory(context: HistoryContext, feedName: FeedName): Operation {
  const { events, limits } = context
  return feedOperation(feedName, {
    method: 'GET',
    path: `${feeds[feedName].subjectsPath}/:subjectId/history`,
    operationId: `read${capital(feedName)}History`,
    summary: `Read all events of a ${feedName}`,
    description: `Every event of the ${feedName} in ascending \`sequenceNumber\`; only the last one is current. Ask again with \`after\` = \`next\` until \`next\` has reached \`head\`. With \`changes=true\`, each says what it changed.`,
    params: subjectParams(feedName),
    query: { type: 'object', properties: cursorSchemas(names, feedName, limits) },
    ok: { description: 'The events.', schema: 'History' },
    headers: feedHeaders,
    problems: ['subject_not_found', 'cursor_beyond_head', 'epoch_changed'],

    prepare({ query, params }) {
      const reading = readCursorParameters(query, names, feedName, context)
      if (reading.kind === 'refused') return () => reading
      const subject = readSubject(params[0], feedName)
      if ('code' in subject) return () => invalidParameters(subject)
      return (request, access) => {
        const key = feedKeyOf(access, feedName)
        const { branches } = access
        const { after, changes } = reading.parameters
        const query = { key, ...subject, ...reading.parameters, branches }
        const delivered = ({ events: items }: EventRun) => deliveredEvents(key, items, 'history')
        // With changes, the events have their form already.
        const answering = changes ? { ...context, formOf: () => undefined } : context
        return answerRun(answering, { request, access, key, delivered }, async (take) => {
          const run = await readHistory(events, query, take)
          if (run.kind === 'run' && run.events.length > 0 && changes) {
            const before =
              after === 0 ? undefined : await events.readLatest(key, subject.subjectId, branches, after)
            return withChanges(run, before, context.formOf(access, feedName), take)
          }
          if (run.kind !== 'run' || run.events.length > 0) return run
          // There is nothing after the number: either the reader has caught up, or there is no such subject.
          const isKnown = (await events.readLatest(key, subject.subjectId, branches)) !== undefined
          return isKnown ? run : refused({ code: 'subject_not_found' })
        })
      }
    },
  })
}
