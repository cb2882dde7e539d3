/** What a feed shows now, by the references of its subjects. */
import { standardCodes } from '@property-events/protocol'
import { endsOf, numbersOf } from '../live-subjects.ts'
import type { LiveQuery, LiveSubject } from '../live-subjects.ts'
import { bigints } from './array.ts'
import type { Database, Row, Statement } from './connection.ts'
import { feedNumbers } from './feed-number.ts'

/** A range of the primary key; no event is read. Position 0: its first event is being appended. */
export const liveSubjectsStatement: Statement = {
  name: 'live-subjects',
  text: `SELECT subject, position FROM subject
    WHERE tenant = $1 AND feed = $2 AND subject >= $3::uuid AND subject <= $4::uuid AND subject IS DISTINCT FROM $5::uuid
      AND position > 0 AND code <> $6 AND ($7::text IS NULL OR category = $7)
    ORDER BY tenant, feed, subject LIMIT $8`,
}
const numbersAt: Statement = {
  name: 'live-numbers',
  text: 'SELECT position, sequence FROM event WHERE tenant = $1 AND feed = $2 AND position = ANY ($3::bigint[])',
}

interface SubjectRow extends Row {
  readonly subject: string
  readonly position: string
}

interface NumberRow extends Row {
  readonly position: string
  readonly sequence: string
}

export async function readLiveSubjects(
  database: Database,
  query: LiveQuery,
): Promise<readonly LiveSubject[]> {
  const { key, view, first, last, after = null, limit } = query
  const feed = feedNumbers[key.feed]
  const category = view === 'all' ? null : view
  const asked = [
    key.tenantId,
    feed,
    after ?? first,
    last,
    after,
    standardCodes[key.feed].gone,
    category,
    limit,
  ]
  const rows = await database.read<SubjectRow>(liveSubjectsStatement, asked)
  const found = rows.map(({ subject, position }) => ({ subjectId: subject, position: Number(position) }))
  const read = async (positions: readonly number[]): Promise<ReadonlyMap<number, number>> => {
    const numbers = await database.read<NumberRow>(numbersAt, [key.tenantId, feed, bigints(positions)])
    return new Map(numbers.map(({ position, sequence }) => [Number(position), Number(sequence)]))
  }
  const known = numbersOf(found, await read(endsOf(found)))
  if (known !== undefined) return known
  const numbers = await read(found.map(({ position }) => position))
  return found.map(({ subjectId, position }) => {
    return { subjectId, sequenceNumber: numbers.get(position) ?? 0 }
  })
}
