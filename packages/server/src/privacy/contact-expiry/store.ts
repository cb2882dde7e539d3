/** Contacts that have not changed for a long time, in a database. */
import { millisecondsOfTicks } from '@property-events/protocol/plain'
import { contactKept } from '../../audit/changes.ts'
import { defineWrite, feedNumbers, rowsFrom, statement, uuidOf } from '../../sql/database.ts'
import type { Dialect, Query, StoreAccess, StoredLogId } from '../../sql/database.ts'
import type { Actor } from '../../audit/actor.ts'
import { recordsPerPiece } from '../../store/store-records.ts'
import type { ExpiringRecord } from '../../store/store-records.ts'
import type { ExpiryStep, ExpiryStore, KeepOutcome } from './contact-expiry.ts'

const contactFeed = feedNumbers.contact

/** The tenant's contacts in a table of the log, where SQLite names a feed by one number. */
function ofContacts(dialect: Dialect, table: string): string {
  return dialect === 'sqlite'
    ? `${table}.feed_no = (SELECT feed_no FROM feed_key WHERE tenant = $1 AND feed = ${contactFeed})`
    : `${table}.tenant = $1 AND ${table}.feed = ${contactFeed}`
}

/**
 * It walks the tables of the log, and each database needs its own text to keep to their indexes: that of the latest events, so that no
 * other event is looked at, and that of times, for the last position before one.
 */
export const readNext = statement<NextRow>('expiry-next', (dialect) => {
  const from = '(SELECT listed FROM expiry_progress WHERE tenant = $1)'
  return dialect === 'sqlite'
    ? `SELECT s.subject, s.position, e.created / 10000 AS created_ms, e.state
        FROM subject s INDEXED BY subject_latest CROSS JOIN event e ON e.place = (s.feed_no << 40) | s.position
        WHERE ${ofContacts(dialect, 's')} AND s.category IS NULL AND s.position > coalesce(${from}, 0)
          AND s.position <= (SELECT t.place & 0xffffffffff FROM event t INDEXED BY event_created
            WHERE ${ofContacts(dialect, 't')} AND t.created < CAST($2 AS INTEGER) ORDER BY t.created DESC LIMIT 1)
        ORDER BY s.position LIMIT $3`
    : `SELECT s.subject, s.position, e.created / 10000 AS created_ms, e.state FROM (
        SELECT subject, position FROM subject
        WHERE ${ofContacts(dialect, 'subject')} AND category IS NULL AND position > coalesce(${from}, 0)
          AND position <= coalesce((SELECT position FROM event WHERE ${ofContacts(dialect, 'event')} AND sequence > 0
            AND created < $2 ORDER BY tenant DESC, feed DESC, created DESC LIMIT 1), 0)
        ORDER BY tenant, feed, category, position LIMIT $3
      ) s CROSS JOIN LATERAL (SELECT created, state FROM event
        WHERE ${ofContacts(dialect, 'event')} AND position = s.position LIMIT 1) AS e ORDER BY s.position`
})
/** The latest event of a contact. */
const latestOf = statement<LatestRow>('expiry-latest', (dialect) => {
  const place =
    dialect === 'sqlite'
      ? 'e.place = (s.feed_no << 40) | s.position'
      : 'e.tenant = s.tenant AND e.feed = s.feed AND e.position = s.position'
  return `SELECT s.position, e.state FROM subject s JOIN event e ON ${place}
    WHERE ${ofContacts(dialect, 's')} AND s.subject = $2`
})
/** In the order of contacts. Without those that have changed since. */
const listedText = (further: string) => (dialect: Dialect) =>
  `SELECT subject, position, unchanged_since_ms, listed_ms FROM expiring_contact one
    WHERE tenant = $1 AND listed_ms IS NOT NULL ${further} AND position = (SELECT s.position FROM subject s
      WHERE ${ofContacts(dialect, 's')} AND s.subject = one.subject)
    ORDER BY tenant, subject LIMIT $2`
const listed = statement<ContactRow>('expiry-listed', listedText(''))
const listedAfter = statement<ContactRow>('expiry-listed-after', listedText('AND subject > $3'))
const allText = (further: string) =>
  `SELECT subject, position, unchanged_since_ms, listed_ms FROM expiring_contact WHERE tenant = $1 ${further}
    ORDER BY tenant, subject LIMIT ${recordsPerPiece}`
const all = statement<ContactRow>('expiry-all', allText(''))
const allAfter = statement<ContactRow>('expiry-all-after', allText('AND subject > $2'))
const relist = statement(
  'expiry-relist',
  `UPDATE expiring_contact SET listed_ms = $2 WHERE tenant = $1 AND subject IN (
      SELECT subject FROM expiring_contact
      WHERE tenant = $1 AND unchanged_since_ms < $3 AND listed_ms IS NULL ORDER BY tenant, unchanged_since_ms LIMIT $4
    ) RETURNING subject`,
)
const given = rowsFrom('$2', { contact: 'logId', latest: 'bigint', since: 'bigint', listed: 'bigint' })
/** `condition`: when a contact that is there already is replaced. */
const putText = (condition: string) => (dialect: Dialect) =>
  `INSERT INTO expiring_contact AS held (tenant, subject, position, unchanged_since_ms, listed_ms)
    SELECT $1, contact, latest, since, listed FROM ${given(dialect)} WHERE true
    ON CONFLICT (tenant, subject) DO UPDATE SET position = excluded.position,
      unchanged_since_ms = excluded.unchanged_since_ms, listed_ms = excluded.listed_ms ${condition}`
