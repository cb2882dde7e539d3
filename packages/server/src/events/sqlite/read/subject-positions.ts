/** Where the events of a subject are, and whose the events of a range are, without reading an event. */
import { bytesOfUuid, uuidOfBytes } from '@property-events/protocol/plain'
import type { NumberedSubject, EventPosition, SubjectPositionsQuery, SubjectsQuery } from '../../event-log.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { feedReader } from '../feed-row.ts'
import { positionFinder } from './read-after.ts'

export const placesOfStatement = `SELECT place & 0xffffffffff AS position, sequence AS sequenceNumber FROM event INDEXED BY event_subject
  WHERE feed_no = @feedNo AND subject = @subject AND place > (@feedNo << 40) | @after ORDER BY place LIMIT @limit`

export function subjectPositionsReader(
  db: Connection,
): (query: SubjectPositionsQuery) => readonly EventPosition[] {
  const feedOf = feedReader(db)
  const select = db.prepare<[object], EventPosition>(placesOfStatement)
  return ({ key, subjectId, after, limit }) => {
    const feedNo = feedOf(key)?.feedNo
    return feedNo === undefined ? [] : select.all({ feedNo, subject: bytesOfUuid(subjectId), after, limit })
  }
}

export function subjectsReader(db: Connection): (query: SubjectsQuery) => readonly NumberedSubject[] {
  const feedOf = feedReader(db)
  const positionOf = positionFinder(db)
  const select = db.prepare<
    [number, number, number, number],
    { position: number; sequence: number; subject: Buffer }
  >(
    `SELECT place & 0xffffffffff AS position, sequence, subject FROM event
      WHERE place >= (? << 40) | ? AND place <= (? << 40) | ? ORDER BY place`,
  )
  return db.transaction(({ key, view, range: [first, last] }: SubjectsQuery) => {
    const feed = feedOf(key)
    if (feed === undefined) return []
    const isNumbers = view === 'numbers'
    const from = isNumbers ? positionOf(feed, first - 1) + 1 : first
    const to = Math.min(isNumbers ? positionOf(feed, last) : last, feed.lastPosition)
    return select.all(feed.feedNo, from, feed.feedNo, to).map(({ position, sequence, subject }) => {
      return { number: isNumbers ? sequence : position, subjectId: uuidOfBytes(subject) }
    })
  })
}
