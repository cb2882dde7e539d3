import { storeFilled } from '../../../audit/changes.ts'
import type { Actor } from '../../../audit/actor.ts'
import type { FeedKey } from '../../../events/feed-key.ts'
import { moveText } from '../../../tenants/move/move.ts'
import { positionFault } from '../../store-records.ts'
import type { EventRecord, FeedRecord, IdRecord, StoreRecord } from '../../store-records.ts'
import { bigints, booleans, texts, uuids } from '../../../sql/postgres/array.ts'
import type { NoteChanges } from '../../../sql/postgres.ts'
import type { Database } from '../../../sql/postgres/connection.ts'
import type { Session, Statement } from '../../../sql/postgres/session.ts'
import { feedNumbers } from '../../../sql/database.ts'
import { sqlOn } from '../../../sql/postgres.ts'
import { importKept, importReduction, importThinning } from './import-reductions.ts'
import { putDecisions } from '../../exported-records.ts'
import { raiseFloorToReservation } from '../../../events/postgres/witness.ts'

const lockFeed: Statement = {
  name: 'import-lock',
  text: 'SELECT last_position FROM feed WHERE tenant = $1 AND feed = $2 FOR NO KEY UPDATE',
}
const insertEvents: Statement = {
  name: 'import-events',
  text: `WITH given AS (
      INSERT INTO event (tenant, feed, position, sequence, created, id, subject, category, branch, code, state, json)
      SELECT $1, $2, r.* FROM unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::uuid[], $7::uuid[], $8::text[],
        $9::text[], $10::text[], $11::text[], $12::text[]) AS r
      RETURNING category, position, created
    ), placed AS (
      SELECT category, position, created, row_number() OVER (PARTITION BY category ORDER BY position) AS n FROM given
    ), entered AS (
      INSERT INTO view_entry (tenant, feed, view, ordinal, position, created)
      SELECT $1, $2, v.view, v.last_ordinal + placed.n, placed.position, placed.created
      FROM placed JOIN view v ON v.tenant = $1 AND v.feed = $2 AND v.view = placed.category
    )
    UPDATE view v SET last_ordinal = v.last_ordinal + counted.n
    FROM (SELECT category, max(n) AS n FROM placed GROUP BY category) AS counted
    WHERE v.tenant = $1 AND v.feed = $2 AND v.view = counted.category`,
}
const advance: Statement = {
  name: 'import-advance',
  text: 'UPDATE feed SET last_position = $3, last_sequence = $4, last_created = $5 WHERE tenant = $1 AND feed = $2',
}
const putIds: Statement = {
  name: 'import-ids',
  text: `INSERT INTO event_id (tenant, feed, id, position, content_hash, skipped)
    SELECT $1, $2, id, position, decode(hash, 'hex'), skipped
    FROM unnest($3::uuid[], $4::bigint[], $5::text[], $6::bigint[]) AS r (id, position, hash, skipped)
    ON CONFLICT (tenant, feed, id) DO UPDATE SET position = excluded.position, content_hash = excluded.content_hash,
      skipped = excluded.skipped`,
}
const putSubjects: Statement = {
  name: 'import-subjects',
  text: `WITH appeared AS (
      UPDATE feed f SET live_count = f.live_count + (
        SELECT count(*) FILTER (WHERE r.published) - count(*) FILTER (WHERE s.published)
        FROM unnest($3::uuid[], $5::boolean[]) AS r (subject, published)
        LEFT JOIN subject s ON s.tenant = $1 AND s.feed = $2 AND s.subject = r.subject)
      WHERE f.tenant = $1 AND f.feed = $2
    )
    INSERT INTO subject (tenant, feed, subject, position, published, category, branch, code, payload_hash, spelling,
      update_date_hash, kept_code)
    SELECT $1, $2, subject, position, published, category, branch, code, decode(hash, 'hex'), spelling,
      decode(date_hash, 'hex'), kept_code
    FROM unnest($3::uuid[], $4::bigint[], $5::boolean[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
      $11::text[], $12::text[]) AS r (subject, position, published, category, branch, code, hash, spelling, date_hash,
        kept_code)
    ON CONFLICT (tenant, feed, subject) DO UPDATE SET position = excluded.position, published = excluded.published,
      category = excluded.category, branch = excluded.branch, code = excluded.code,
      payload_hash = excluded.payload_hash, spelling = excluded.spelling,
      update_date_hash = excluded.update_date_hash, kept_code = excluded.kept_code`,
}
const putFeed: Statement = {
  name: 'import-feed',
  text: `UPDATE feed SET epoch = $3, number_offset = $4, revision = $5, thinned = $11, needs_epoch = $6,
      move = CASE WHEN $7 THEN $8 ELSE move END, stamp_floor = greatest(stamp_floor, $9),
      epoch_start = coalesce($10, epoch_start)
    WHERE tenant = $1 AND feed = $2`,
}
const putWhole: Statement = {
  name: 'import-whole',
  text: 'UPDATE store SET first_offset = $1, needs_epoch = $2',
}
const putReservation: Statement = {
  name: 'import-reservation',
  text: `INSERT INTO time_reservation AS held (until) VALUES ($1)
    ON CONFLICT (only_row) DO UPDATE SET until = greatest(held.until, excluded.until)`,
}

/** Inserts records of another store, in one commit. Rejects, and leaves everything unchanged, if they do not follow. */
export function importRecords(
  database: Database,
  note: NoteChanges,
  records: readonly StoreRecord[],
  actor: Actor,
): Promise<void> {
  return database.transaction(async (session) => {
    for (const run of runsOf(records)) {
      await importRun(session, run)
      for (const record of run) if (record.kind === 'whole') await note(session, storeFilled(record), actor)
    }
  })
}