const put = statement('expiry-put', putText('WHERE held.position <> excluded.position'))
const putRecord = statement('expiry-put-record', putText('WHERE held.position <= excluded.position'))
const putKept = statement('expiry-put-kept', putText(''))
const remove = statement(
  'expiry-remove',
  'DELETE FROM expiring_contact WHERE tenant = $1 AND subject = $2 AND position < $3',
)
const putProgress = statement(
  'expiry-progress',
  `INSERT INTO expiry_progress AS held (tenant, listed) VALUES ($1, $2)
    ON CONFLICT (tenant) DO UPDATE SET listed = excluded.listed WHERE held.listed < excluded.listed`,
)

const enlist = defineWrite(
  'expiry-enlist',
  async (tx, { tenantId, before, todayMs, limit }: ExpiryStep): Promise<number> => {
    const relisted = await tx.rows(relist(tenantId, todayMs, millisecondsOfTicks(before), limit))
    if (relisted.length > 0) return relisted.length
    const rows = await tx.rows(readNext(tenantId, String(before), limit))
    const last = rows.at(-1)
    if (last === undefined) return 0
    const contacts = []
    for (const { subject, position, created_ms: unchangedSinceMs, state } of rows) {
      const subjectId = uuidOf(subject)
      if (isGone(state)) await tx.rows(remove(tenantId, { uuid: subjectId }, position))
      else contacts.push({ subjectId, position, unchangedSinceMs, listedMs: todayMs })
    }
    await tx.rows(put(tenantId, rowsGiven(contacts)))
    await tx.rows(putProgress(tenantId, last.position))
    return rows.length
  },
)

/** Under the counter, like an append: a move that closes the tenant waits, and then includes what was kept. */
const keep = defineWrite(
  'expiry-keep',
  async (tx, tenantId: string, subjectId: string, actor: Actor): Promise<KeepOutcome> => {
    const feed = await tx.lockFeed({ tenantId, feed: 'contact' })
    const [latest] = await tx.rows(latestOf(tenantId, { uuid: subjectId }))
    if (latest === undefined || isGone(latest.state)) return { kind: 'unknownContact' }
    if (feed.kind !== 'open') return feed
    const { position } = latest
    const kept = { subjectId, position, unchangedSinceMs: await tx.nowMs(), listedMs: undefined }
    await tx.rows(putKept(tenantId, rowsGiven([kept])))
    await tx.note(contactKept(tenantId, subjectId), actor)
    return { kind: 'kept' }
  },
)

export function contactExpiryStore({ read, write }: StoreAccess): ExpiryStore {
  return {
    enlist: (step) => write(enlist, step),
    async listed(tenantId, after, limit) {
      const asked =
        after === undefined ? listed(tenantId, limit) : listedAfter(tenantId, limit, { uuid: after })
      return (await read.rows(asked)).map((row) => ({ ...contactOf(row), listedMs: row.listed_ms ?? 0 }))
    },
    keep: (tenantId, subjectId, actor) => write(keep, tenantId, subjectId, actor),
  }
}

/** The contacts of a tenant on the list, and those kept off it, after the given one: a piece, for another store. For `expiringOf`. */
export function expiringAfter(tenantId: string, after: string | undefined): Query<ContactRow> {
  return after === undefined ? all(tenantId) : allAfter(tenantId, { uuid: after })
}

export function expiringOf(key: ExpiringRecord['key'], row: ContactRow): ExpiringRecord {
  return { kind: 'expiring', key, ...contactOf(row), listedMs: row.listed_ms ?? undefined }
}

/** Stores contacts from another store. `records`: of one tenant. */
export function putExpiring(records: readonly ExpiringRecord[]): Query {
  return putRecord(records[0]?.key.tenantId ?? null, rowsGiven(records))
}

type AnyContact = Omit<ExpiringRecord, 'kind' | 'key'>

function rowsGiven(contacts: readonly AnyContact[]): string {
  return JSON.stringify(
    contacts
      .toSorted((a, b) => (a.subjectId < b.subjectId ? -1 : 1))
      .map(({ subjectId, position, unchangedSinceMs, listedMs = null }) => {
        return { contact: subjectId, latest: position, since: unchangedSinceMs, listed: listedMs }
      }),
  )
}

function isGone(state: string): boolean {
  return state === 'erased' || state === 'restricted'
}

interface LatestRow {
  readonly position: number
  readonly state: string
}

interface NextRow extends LatestRow {
  readonly subject: StoredLogId
  readonly created_ms: number
}

interface ContactRow {
  readonly subject: StoredLogId
  readonly position: number
  readonly unchanged_since_ms: number
  readonly listed_ms: number | null
}

function contactOf(row: ContactRow): Omit<AnyContact, 'listedMs'> {
  const { subject, position, unchanged_since_ms: unchangedSinceMs } = row
  return { subjectId: uuidOf(subject), position, unchangedSinceMs }
}
