/** The port's part for contacts that have not changed for a long time, on a database. */
import { millisecondsOfTicks } from '@property-events/protocol'
import { contactKept } from '../../audit/changes.ts'
import type { ExpiryStep, ExpiryStore, KeepOutcome } from '../expiry-store.ts'
import { moveStateOf } from '../move-store.ts'
import type { FeedKey } from '../storage.ts'
import { recordsPerPiece } from '../store-records.ts'
import type { ExpiringRecord, StoreRecord } from '../store-records.ts'
import { bigints, uuids } from './array.ts'
import type { Row, Session, Statement, Value } from './connection.ts'
import type { EngineParts } from './engine-parts.ts'
import { feedNumbers } from './feed-number.ts'

const contactFeed = feedNumbers.contact

const relist: Statement = {
  name: 'expiry-relist',
  text: `UPDATE expiring_contact SET listed_ms = $2 WHERE tenant = $1 AND subject IN (
      SELECT subject FROM expiring_contact
      WHERE tenant = $1 AND unchanged_since_ms < $3 AND listed_ms IS NULL ORDER BY tenant, unchanged_since_ms LIMIT $4
    ) RETURNING subject`,
}
export const expiryStatements = {
  /** Uses the index of the latest events, so that no other event is looked at. */
  readNext: {
    name: 'expiry-next',
    text: `SELECT s.subject, s.position, e.created / 10000 AS created_ms, e.state FROM (
      SELECT subject, position FROM subject WHERE tenant = $1 AND feed = ${contactFeed} AND category IS NULL
        AND position > coalesce((SELECT listed FROM expiry_progress WHERE tenant = $1), 0)
        AND position <= coalesce((SELECT position FROM event WHERE tenant = $1 AND feed = ${contactFeed} AND sequence > 0
          AND created < $2 ORDER BY tenant DESC, feed DESC, created DESC LIMIT 1), 0)
      ORDER BY tenant, feed, category, position LIMIT $3
    ) s CROSS JOIN LATERAL (SELECT created, state FROM event
      WHERE tenant = $1 AND feed = ${contactFeed} AND position = s.position LIMIT 1) AS e ORDER BY s.position`,
  },
} as const satisfies Record<string, Statement>
const put: Statement = {
  name: 'expiry-put',
  text: `INSERT INTO expiring_contact AS held (tenant, subject, position, unchanged_since_ms, listed_ms)
    VALUES ($1, $2, $3, $4, $5) ON CONFLICT (tenant, subject) DO UPDATE SET position = excluded.position,
      unchanged_since_ms = excluded.unchanged_since_ms, listed_ms = excluded.listed_ms
    WHERE held.position <> excluded.position`,
}
const remove: Statement = {
  name: 'expiry-remove',
  text: 'DELETE FROM expiring_contact WHERE tenant = $1 AND subject = $2 AND position < $3',
}
const putProgress: Statement = {
  name: 'expiry-progress',
  text: `INSERT INTO expiry_progress AS held (tenant, listed) VALUES ($1, $2)
    ON CONFLICT (tenant) DO UPDATE SET listed = greatest(held.listed, excluded.listed)`,
}
const readListed: Statement = {
  name: 'expiry-listed',
  text: `SELECT one.subject, one.position, one.unchanged_since_ms, one.listed_ms FROM expiring_contact one
    JOIN subject s ON s.tenant = one.tenant AND s.feed = ${contactFeed} AND s.subject = one.subject
      AND s.position = one.position
    WHERE one.tenant = $1 AND one.listed_ms IS NOT NULL
      AND one.subject > coalesce($2::uuid, '00000000-0000-0000-0000-000000000000')
    ORDER BY one.tenant, one.subject LIMIT $3`,
}
/** Taken as by an append. */
const lockFeed: Statement = {
  name: 'expiry-lock',
  text: `SELECT move FROM feed WHERE tenant = $1 AND feed = ${contactFeed} FOR NO KEY UPDATE`,
}
const ofContact = `FROM subject s JOIN event e ON e.tenant = s.tenant AND e.feed = s.feed AND e.position = s.position
    WHERE s.tenant = $1 AND s.feed = ${contactFeed} AND s.subject = $2 AND e.state NOT IN ('erased', 'restricted')`
