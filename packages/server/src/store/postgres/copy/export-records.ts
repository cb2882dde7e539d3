import type { HeadRow } from '../../../events/postgres/read/head.ts'
import type { Category } from '@property-events/protocol'
import { moveStateOf } from '../../../tenants/move/move.ts'
import { sqlOver } from '../../../sql/postgres.ts'
import type { Ask } from '../../../sql/postgres.ts'
import { decisionsOf, reductionsOf } from '../../exported-records.ts'
import type { FeedKey } from '../../../events/feed-key.ts'
import { recordsPerPiece } from '../../store-records.ts'
import type { EventRecord, FeedRecord, IdRecord, StoreRecord, SubjectRecord } from '../../store-records.ts'
import { oneSnapshot } from '../../../sql/postgres/connection.ts'
import type { Database } from '../../../sql/postgres/connection.ts'
import type { Row, Session, Statement, Value } from '../../../sql/postgres/session.ts'
import { feedNumbers, feedOfNumber } from '../../../sql/database.ts'
import { eventAt } from '../../../events/log-statements.ts'

/** In one transaction, which shows one moment for as long as the copy takes. */
export function exportRecords(
  database: Database,
  after: (key: FeedKey) => number,
  take: (records: readonly StoreRecord[]) => Promise<void>,
): Promise<void> {
  return database.longTransaction(async (session) => {
    await session.query(oneSnapshot, [])
    const feeds = await session.query<FeedRow>(
      { name: 'export-feeds', text: 'SELECT * FROM feed ORDER BY tenant, feed' },
      [],
    )
    for (const row of feeds) {
      const key = { tenantId: row.tenant, feed: feedOfNumber(row.feed, 'feed') }
      await exportFeed(session, key, row, after, take)
    }
    const [store] = await session.query<WholeRow>(readWhole, [])
    const [firstOffset, needsEpoch] = [Number(store?.first_offset), store?.needs_epoch ?? true]
    await take([{ kind: 'whole', firstOffset, needsEpoch, reservedUntil: BigInt(store?.reserved ?? 0) }])
  })
}

const readWhole: Statement = {
  name: 'export-store',
  text: 'SELECT first_offset, needs_epoch, (SELECT until FROM time_reservation) AS reserved FROM store',
}

interface WholeRow {
  readonly first_offset: string
  readonly needs_epoch: boolean
  readonly reserved: string | null
}

export interface FeedRow extends Omit<HeadRow, 'last_sequence' | 'last_created'> {
  readonly tenant: string
  readonly feed: number
  readonly needs_epoch: boolean
  readonly move: string | null
  readonly stamp_floor: string | null
}

interface StateRow {
  readonly subject: string
  readonly position: string
  readonly category: Category | null
  readonly branch: string | null
  readonly code: string
}

export interface EventRow extends StateRow {
  readonly sequence: string
  readonly created: string
  readonly id: string
  readonly state: string
  readonly json: string
}

export interface IdRow {
  readonly id: string
  readonly position: string
  readonly content_hash: Buffer | null
  readonly skipped: string | null
}

export interface SubjectRow extends StateRow {
  readonly published: boolean
  readonly payload_hash: Buffer | null
  readonly spelling: string
  readonly update_date_hash: Buffer | null
  readonly kept_code: string | null
}

async function exportFeed(
  session: Session,
  key: FeedKey,
  row: FeedRow,
  after: (key: FeedKey) => number,
  take: (records: readonly StoreRecord[]) => Promise<void>,
): Promise<void> {
  const pages = <R extends Row>(table: string, column: string, type: string, startAfter?: Value) =>
    readPages<R>(session, key, { table, column, type, startAfter })
  for await (const rows of pages<EventRow>('event', 'position', 'bigint', after(key))) {
    await take(rows.map((event) => eventRecord(key, event)))
  }
  for await (const rows of pages<IdRow>('event_id', 'id', 'uuid')) {
    await take(rows.map((id) => idRecord(key, id)))
  }
  for await (const rows of pages<SubjectRow>('subject', 'subject', 'uuid')) {
    await take(rows.map((subject) => subjectRecord(key, subject)))
  }
  const ask: Ask = (...asked) => session.query(...asked)
  await exportChanges(ask, key, take)
  await take([feedRecord(key, row)])
}

export function feedRecord(key: FeedKey, row: FeedRow): FeedRecord {
  return {
    kind: 'feed',
    key,
    epoch: row.epoch,
    offset: Number(row.number_offset),
    revision: Number(row.revision),
    thinned: Number(row.thinned),
    lastPosition: Number(row.last_position),
    needsEpoch: row.needs_epoch,
    move: moveStateOf(row.move),
    stampFloor: BigInt(row.stamp_floor ?? 0),
  }
}

export function idRecord(key: FeedKey, row: IdRow): IdRecord {
  const { id, position, content_hash: contentHash } = row
  const skipped = row.skipped === null ? null : BigInt(row.skipped)
  return { kind: 'id', key, id, position: Number(position), contentHash, skipped }
}

