/** `GET /v1/property-events/reduced` and the same for contacts: which events lost their payloads (PROTOCOL §11.6). */
import { feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { refused } from '../../http/exchange.ts'
import { feedKeyOf } from '../../http/access.ts'
import {
  cursorSchemas,
  readCursorParameters,
  refusalOfCursor,
} from '../../reading/routes/cursor-parameters.ts'
import { capital, feedHeaders } from '../../http/openapi/responses.ts'
import { feedOperation } from '../../http/keyed-operation.ts'
import { jsonHeaders } from '../../reading/routes/answers.ts'
import { ownBody } from '../../http/answer-body.ts'
import type { Operation } from '../../http/operation.ts'
import type { EventStore } from '../../events/event-log.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import type { ErasureStore } from '../erasure/erasure.ts'
import type { CursorRules } from '../../reading/routes/cursor-parameters.ts'

/** What listing reductions needs. */
export interface ReductionsContext extends CursorRules {
  readonly erasures: ErasureStore
  readonly events: EventStore
  readonly limits: ServiceLimits
}

const names = ['after', 'limit', 'epoch'] as const

export function readReductions(context: ReductionsContext, feedName: FeedName): Operation {
  const feed = feeds[feedName]
  const { erasures, events, limits } = context
  const { after, ...others } = cursorSchemas(names, feedName, limits)
  const revision = {
    type: 'integer',
    ...after,
    description: 'Only what was reduced with a greater revision of the feed.',
  }
  return feedOperation(feedName, {
    method: 'GET',
    path: `${feed.publishPath}/reduced`,
    operationId: `readReduced${capital(feedName)}Events`,
    summary: `Read which ${feedName} events were reduced`,
    description:
      'For copies that keep the history of a feed: the numbers of the events whose payloads were reduced, by the revision of the feed since then. Repeat with `after` = `next` until `next` has reached `revision`. A copy of the latest events needs none of it.',
    query: { type: 'object', properties: { after: revision, ...others } },
    ok: { description: 'What was reduced.', schema: 'ReducedEvents' },
    headers: feedHeaders,
    problems: ['cursor_beyond_head', 'epoch_changed'],

    prepare({ query }) {
      const reading = readCursorParameters(query, names, feedName, context)
      if (reading.kind === 'refused') return () => reading
      const { after, limit, epoch } = reading.parameters
      return async (_request, access) => {
        const key = feedKeyOf(access, feedName)
        // Read before the reductions: those after this revision come with the next request.
        const head = await events.head(key)
        if (head === undefined) return refused({ code: 'key_disabled' })
        if (epoch !== undefined && epoch !== head.epoch)
          return refused(refusalOfCursor({ kind: 'epochChanged', head }))
        if (after > head.revision) {
          const detail = `The feed's revision is ${head.revision}: read all of it again.`
          return refused({ code: 'cursor_beyond_head', detail })
        }
        const found = await erasures.reductions(key, after, limit, access.branches)
        const items = found.filter(({ revision }) => revision <= head.revision)
        const next = items.at(-1)?.revision ?? head.revision
        const body = JSON.stringify({ items, next, revision: head.revision, epoch: head.epoch })
        const bytes = ownBody(Buffer.from(body))
        return {
          kind: 'pieces',
          headers: jsonHeaders,
          etag: undefined,
          feed: head,
          body: bytes,
          coding: 'identity',
        }
      }
    },
  })
}
