/** Applies what erasures and retention have reduced in another store (D17): events that are here lose their payloads too. */
import { reducedEventJson, erasedEventJson } from '../../../events/append/reduced-event.ts'
import type { ReductionRecord, ThinningRecord, KeptRecord } from '../../store-records.ts'
import { bigints, texts, uuids } from '../../../sql/postgres/array.ts'
import type { Session, Statement } from '../../../sql/postgres/session.ts'
import type { FeedKey } from '../../../events/feed-key.ts'
import { eventAt } from '../../../events/log-statements.ts'
import { feedNumbers } from '../../../sql/database.ts'

const readFull: Statement = {
  name: 'import-read-full',
  text: `SELECT e.position, e.id, e.subject, e.json FROM unnest($3::bigint[]) AS given (position)
    ${eventAt('given.position', 'position, id, subject, json, state')} WHERE e.state <> 'erased'`,
}
const reduceImported: Statement = {
  name: 'import-reduce',
  text: 'SELECT take_payloads($1, $2, $3::bigint[], $4::uuid[], $5::text[])',
}
/** What consumers have reported about these versions, if an earlier run brought it. */
const takeResults = takeFrom('import-take-results', 'consumer_result')
const takeResultChanges = takeFrom('import-take-result-changes', 'consumer_result_change')

function takeFrom(name: string, table: string): Statement {
  return {
    name,
    text: `DELETE FROM ${table} AS r USING unnest($2::uuid[], $3::bigint[]) AS given (subject, position),
      LATERAL (SELECT sequence FROM event WHERE tenant = $1 AND feed = ${feedNumbers.property} AND position = given.position LIMIT 1) AS e
    WHERE r.tenant = $1 AND r.subject = given.subject AND r.sequence = e.sequence`,
  }
}
const noteReduced: Statement = {
  name: 'import-note-reduced',
  text: `INSERT INTO reduced_event (tenant, feed, revision, position, sequence)
    SELECT $1, $2, $3, place, number FROM unnest($4::bigint[], $5::bigint[]) AS given (place, number)
    ON CONFLICT DO NOTHING`,
}

export async function importReduction(
  session: Session,
  { key, revision, events }: ReductionRecord,
): Promise<void> {
  const feed = [key.tenantId, feedNumbers[key.feed]] as const
  const positions = bigints(events.map(({ position }) => position))
  const shown = bigints(events.flatMap((one) => (one.isKept === true ? [] : [one.position])))
  const full = await session.query<FullRow>(readFull, [...feed, shown])
  await session.query(reduceImported, [...feed, ...reducedLists('erased', key, full)])
  if (key.feed === 'property' && full.length > 0) {
    const found = [
      uuids(full.map(({ subject }) => subject)),
      bigints(full.map((one) => BigInt(one.position))),
    ]
    await session.query(takeResults, [key.tenantId, ...found])
    await session.query(takeResultChanges, [key.tenantId, ...found])
  }
  const numbers = bigints(events.map(({ sequenceNumber }) => sequenceNumber))
  await session.query(noteReduced, [...feed, revision, positions, numbers])
}

type FullRow = {
  readonly position: string
  readonly id: string
  readonly subject: string
  readonly json: string
}

/** Positions, ids and what is left of the events. */
function reducedLists(state: 'erased' | 'thinned', { feed }: FeedKey, rows: readonly FullRow[]) {
  return [
    bigints(rows.map(({ position }) => BigInt(position))),
    uuids(rows.map(({ id }) => id)),
    texts(rows.map(({ subject, json }) => reducedEventJson(state, feed, subject, json))),
  ] as const
}

const readUnthinned: Statement = {
  name: 'import-read-unthinned',
  text: `SELECT e.position, e.id, e.subject, e.json FROM unnest($3::bigint[]) AS given (position)
    ${eventAt('given.position', 'position, id, subject, json, state')} WHERE e.state = 'full'`,
}
/** Events that were restricted when they came, and have been shown again and thinned since. */
const dropKept: Statement = {
  name: 'import-thin-kept',
  text: 'SELECT drop_kept($1, $2, $3::bigint[])',
}
const thinImported: Statement = {
  name: 'import-thin',
  text: 'SELECT thin_payloads($1, $2, $3::bigint[], $4::uuid[], $5::text[])',
}
const noteThinned: Statement = {
  name: 'import-note-thinned',
  text: `INSERT INTO thinned_event (tenant, feed, thinned, position)
    SELECT $1, $2, $3, place FROM unnest($4::bigint[]) AS given (place) ON CONFLICT DO NOTHING`,
}

export async function importThinning(
  session: Session,
  { key, thinned, positions: all }: ThinningRecord,
): Promise<void> {
  const feed = [key.tenantId, feedNumbers[key.feed]] as const
  const positions = bigints(all)
  await session.query(dropKept, [...feed, positions])
  const full = await session.query<FullRow>(readUnthinned, [...feed, positions])
  await session.query(thinImported, [...feed, ...reducedLists('thinned', key, full)])
  await session.query(noteThinned, [...feed, thinned, positions])
}

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
