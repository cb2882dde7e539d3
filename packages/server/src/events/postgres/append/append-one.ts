/** A plan of one event as a call of `append_event`. This is the most frequent call, and none of its values is a list. */
import type { EventRow } from '../../append/decide-append.ts'
import { eventJsonEnd, eventJsonMiddle, eventJsonStart } from '../../event-json.ts'
import { answerColumns, contextParameters } from './append-answer.ts'
import type { CallContext } from './append-answer.ts'
import { feedNumbers } from '../../../sql/database.ts'
import { functionCall } from '../../../sql/postgres/function-call.ts'
import type { FeedReading } from './feed-state.ts'
import type { FeedPlan } from './plan-commit.ts'

/** One event that was decided from its own id and its own subject. */
export interface PlannedEvent {
  readonly reading: FeedReading
  readonly isClockBehind: boolean
  readonly event: EventRow['event']
  /** The position of its subject's latest event; 0 for none. */
  readonly known: number
  readonly context: CallContext
}

export const appendOne = functionCall<PlannedEvent>(
  'append-event',
  'append_event',
  {
    of_tenant: { type: 'uuid', value: ({ reading }) => reading.key.tenantId },
    of_feed: { type: 'smallint', value: ({ reading }) => feedNumbers[reading.key.feed] },
    of_revision: { type: 'bigint', value: ({ reading }) => reading.revision },
    was_behind: { type: 'boolean', value: ({ isClockBehind }) => isClockBehind },
    new_id: { type: 'uuid', value: ({ event }) => event.id },
    of_subject: { type: 'uuid', value: ({ event }) => event.subjectId },
    known_position: { type: 'bigint', value: ({ known }) => known },
    new_category: { type: 'text', value: ({ event }) => event.state.category },
    new_branch: { type: 'text', value: ({ event }) => event.state.branch },
    new_code: { type: 'text', value: ({ event }) => event.state.code },
    new_published: { type: 'boolean', value: ({ event }) => event.state.published },
    new_content_hash: { type: 'bytea', value: ({ event }) => event.contentHash },
    new_payload_hash: { type: 'bytea', value: ({ event }) => event.state.payloadHash },
    new_spelling: { type: 'text', value: ({ event }) => event.state.spelling },
    new_update_date_hash: { type: 'bytea', value: ({ event }) => event.state.updateDateHash },
    wish: { type: 'bigint', value: ({ event }) => event.wishedCreated ?? null },
    json_before: { type: 'text', value: ({ reading }) => eventJsonStart(reading.key) },
    json_piece: { type: 'text', value: ({ event }) => eventJsonMiddle(event) },
    json_after: { type: 'text', value: () => eventJsonEnd },
    ...contextParameters,
  },
  answerColumns,
)

/** `undefined`: the plan holds anything other than one such event. */
export function plannedEvent(feeds: readonly FeedPlan[], context: CallContext): PlannedEvent | undefined {
  const [feed, ...others] = feeds
  const [row, ...more] = feed?.rows ?? []
  if (feed === undefined || row === undefined || others.length + more.length + feed.reserved.length > 0) {
    return undefined
  }
  const { reading, freeIds, knownSubjects, isClockBehind } = feed
  const { event } = row
  const known = knownSubjects.get(event.subjectId)
  const foreign = freeIds.size > 1 || knownSubjects.size > 1
  if (foreign || !freeIds.has(event.id) || known === undefined) return undefined
  return { reading, isClockBehind, event, known, context }
}