/** Neighbours of one kind and feed go in together. */
function runsOf(records: readonly StoreRecord[]): readonly (readonly [StoreRecord, ...StoreRecord[]])[] {
  const runs: [StoreRecord, ...StoreRecord[]][] = []
  for (const record of records) {
    const run = runs.at(-1)
    if (run !== undefined && nameOf(run[0]) === nameOf(record)) run.push(record)
    else runs.push([record])
  }
  return runs
}

function nameOf(record: StoreRecord): string {
  return record.kind === 'whole' ? 'whole' : `${record.kind} ${record.key.tenantId} ${record.key.feed}`
}

async function importRun(session: Session, run: readonly [StoreRecord, ...StoreRecord[]]): Promise<void> {
  const [first] = run
  if (first.kind === 'whole') {
    await session.query(putWhole, [first.firstOffset, first.needsEpoch])
    if (first.reservedUntil !== undefined && first.reservedUntil > 0n) {
      await session.query(putReservation, [first.reservedUntil])
      await session.query(raiseFloorToReservation, [])
    }
    return
  }
  const feed = [first.key.tenantId, feedNumbers[first.key.feed]] as const
  switch (first.kind) {
    case 'event':
      await importEvents(session, first.key, ofKinds(run, ['event']))
      break
    case 'id':
      await importIds(session, first.key, ofKinds(run, ['id']))
      break
    case 'subject': {
      const subjects = ofKinds(run, ['subject'])
      await session.query(putSubjects, [
        ...feed,
        uuids(subjects.map(({ subjectId }) => subjectId)),
        bigints(subjects.map(({ position }) => position)),
        booleans(subjects.map(({ state }) => state.published)),
        texts(subjects.map(({ state }) => state.category)),
        texts(subjects.map(({ state }) => state.branch)),
        texts(subjects.map(({ state }) => state.code)),
        texts(subjects.map(({ state }) => hex(state.payloadHash))),
        texts(subjects.map(({ state }) => state.spelling)),
        texts(subjects.map(({ state }) => hex(state.updateDateHash))),
        texts(subjects.map(({ state }) => state.keptCode)),
      ])
      break
    }
    case 'reduction':
      for (const record of ofKinds(run, ['reduction'])) await importReduction(session, record)
      break
    case 'kept':
      for (const record of ofKinds(run, ['kept'])) await importKept(session, record)
      break
    case 'restriction':
    case 'hold':
    case 'expiring':
      for (const query of putDecisions(ofKinds(run, ['restriction', 'hold', 'expiring']))) {
        await sqlOn(session).rows(query)
      }
      break
    case 'thinning':
      for (const record of ofKinds(run, ['thinning'])) await importThinning(session, record)
      break
    case 'feed':
      await importFeed(session, first)
  }
}

function ofKinds<Kind extends StoreRecord['kind']>(records: readonly StoreRecord[], kinds: readonly Kind[]) {
  type OfKind = Extract<StoreRecord, { readonly kind: Kind }>
  return records.filter((record): record is OfKind => kinds.some((kind) => kind === record.kind))
}

async function importIds(session: Session, key: FeedKey, ids: readonly IdRecord[]): Promise<void> {
  await session.query(putIds, [
    key.tenantId,
    feedNumbers[key.feed],
    uuids(ids.map(({ id }) => id)),
    bigints(ids.map(({ position }) => position)),
    texts(ids.map(({ contentHash }) => hex(contentHash))),
    bigints(ids.map(({ skipped }) => skipped)),
  ])
}

async function lastPositionOf(session: Session, key: FeedKey): Promise<number> {
  const values = [key.tenantId, feedNumbers[key.feed]]
  const [row] = await session.query<{ last_position: string }>(lockFeed, values)
  if (row === undefined) throw new Error(`no tenant ${key.tenantId}`)
  return Number(row.last_position)
}

async function importEvents(session: Session, key: FeedKey, events: readonly EventRecord[]): Promise<void> {
  const lastPosition = await lastPositionOf(session, key)
  for (const [index, { position }] of events.entries()) {
    if (position !== lastPosition + index + 1) throw positionFault(key, lastPosition + index + 1, position)
  }
  const feed = [key.tenantId, feedNumbers[key.feed]] as const
  await session.query(insertEvents, [
    ...feed,
    bigints(events.map(({ position }) => position)),
    bigints(events.map(({ sequenceNumber }) => sequenceNumber)),
    bigints(events.map(({ created }) => created)),
    uuids(events.map(({ id }) => id)),
    uuids(events.map(({ subjectId }) => subjectId)),
    texts(events.map(({ category }) => category)),
    texts(events.map(({ branch }) => branch)),
    texts(events.map(({ code }) => code)),
    texts(events.map(({ payloadState }) => payloadState)),
    texts(events.map(({ json }) => json)),
  ])
  const last = events.at(-1)
  if (last === undefined) return
  await session.query(advance, [...feed, last.position, last.sequenceNumber, last.created])
}

async function importFeed(session: Session, record: FeedRecord): Promise<void> {
  const { key, epoch, offset, revision, lastPosition, move } = record
  const { stampFloor = null, epochStart = null, thinned = 0 } = record
  const held = await lastPositionOf(session, key)
  if (held !== lastPosition) throw positionFault(key, held, lastPosition)
  const counter = [key.tenantId, feedNumbers[key.feed], epoch, offset, revision] as const
  await session.query(putFeed, [
    ...counter,
    record.needsEpoch ?? false,
    move !== undefined,
    move === undefined ? null : moveText(move),
    stampFloor,
    epochStart,
    thinned,
  ])
}

function hex(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('hex')
}
