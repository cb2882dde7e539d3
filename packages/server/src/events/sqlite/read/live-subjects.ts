/** The live subjects of a feed, by their references. */
import { bytesOfUuid, standardCode, uuidOfBytes } from '@property-events/protocol/plain'
import { endsOf, numbersOf } from '../../live-subjects.ts'
import { partsOfView } from '../../branches/branch-view.ts'
import type { LiveQuery, LiveStep } from '../../live-subjects.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { feedNumbers, sequenceReader } from '../feed-row.ts'

/** A range of the primary key; no event is read. Of a set of branches, one look into its own key for each subject. */
export const liveSubjectsStatement = `SELECT subject, position,
    code <> @gone AND (@category IS NULL OR category = @category) AND (@set IS NULL OR EXISTS (
      SELECT 1 FROM branch_latest AS l
      WHERE l.feed_no = subject.feed_no AND l.subject = subject.subject AND l.branch_set = CAST(@set AS TEXT))) AS live
  FROM subject
  WHERE feed_no = CAST(@feed AS INTEGER) AND subject >= CAST(@first AS BLOB) AND subject <= CAST(@last AS BLOB)
    AND subject <> CAST(@after AS BLOB)
  ORDER BY subject LIMIT CAST(@limit AS INTEGER)`

interface SubjectRow {
  readonly subject: Uint8Array
  readonly position: number
  readonly live: 0 | 1
}

export function liveReader(db: Connection): (query: LiveQuery) => LiveStep {
  const feedNoOf = feedNumbers(db)
  const select = db.prepare<[object], SubjectRow>(liveSubjectsStatement)
  const numberAt = sequenceReader(db)
  return db.transaction((query: LiveQuery): LiveStep => {
    const { key, view, first, last, after, limit } = query
    const feed = feedNoOf(key)
    if (feed === undefined) return { subjects: [], next: undefined }
    const { set = null, category = null } = partsOfView(view)
    const rows = select.all({
      feed,
      // A single lower end, so that the search begins there.
      first: bytesOfUuid(after ?? first),
      last: bytesOfUuid(last),
      after: after === undefined ? new Uint8Array() : bytesOfUuid(after),
      gone: standardCode(key.feed, 'gone'),
      category,
      set,
      limit,
    })
    const end = rows.at(-1)
    const found = rows.flatMap(({ subject, position, live }) =>
      live === 1 ? [{ subjectId: uuidOfBytes(subject), position }] : [],
    )
    const read = (position: number): number => numberAt(feed, position) ?? 0
    const ends = new Map(endsOf(found).map((position) => [position, read(position)]))
    return {
      subjects:
        numbersOf(found, ends) ?? found.map((one) => ({ ...one, sequenceNumber: read(one.position) })),
      next: end === undefined || rows.length < limit ? undefined : uuidOfBytes(end.subject),
    }
  })
}
