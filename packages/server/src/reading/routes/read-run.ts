/** `GET /v1/property-events` and `/v1/contact-events`: events after a number (PROTOCOL §11). */
import { feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { filterAsShown } from '../representation/representation.ts'
import { readRun } from '../run.ts'
import { deliveredAfter } from '../../consumers/delivered.ts'
import { feedKeyOf } from '../../http/access.ts'
import { feedViewOf } from '../feed-view.ts'
import { cursorSchemas, hasWait, readCursorParameters } from './cursor-parameters.ts'
import { capital, feedHeaders } from '../../http/openapi/responses.ts'
import { feedOperation } from '../../http/keyed-operation.ts'
import type { Operation } from '../../http/operation.ts'
import { answerRun } from './answers.ts'
import { waitForRun } from '../../live/long-poll.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import type { LongPollContext } from '../../live/long-poll.ts'
import type { CursorRules } from './cursor-parameters.ts'

/** What reading a run needs. */
export interface EventRunContext extends CursorRules, LongPollContext {
  readonly limits: ServiceLimits
}

const names = ['after', 'limit', 'epoch', 'apiEventType', 'types', 'wait'] as const

export function readEventRun(context: EventRunContext, feedName: FeedName): Operation {
  const feed = feeds[feedName]
  const { events, limits } = context
  return feedOperation(feedName, {
    method: 'GET',
    path: feed.publishPath,
    waits: hasWait,
    operationId: `read${capital(feedName)}Events`,
    summary: `Read ${feedName} events after a number`,
    description:
      'The next events in ascending `sequenceNumber`. Repeat with `after` = `next`, and the `epoch`, `apiEventType` and `types` as before; nothing is left when `next` has reached `head`. With `wait`, the answer waits until there is an event, for at most that many seconds; an answer without events then costs no token. A greater `revision` than before means that payloads read earlier have been reduced.',
    query: { type: 'object', properties: cursorSchemas(names, feedName, limits) },
    ok: { description: 'The next events.', schema: 'EventRun' },
    headers: feedHeaders,
    problems: ['cursor_beyond_head', 'epoch_changed', 'too_many_waiting'],

    prepare({ query }) {
      const reading = readCursorParameters(query, names, feedName, context)
      if (reading.kind === 'refused') return () => reading
      return (request, access) => {
        const key = feedKeyOf(access, feedName)
        const { wait, after, types } = reading.parameters
        const seen = filterAsShown(types, context.formOf(access, feedName))
        const view = feedViewOf(access, reading.parameters.view)
        const query = { key, ...reading.parameters, view, types: seen }
        const route = wait === undefined ? 'run' : 'wait'
        const delivered = deliveredAfter({ key, view, after, route, isPart: seen !== undefined })
        const asked = { request, access, key, delivered }
        if (wait !== undefined) {
          const waitMs = Math.min(wait * 1_000, limits.longestWaitMs)
          return waitForRun(context, asked, query, waitMs)
        }
        return answerRun(context, asked, (take) => readRun(events, query, take))
      }
    },
  })
}
