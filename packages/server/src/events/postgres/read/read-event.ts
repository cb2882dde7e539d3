import type { FeedKey } from '../../feed-key.ts'
import type { ReadSubjectQuery, StoredEvent } from '../../event-log.ts'
import { texts } from '../../../sql/postgres/array.ts'
import type { Reads } from '../../../sql/postgres/connection.ts'
import type { Statement } from '../../../sql/postgres/session.ts'
import { feedNumbers } from '../../../sql/database.ts'
import { utf8Of } from '../../../sql/postgres/long-rows.ts'
import type { TextOrBytes } from '../../../sql/postgres/long-rows.ts'

/** Ids that were taken without storing anything refer to another event (`event_id`); they are not that event's id. */
const select: Statement = {
  name: 'read-event',
  longTexts: 'bytes',
  text: `SELECT e.sequence, e.json FROM event_id i
    JOIN event e ON e.tenant = i.tenant AND e.feed = i.feed AND e.position = i.position AND e.id = i.id
    WHERE i.tenant = $1 AND i.feed = $2 AND i.id = $3`,
}

const selectWithin: Statement = {
  name: 'read-event-within',
  longTexts: 'bytes',
  text: `${select.text} AND e.branch = ANY ($4::text[])`,
}

export interface EventRow {
  readonly sequence: string
  readonly json: TextOrBytes
}

export async function readEvent(
  database: Reads,
  key: FeedKey,
  id: string,
  branches: readonly string[] | undefined,
): Promise<StoredEvent | undefined> {
  const values = [key.tenantId, feedNumbers[key.feed], id]
  const [row] =
    branches === undefined
      ? await database.read<EventRow>(select, values)
      : await database.read<EventRow>(selectWithin, [...values, texts(branches)])
  return row && storedEventOf(row)
}

const longTexts = 'bytes'

export const readSubjectStatements = {
  latest: {
    name: 'read-latest',
    longTexts,
    text: `SELECT e.sequence, e.json FROM subject s
      JOIN event e ON e.tenant = s.tenant AND e.feed = s.feed AND e.position = s.position
      WHERE s.tenant = $1 AND s.feed = $2 AND s.subject = $3`,
  },
  /** A run through the index of subjects, in order of position: the number alone would have to be searched for. */
  history: {
    name: 'read-subject',
    longTexts,
    text: `SELECT e.sequence, e.json FROM event e
      WHERE e.tenant = $1 AND e.feed = $2 AND e.subject = $3 AND e.sequence > 0 AND e.position > position_at($1, $2, $4)
      ORDER BY e.tenant, e.feed, e.subject, e.position LIMIT $5`,
  },
  /** Of some branches, or of all; up to a number. Costs as much as the later part of the history in other branches is long. */
  latestWithin: {
    name: 'read-latest-within',
    longTexts,
    text: `SELECT e.sequence, e.json FROM event e
      WHERE e.tenant = $1 AND e.feed = $2 AND e.subject = $3 AND e.sequence > 0 AND e.position <= position_at($1, $2, $4)
        AND ($5::text[] IS NULL OR e.branch = ANY ($5::text[]))
      ORDER BY e.tenant DESC, e.feed DESC, e.subject DESC, e.position DESC LIMIT 1`,
  },
  historyWithin: {
    name: 'read-subject-within',
    longTexts,
    text: `SELECT e.sequence, e.json FROM event e
      WHERE e.tenant = $1 AND e.feed = $2 AND e.subject = $3 AND e.sequence > 0 AND e.position > position_at($1, $2, $4)
        AND e.branch = ANY ($6::text[])
      ORDER BY e.tenant, e.feed, e.subject, e.position LIMIT $5`,
  },
} as const satisfies Record<string, Statement>

export async function readLatest(
  database: Reads,
  key: FeedKey,
  subjectId: string,
  branches: readonly string[] | undefined,
  upTo: number | undefined,
): Promise<StoredEvent | undefined> {
  const values = [key.tenantId, feedNumbers[key.feed], subjectId]
  const { latest, latestWithin } = readSubjectStatements
  const within = [upTo ?? Number.MAX_SAFE_INTEGER, branches === undefined ? null : texts(branches)]
  const [row] =
    branches === undefined && upTo === undefined
      ? await database.read<EventRow>(latest, values)
      : await database.read<EventRow>(latestWithin, [...values, ...within])
  return row && storedEventOf(row)
}

export async function readSubject(
  database: Reads,
  { key, subjectId, after, limit, branches }: ReadSubjectQuery,
): Promise<readonly StoredEvent[]> {
  const values = [key.tenantId, feedNumbers[key.feed], subjectId, after, limit]
  const { history, historyWithin } = readSubjectStatements
  const rows =
    branches === undefined
      ? await database.read<EventRow>(history, values)
      : await database.read<EventRow>(historyWithin, [...values, texts(branches)])
  return rows.map(storedEventOf)
}

export function storedEventOf({ sequence, json }: EventRow): StoredEvent {
  return { sequenceNumber: Number(sequence), json: utf8Of(json) }
}
