/** The live subjects of a feed, by their references. */
import { standardCode } from '@property-events/protocol'
import { endsOf, numbersOf } from '../../live-subjects.ts'
import { partsOfView } from '../../branches/branch-view.ts'
import type { LiveQuery, LiveStep } from '../../live-subjects.ts'
import { bigints } from '../../../sql/postgres/array.ts'
import type { Reads } from '../../../sql/postgres/connection.ts'
import type { Row, Statement } from '../../../sql/postgres/session.ts'
import { feedNumbers } from '../../../sql/database.ts'

/**
 * A range of the primary key; no event is read. Position 0: its first event is being appended. Of a set of branches, one look into its own
 * key for each subject: a plain EXISTS may be answered by reading the whole table into a hash.
 */
export const liveSubjectsStatement: Statement = {
  name: 'live-subjects',
  text: `SELECT s.subject, s.position,
      s.position > 0 AND s.code <> $6 AND ($7::text IS NULL OR s.category = $7) AND ($9::text IS NULL OR l.subject IS NOT NULL) AS live
    FROM (
      SELECT subject, position, code, category FROM subject
      WHERE tenant = $1 AND feed = $2 AND subject >= $3::uuid AND subject <= $4::uuid AND subject IS DISTINCT FROM $5::uuid
      ORDER BY tenant, feed, subject LIMIT $8
    ) AS s
    LEFT JOIN LATERAL (
      SELECT b.subject FROM branch_latest b
      WHERE $9::text IS NOT NULL AND b.tenant = $1 AND b.feed = $2 AND b.subject = s.subject AND b.branch_set = $9 LIMIT 1
    ) AS l ON true
    ORDER BY s.subject`,
}
const numbersAt: Statement = {
  name: 'live-numbers',
  text: 'SELECT position, sequence FROM event WHERE tenant = $1 AND feed = $2 AND position = ANY ($3::bigint[])',
}

interface SubjectRow extends Row {
  readonly subject: string
  readonly position: string
  readonly live: boolean
}

interface NumberRow extends Row {
  readonly position: string
  readonly sequence: string
}

export async function readLiveSubjects(database: Reads, query: LiveQuery): Promise<LiveStep> {
  const { key, view, first, last, after = null, limit } = query
  const feed = feedNumbers[key.feed]
  const { set = null, category = null } = partsOfView(view)
  const asked = [
    key.tenantId,
    feed,
    after ?? first,
    last,
    after,
    standardCode(key.feed, 'gone'),
    category,
    limit,
    set,
  ]
  const rows = await database.read<SubjectRow>(liveSubjectsStatement, asked)
  const next = rows.length < limit ? undefined : rows.at(-1)?.subject
  const found = rows.flatMap(({ subject, position, live }) =>
    live ? [{ subjectId: subject, position: Number(position) }] : [],
  )
  const read = async (positions: readonly number[]): Promise<ReadonlyMap<number, number>> => {
    const numbers = await database.read<NumberRow>(numbersAt, [key.tenantId, feed, bigints(positions)])
    return new Map(numbers.map(({ position, sequence }) => [Number(position), Number(sequence)]))
  }
  const known = numbersOf(found, await read(endsOf(found)))
  if (known !== undefined) return { subjects: known, next }
  const numbers = await read(found.map(({ position }) => position))
  const subjects = found.map((one) => ({ ...one, sequenceNumber: numbers.get(one.position) ?? 0 }))
  return { subjects, next }
}
