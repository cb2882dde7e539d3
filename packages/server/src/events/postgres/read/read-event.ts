import type { FeedKey } from '../../feed-key.ts'
import type { StoredEvent } from '../../event-log.ts'
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

interface Row {
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
      ? await database.read<Row>(select, values)
      : await database.read<Row>(selectWithin, [...values, texts(branches)])
  return row && { sequenceNumber: Number(row.sequence), json: utf8Of(row.json) }
}