export function eventRecord(key: FeedKey, event: EventRow): EventRecord {
  const { id, category, branch, code, state, json } = event
  return {
    kind: 'event',
    key,
    position: Number(event.position),
    sequenceNumber: Number(event.sequence),
    created: BigInt(event.created),
    id,
    subjectId: event.subject,
    category,
    branch,
    code,
    payloadState: state,
    json,
  }
}

export function subjectRecord(key: FeedKey, row: SubjectRow): SubjectRecord {
  const { published, category, branch, code, spelling } = row
  const { payload_hash: payloadHash, update_date_hash: updateDateHash, kept_code: keptCode } = row
  const state = { code, published, category, branch, payloadHash, spelling, updateDateHash, keptCode }
  return { kind: 'subject', key, subjectId: row.subject, position: Number(row.position), state }
}

/** A feed's rows of a table in the order of its primary key, page by page: those after a key, or all. */
async function* readPages<R extends Row>(
  session: Session,
  { tenantId, feed }: FeedKey,
  part: {
    readonly table: string
    readonly column: string
    readonly type: string
    readonly startAfter: Value | undefined
  },
): AsyncGenerator<readonly R[]> {
  const { table, column, type } = part
  const page = (name: string, condition: string): Statement => ({
    name: `export-${table}-${name}`,
    text: `SELECT * FROM ${table} WHERE tenant = $1 AND feed = $2 ${condition}
      ORDER BY tenant, feed, ${column} LIMIT ${recordsPerPiece}`,
  })
  const first = page('first', '')
  const next = page('next', `AND ${column} > $3::${type}`)
  const values = [tenantId, feedNumbers[feed]]
  for (let last = part.startAfter; ;) {
    const rows = await (last === undefined
      ? session.query<R>(first, values)
      : session.query<R>(next, [...values, last]))
    const end: unknown = rows.at(-1)?.[column]
    if (typeof end !== 'string') return
    yield rows
    last = end
  }
}

const hashOf = (event: string): string =>
  `(SELECT i.content_hash FROM event_id i WHERE i.tenant = ${event}.tenant AND i.feed = ${event}.feed AND i.id = ${event}.id) AS hash`
const readHidden: Statement = {
  name: 'export-kept',
  text: `SELECT k.position, k.subject, k.json, ${hashOf('e')} FROM kept_event k
    ${eventAt('k.position', 'tenant, feed, id')}
    WHERE k.tenant = $1 AND k.feed = $2 AND (k.subject, k.position) > ($3, $4)
    ORDER BY k.tenant, k.feed, k.subject, k.position LIMIT ${recordsPerPiece}`,
}
const readShownAgain: Statement = {
  name: 'export-shown-again',
  text: `SELECT e.position, e.subject, e.json, ${hashOf('e')} FROM event e
    WHERE e.tenant = $1 AND e.feed = $2 AND e.position > $3 AND e.state = 'full' AND e.position IN (
      SELECT r.position FROM reduced_event r WHERE r.tenant = $1 AND r.feed = $2 AND r.position > $3
    )
    ORDER BY e.tenant, e.feed, e.position LIMIT ${recordsPerPiece}`,
}
interface KeptRow extends Row {
  readonly position: string
  readonly subject: string
  readonly json: string
  readonly hash: Buffer | null
}

type Take = (records: readonly StoreRecord[]) => Promise<void>

/** What has happened to the events since they were published. */
export async function exportChanges(ask: Ask, key: FeedKey, take: Take): Promise<void> {
  for await (const records of reductionsOf(sqlOver(ask), key)) await take(records)
  await exportKept(ask, key, take)
  for await (const records of decisionsOf(sqlOver(ask), key)) await take(records)
}

/** What is kept of restricted contacts, and what is shown again: for another store. */
async function exportKept(ask: Ask, key: FeedKey, take: Take): Promise<void> {
  // Only contacts are restricted.
  if (key.feed !== 'contact') return
  const feed = [key.tenantId, feedNumbers[key.feed]] as const
  const recordsOf = (rows: readonly KeptRow[], isHidden: boolean) =>
    rows.map(({ position, subject: subjectId, json, hash: contentHash }): StoreRecord => {
      return { kind: 'kept', key, position: Number(position), subjectId, json, contentHash, isHidden }
    })
  for (let [subject, position] = ['00000000-0000-0000-0000-000000000000', '0']; ;) {
    const rows = await ask<KeptRow>(readHidden, [...feed, subject, position])
    const last = rows.at(-1)
    if (last === undefined) break
    await take(recordsOf(rows, true))
    ;[subject, position] = [last.subject, last.position]
  }
  for (let position = '0'; ;) {
    const rows = await ask<KeptRow>(readShownAgain, [...feed, position])
    const last = rows.at(-1)
    if (last === undefined) break
    await take(recordsOf(rows, false))
    position = last.position
  }
}
