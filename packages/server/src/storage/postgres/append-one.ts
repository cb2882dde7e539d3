/** A plan of one event as the arguments of `append_event_2`: the most frequent one, and none of its values is a list. */
import { eventJsonEnd, eventJsonMiddle, eventJsonStart } from '../event-json.ts'
import type { Statement, Value } from './connection.ts'
import { feedNumbers } from './feed-number.ts'
import { answerColumns } from './append-answer.ts'
import type { CallContext } from './append-call.ts'
import type { FeedPlan } from './plan-commit.ts'

export const appendOne: Statement = {
  name: 'append-event',
  text: `SELECT ${answerColumns} FROM append_event_2(${Array.from({ length: 22 }, (_, index) => `$${index + 1}`).join(', ')})`,
}

/** `undefined`: the plan holds anything but one event that was decided from its own id and its own subject. */
export function argumentsOfOne(feeds: readonly FeedPlan[], context: CallContext): Value[] | undefined {
  const [feed, ...others] = feeds
  const [row, ...more] = feed?.rows ?? []
  if (feed === undefined || row === undefined || others.length + more.length + feed.reserved.length > 0) {
    return undefined
  }
  const { reading, freeIds, knownSubjects, behind } = feed
  const { event } = row
  const known = knownSubjects.get(event.subjectId)
  const foreign = freeIds.size > 1 || knownSubjects.size > 1
  if (foreign || !freeIds.has(event.id) || known === undefined) return undefined
  return [
    reading.key.tenantId,
    feedNumbers[reading.key.feed],
    reading.revision,
    behind,
    event.id,
    event.subjectId,
    known,
    event.state.category,
    event.state.branch,
    event.state.code,
    event.state.published,
    event.contentHash,
    event.state.payloadHash,
    event.state.spelling,
    event.state.updateDateHash,
    event.wishedCreated ?? null,
    eventJsonStart(reading.key),
    eventJsonMiddle(event),
    eventJsonEnd,
    context.now ?? null,
    context.floor ?? null,
    context.clockToleranceTicks ?? null,
  ]
}
