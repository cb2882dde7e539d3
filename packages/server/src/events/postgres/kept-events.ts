/** Events of restricted contacts, whose bytes are kept aside. */
import { eventJson } from '../event-json.ts'
import type { FeedKey } from '../feed-key.ts'
import { bigints, texts, uuids } from '../../sql/postgres/array.ts'
import type { Ask } from '../../sql/postgres.ts'
import type { Session, Statement } from '../../sql/postgres/session.ts'
import { feedNumbers } from '../../sql/database.ts'
import type { FeedPlan, Stamped } from './append/plan-commit.ts'

const keepEvents: Statement = {
  name: 'kept-insert',
  text: `WITH given AS (
      SELECT * FROM unnest($3::uuid[], $4::bigint[], $5::bigint[], $6::text[]) AS r (subject, position, sequence, json)
    ), marked AS (
      UPDATE event t SET state = 'restricted' FROM given
      WHERE t.tenant = $1 AND t.feed = $2 AND t.position = given.position
    )
    INSERT INTO kept_event (tenant, feed, subject, position, sequence, json)
    SELECT $1, $2, given.subject, given.position, given.sequence, given.json FROM given`,
}
const setCode: Statement = {
  name: 'kept-code',
  text: `UPDATE subject SET kept_code = $4 WHERE tenant = $1 AND feed = $2 AND subject = $3
    AND kept_code IS DISTINCT FROM $4`,
}
const latestKept: Statement = {
  name: 'kept-latest',
  text: `SELECT position, json FROM kept_event WHERE tenant = $1 AND feed = $2 AND subject = $3
    ORDER BY tenant, feed, subject, position DESC LIMIT 1`,
}

export function ofSubject(key: FeedKey, subjectId: string): readonly [string, number, string] {
  return [key.tenantId, feedNumbers[key.feed], subjectId]
}

/** For a commit that holds the counters and has written events of restricted contacts: puts the bytes aside that are not shown. */
export async function keepAside(
  session: Session,
  feeds: readonly FeedPlan[],
  stampedOf: (key: FeedKey) => Stamped | undefined,
): Promise<void> {
  for (const { reading, rows } of feeds) {
    const { key } = reading
    const stamped = stampedOf(key)
    if (stamped === undefined || !rows.some(({ event }) => event.kept !== undefined)) continue
    const kept = rows.flatMap(({ event }, index) => {
      const { sequenceNumber = 0, createdDate = '' } = stamped.stored[index] ?? {}
      if (event.kept === undefined) return []
      const json = eventJson(key, { ...event, payload: event.kept }, sequenceNumber, createdDate)
      const position = stamped.lastPosition - rows.length + index + 1
      return [{ subjectId: event.subjectId, position, sequenceNumber, json, code: event.state.keptCode }]
    })
    await session.query(keepEvents, [
      key.tenantId,
      feedNumbers[key.feed],
      uuids(kept.map(({ subjectId }) => subjectId)),
      bigints(kept.map(({ position }) => position)),
      bigints(kept.map(({ sequenceNumber }) => sequenceNumber)),
      texts(kept.map(({ json }) => json)),
    ])
    for (const [subjectId, code] of new Map(kept.map((one) => [one.subjectId, one.code]))) {
      await setKeptCode(session, key, subjectId, code)
    }
  }
}

export async function setKeptCode(
  session: Session,
  key: FeedKey,
  subjectId: string,
  code: string | null,
): Promise<void> {
  await session.query(setCode, [...ofSubject(key, subjectId), code])
}

/** The latest event that is kept of a contact, as it was published; `undefined`: none is. */
export async function readLatestKept(
  ask: Ask,
  key: FeedKey,
  subjectId: string,
): Promise<{ readonly position: string; readonly json: string } | undefined> {
  const [row] = await ask<{ position: string; json: string }>(latestKept, ofSubject(key, subjectId))
  return row
}
