/** What a feed shows now, by the references of its subjects. */
import { bytesOfUuid, standardCodes, uuidOfBytes } from '@property-events/protocol/plain'
import { endsOf, numbersOf } from '../live-subjects.ts'
import type { LiveQuery, LiveSubject } from '../live-subjects.ts'
import type { Connection } from './connection.ts'
import { feedNumbers } from './feed-row.ts'

/** A range of the primary key; no event is read. */
export const liveSubjectsStatement = `SELECT subject, position FROM subject
  WHERE feed_no = CAST(@feed AS INTEGER) AND subject >= CAST(@first AS BLOB) AND subject <= CAST(@last AS BLOB)
    AND subject <> CAST(@after AS BLOB) AND code <> @gone AND (@category IS NULL OR category = @category)
  ORDER BY subject LIMIT CAST(@limit AS INTEGER)`

interface SubjectRow {
  readonly subject: Uint8Array
  readonly position: number
}

export function liveReader(db: Connection): (query: LiveQuery) => readonly LiveSubject[] {
  const feedNoOf = feedNumbers(db)
  const select = db.prepare<[object], SubjectRow>(liveSubjectsStatement)
  const numberAt = db
    .prepare<[number, number], number>('SELECT sequence FROM event WHERE place = (? << 40) | ?')
    .pluck()
  return db.transaction((query: LiveQuery): readonly LiveSubject[] => {
    const { key, view, first, last, after, limit } = query
    const feed = feedNoOf(key)
    if (feed === undefined) return []
    const rows = select.all({
      feed,
      // One lower end alone: the search begins there.
      first: bytesOfUuid(after ?? first),
      last: bytesOfUuid(last),
      after: after === undefined ? new Uint8Array() : bytesOfUuid(after),
      gone: standardCodes[key.feed].gone,
      category: view === 'all' ? null : view,
      limit,
    })
    const found = rows.map(({ subject, position }) => ({ subjectId: uuidOfBytes(subject), position }))
    const read = (position: number): number => numberAt.get(feed, position) ?? 0
    const ends = new Map(endsOf(found).map((position) => [position, read(position)]))
    return (
      numbersOf(found, ends) ??
      found.map(({ subjectId, position }) => ({ subjectId, sequenceNumber: read(position) }))
    )
  })
}
