import type { FeedKey, ReadSubjectQuery, StoredEvent } from '../storage.ts'
import type { Database, Statement } from './connection.ts'
import { feedNumbers } from './feed-number.ts'

export const readSubjectStatements = {
  latest: {
    name: 'read-latest',
    text: `SELECT e.sequence, e.json FROM subject s
      JOIN event e ON e.tenant = s.tenant AND e.feed = s.feed AND e.position = s.position
      WHERE s.tenant = $1 AND s.feed = $2 AND s.subject = $3`,
  },
  /** A run through the index of subjects, in order of position: the number alone would have to be looked for. */
  history: {
    name: 'read-subject',
    text: `SELECT e.sequence, e.json FROM event e
      WHERE e.tenant = $1 AND e.feed = $2 AND e.subject = $3 AND e.sequence > 0 AND e.position > position_at($1, $2, $4)
      ORDER BY e.tenant, e.feed, e.subject, e.position LIMIT $5`,
  },
} as const satisfies Record<string, Statement>

interface Row {
  readonly sequence: string
  readonly json: string
}

export async function readLatest(
  database: Database,
  key: FeedKey,
  subjectId: string,
): Promise<StoredEvent | undefined> {
  const values = [key.tenantId, feedNumbers[key.feed], subjectId]
  const [row] = await database.read<Row>(readSubjectStatements.latest, values)
  return row && storedEventOf(row)
}

export async function readSubject(
  database: Database,
  { key, subjectId, after, limit }: ReadSubjectQuery,
): Promise<readonly StoredEvent[]> {
  const values = [key.tenantId, feedNumbers[key.feed], subjectId, after, limit]
  const rows = await database.read<Row>(readSubjectStatements.history, values)
  return rows.map(storedEventOf)
}

function storedEventOf({ sequence, json }: Row): StoredEvent {
  return { sequenceNumber: Number(sequence), json: Buffer.from(json) }
}
