/** Applies the state of a restricted contact's event in another store: its bytes are kept aside, or shown again. */
import { erasedEventJson } from '../../../events/append/reduced-event.ts'
import type { KeptRecord } from '../../store-records.ts'
import type { Session, Statement } from '../../../sql/postgres/connection.ts'
import { feedNumbers } from '../../../sql/database.ts'

const update: Statement = {
  name: 'import-kept-event',
  text: `UPDATE event SET json = $4, state = $5 WHERE tenant = $1 AND feed = $2 AND position = $3`,
}
const keep: Statement = {
  name: 'import-keep',
  text: `INSERT INTO kept_event (tenant, feed, subject, position, sequence, json)
    SELECT tenant, feed, subject, position, sequence, $4 FROM event WHERE tenant = $1 AND feed = $2 AND position = $3
    ON CONFLICT (tenant, feed, subject, position) DO UPDATE SET json = excluded.json`,
}
const drop: Statement = {
  name: 'import-drop-kept',
  text: 'DELETE FROM kept_event WHERE tenant = $1 AND feed = $2 AND subject = $4 AND position = $3',
}
const setHash: Statement = {
  name: 'import-kept-hash',
  text: `UPDATE event_id i SET content_hash = $4 FROM event e
    WHERE e.tenant = $1 AND e.feed = $2 AND e.position = $3 AND i.tenant = $1 AND i.feed = $2 AND i.id = e.id`,
}

export async function importKept(session: Session, record: KeptRecord): Promise<void> {
  const { key, position, subjectId, json, contentHash, isHidden } = record
  const place = [key.tenantId, feedNumbers[key.feed], position] as const
  if (isHidden) {
    await session.query(keep, [...place, json])
    const reduced = erasedEventJson(key.feed, subjectId, json)
    await session.query(update, [...place, reduced, 'restricted'])
  } else {
    await session.query(drop, [...place, subjectId])
    await session.query(update, [...place, json, 'full'])
  }
  await session.query(setHash, [...place, contentHash])
}
