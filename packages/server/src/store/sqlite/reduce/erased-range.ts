/** What an erasure will reduce, determined before anything is appended: a subject's events, or one event. */
import { bytesOfUuid, uuidOfBytes } from '@property-events/protocol/plain'
import type { ErasureRefusal, ErasureTarget } from '../../../privacy/erasure/erasure.ts'
import type { FeedKey } from '../../../events/feed-key.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { feedToPublishReader } from '../../../events/sqlite/feed-row.ts'
import type { FeedToPublish } from '../../../events/sqlite/feed-row.ts'
import { activeHold, onHoldOf } from '../../../privacy/hold/store.ts'
import { statementRunner } from '../../../sql/sqlite.ts'
import { latestKeptReader } from '../../../events/sqlite/kept-events.ts'

interface ErasedRange {
  readonly feed: FeedToPublish
  readonly firstPosition: number
  readonly lastPosition: number
  readonly events: number
}

export function erasedRangeReader(
  db: Connection,
  nowMs: () => number,
): (key: FeedKey, target: ErasureTarget) => ErasedRange | ErasureRefusal {
  const feedOf = feedToPublishReader(db)
  const run = statementRunner(db)
  const latestKept = latestKeptReader(db)
  // Uses only the index: 100,000 events of a subject take some milliseconds.
  const countEvents = db
    .prepare<[number, Uint8Array], number>(
      'SELECT count(*) FROM event INDEXED BY event_subject WHERE feed_no = ? AND subject = ?',
    )
    .pluck()
  const findEvent = db.prepare<
    [number, Uint8Array],
    { position: number; latest: number; subject: Uint8Array }
  >(
    `SELECT event_id.position, subject.position AS latest, event.subject FROM event_id
      JOIN event ON event.place = (event_id.feed_no << 40) | event_id.position AND event.id = event_id.id
      JOIN subject ON subject.feed_no = event_id.feed_no AND subject.subject = event.subject
      WHERE event_id.feed_no = ? AND event_id.id = ?`,
  )
  return (key, target) => {
    const feed = feedOf(key)
    if (feed === undefined) return { kind: 'unknownFeed' }
    if (target.kind === 'subject') {
      const events = countEvents.get(feed.feedNo, bytesOfUuid(target.subjectId)) ?? 0
      if (events === 0) return { kind: 'unknownTarget' }
      const onHold = onHoldOf(run(activeHold(key, target.subjectId, nowMs())))
      if (onHold !== undefined) return onHold
      return { feed, firstPosition: 1, lastPosition: feed.lastPosition, events }
    }
    const event = findEvent.get(feed.feedNo, bytesOfUuid(target.eventId))
    if (event === undefined) return { kind: 'unknownTarget' }
    const { position, latest } = event
    // For a restricted contact, a later event is shown in its place, which does not show the contact's state.
    const kept = latestKept(feed.feedNo, event.subject)?.position
    if (position === latest || position === kept) return { kind: 'eventIsLatest' }
    const onHold = onHoldOf(run(activeHold(key, uuidOfBytes(event.subject), nowMs())))
    if (onHold !== undefined) return onHold
    return { feed, firstPosition: position, lastPosition: position, events: 1 }
  }
}