const findContact: Statement = { name: 'expiry-contact', text: `SELECT s.subject ${ofContact}` }
const keep: Statement = {
  name: 'expiry-keep',
  text: `INSERT INTO expiring_contact AS held (tenant, subject, position, unchanged_since_ms, listed_ms)
    SELECT s.tenant, s.subject, s.position, coalesce($3::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint),
      NULL ${ofContact}
    ON CONFLICT (tenant, subject) DO UPDATE SET position = excluded.position,
      unchanged_since_ms = excluded.unchanged_since_ms, listed_ms = NULL RETURNING subject`,
}
const readAll: Statement = {
  name: 'export-expiring',
  text: `SELECT subject, position, unchanged_since_ms, listed_ms FROM expiring_contact
    WHERE tenant = $1 AND subject > $2 ORDER BY tenant, subject LIMIT ${recordsPerPiece}`,
}
const putAll: Statement = {
  name: 'import-expiring',
  text: `INSERT INTO expiring_contact AS held (tenant, subject, position, unchanged_since_ms, listed_ms)
    SELECT $1, r.* FROM unnest($2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[]) AS r
    ON CONFLICT (tenant, subject) DO UPDATE SET position = excluded.position,
      unchanged_since_ms = excluded.unchanged_since_ms, listed_ms = excluded.listed_ms
    WHERE held.position <= excluded.position`,
}

interface NextRow extends Row {
  readonly subject: string
  readonly position: string
  readonly created_ms: string
  readonly state: string
}

interface ListedRow extends Row {
  readonly subject: string
  readonly position: string
  readonly unchanged_since_ms: string
  readonly listed_ms: string
}

interface AnyRow extends Omit<ListedRow, 'listed_ms'> {
  readonly listed_ms: string | null
}

export function databaseExpiry({
  database,
  given,
  note,
}: Pick<EngineParts, 'database' | 'given' | 'note'>): ExpiryStore {
  return {
    enlist: (step) => database.transaction((session) => enlist(session, step)),
    async listed(tenantId, after, limit) {
      const rows = await database.read<ListedRow>(readListed, [tenantId, after ?? null, limit])
      return rows.map((row) => ({
        subjectId: row.subject,
        position: Number(row.position),
        unchangedSinceMs: Number(row.unchanged_since_ms),
        listedMs: Number(row.listed_ms),
      }))
    },
    keep: (tenantId, subjectId, actor) =>
      database.transaction(async (session): Promise<KeepOutcome> => {
        const now = given()
        const nowMs = now === undefined ? null : millisecondsOfTicks(now)
        // Under the counter, like an append: a move that closes the tenant waits, and then includes what was kept.
        const [counter] = await session.query<{ move: string | null }>(lockFeed, [tenantId])
        const isOpen = moveStateOf(counter?.move ?? null) === 'open'
        const found = isOpen
          ? await session.query(keep, [tenantId, subjectId, nowMs])
          : await session.query(findContact, [tenantId, subjectId])
        if (found.length === 0) return 'unknownContact'
        if (!isOpen) return 'tenantMoving'
        await note(session, contactKept(tenantId, subjectId), actor)
        return 'kept'
      }),
  }
}

async function enlist(session: Session, { tenantId, before, todayMs, limit }: ExpiryStep): Promise<number> {
  const relisted = await session.query(relist, [tenantId, todayMs, millisecondsOfTicks(before), limit])
  if (relisted.length > 0) return relisted.length
  const rows = await session.query<NextRow>(expiryStatements.readNext, [tenantId, before, limit])
  for (const { subject, position, created_ms: createdMs, state } of rows) {
    if (state === 'erased' || state === 'restricted')
      await session.query(remove, [tenantId, subject, position])
    else await session.query(put, [tenantId, subject, position, createdMs, todayMs])
  }
  const last = rows.at(-1)
  if (last !== undefined) await session.query(putProgress, [tenantId, last.position])
  return rows.length
}

type Ask = <R extends Row>(statement: Statement, values: readonly Value[]) => Promise<readonly R[]>
type Take = (records: readonly StoreRecord[]) => Promise<void>

/** Contacts on the list, and those kept off it: for another store. */
export async function exportExpiring(ask: Ask, key: FeedKey, take: Take): Promise<void> {
  if (key.feed !== 'contact') return
  for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
    const rows = await ask<AnyRow>(readAll, [key.tenantId, after])
    const last = rows.at(-1)
    if (last === undefined) return
    await take(
      rows.map((row) => ({
        kind: 'expiring',
        key,
        subjectId: row.subject,
        position: Number(row.position),
        unchangedSinceMs: Number(row.unchanged_since_ms),
        listedMs: row.listed_ms === null ? undefined : Number(row.listed_ms),
      })),
    )
    after = last.subject
  }
}

/** Stores contacts from another store. `records`: of one tenant. */
export async function importExpiring(session: Session, records: readonly ExpiringRecord[]): Promise<void> {
  const [first] = records
  if (first === undefined) return
  await session.query(putAll, [
    first.key.tenantId,
    uuids(records.map(({ subjectId }) => subjectId)),
    bigints(records.map(({ position }) => position)),
    bigints(records.map(({ unchangedSinceMs }) => unchangedSinceMs)),
    bigints(records.map(({ listedMs }) => listedMs ?? null)),
  ])
}
