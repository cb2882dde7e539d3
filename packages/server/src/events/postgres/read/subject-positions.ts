/** Where the events of a subject are, and whose the events of a range are, without reading an event. */
import type { NumberedSubject, EventPosition, SubjectPositionsQuery, SubjectsQuery } from '../../event-log.ts'
import type { Reads } from '../../../sql/postgres/connection.ts'
import type { Statement } from '../../../sql/postgres/session.ts'
import { feedNumbers } from '../../../sql/database.ts'

export const placesOfStatement: Statement = {
  name: 'sent-places',
  text: `SELECT position, sequence FROM event
    WHERE tenant = $1 AND feed = $2 AND subject = $3 AND sequence > 0 AND position > $4
    ORDER BY tenant, feed, subject, position LIMIT $5`,
}
const selectSubjects: Statement = {
  name: 'sent-subjects',
  text: `SELECT position AS number, subject FROM event
    WHERE tenant = $1 AND feed = $2 AND position >= $3 AND position <= $4 ORDER BY tenant, feed, position`,
}
const selectSubjectsByNumber: Statement = {
  name: 'sent-subjects-by-number',
  text: `SELECT sequence AS number, subject FROM event
    WHERE tenant = $1 AND feed = $2 AND position > position_at($1, $2, $3 - 1) AND position <= position_at($1, $2, $4)
    ORDER BY tenant, feed, position`,
}

export async function readSubjectPositions(
  database: Reads,
  { key, subjectId, after, limit }: SubjectPositionsQuery,
): Promise<readonly EventPosition[]> {
  const values = [key.tenantId, feedNumbers[key.feed], subjectId, after, limit]
  const rows = await database.read<{ position: string; sequence: string }>(placesOfStatement, values)
  return rows.map(({ position, sequence }) => ({
    position: Number(position),
    sequenceNumber: Number(sequence),
  }))
}

export async function readSubjects(
  database: Reads,
  { key, view, range: [first, last] }: SubjectsQuery,
): Promise<readonly NumberedSubject[]> {
  const statement = view === 'numbers' ? selectSubjectsByNumber : selectSubjects
  const values = [key.tenantId, feedNumbers[key.feed], first, last]
  const rows = await database.read<{ number: string; subject: string }>(statement, values)
  return rows.map(({ number, subject }) => ({ number: Number(number), subjectId: subject }))
}
