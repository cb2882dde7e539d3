import { feedNames } from '@property-events/protocol'
import type { Category } from '@property-events/protocol'
import { moveStateOf } from '../../tenants/move/move.ts'
import { expiringAfter, expiringOf } from '../../privacy/contact-expiry/store.ts'
import { holdOf, holdsOfFeed } from '../../privacy/hold/store.ts'
import { sqlOver } from '../../sql/postgres.ts'
import type { FeedKey } from '../storage.ts'
import { recordsPerPiece, reductionRecords, thinningRecords } from '../store-records.ts'
import type { EventRecord, FeedRecord, IdRecord, StoreRecord, SubjectRecord } from '../store-records.ts'
import { oneSnapshot } from './connection.ts'
import type { Database, Row, Session, Statement, Value } from './connection.ts'
import { feedNumbers } from '../../sql/database.ts'
import { eventAt } from './event-at.ts'
import { exportRestrictions } from './export-restrictions.ts'

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
      const feed = feedNames.find((name) => feedNumbers[name] === row.feed)
      if (feed !== undefined) await exportFeed(session, { tenantId: row.tenant, feed }, row, after, take)
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

export interface FeedRow {
  readonly tenant: string
  readonly feed: number
  readonly epoch: string
  readonly number_offset: string
  readonly revision: string
  readonly thinned: string
  readonly last_position: string
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
  await exportReductions((...asked) => session.query(...asked), key, take)
  await exportRestrictions((...asked) => session.query(...asked), key, take)
  await take(await holdRecords((...asked) => session.query(...asked), key))
  await exportExpiring((...asked) => session.query(...asked), key, take)
  await take([feedRecord(key, row)])
}

const readReductions: Statement = {
  name: 'export-reductions',
  text: `SELECT r.revision, r.position, r.sequence, e.state FROM reduced_event r
    ${eventAt('r.position', 'state')}
    WHERE r.tenant = $1 AND r.feed = $2 AND (r.revision, r.position) > ($3, $4)
    ORDER BY r.tenant, r.feed, r.revision, r.position LIMIT ${recordsPerPiece}`,
}

interface ReducedRow extends Row {
  readonly revision: string
  readonly position: string
  readonly sequence: string
  readonly state: string
}

const readThinned: Statement = {
  name: 'export-thinned',
  text: `SELECT thinned, position FROM thinned_event
    WHERE tenant = $1 AND feed = $2 AND (thinned, position) > ($3, $4)
    ORDER BY tenant, feed, thinned, position LIMIT ${recordsPerPiece}`,
}

interface ThinnedRow extends Row {
  readonly thinned: string
  readonly position: string
}

type Ask = <R extends Row>(statement: Statement, values: readonly Value[]) => Promise<readonly R[]>
type Take = (records: readonly StoreRecord[]) => Promise<void>

/** What steps of erasures and of retention have reduced, piece by piece. */
export async function exportReductions(ask: Ask, key: FeedKey, take: Take): Promise<void> {
  await exportErased(ask, key, take)
  for (let [thinned, position] = [0, 0]; ;) {
    const values = [key.tenantId, feedNumbers[key.feed], thinned, position]
    const found = (await ask<ThinnedRow>(readThinned, values)).map((row) => {
      return { thinned: Number(row.thinned), position: Number(row.position) }
    })
    const last = found.at(-1)
    if (last === undefined) return
    await take(thinningRecords(key, found))
    ;[thinned, position] = [last.thinned, last.position]
  }
}

async function exportErased(ask: Ask, key: FeedKey, take: Take): Promise<void> {
  for (let [revision, position] = [0, 0]; ;) {
    const values = [key.tenantId, feedNumbers[key.feed], revision, position]
    const found = (await ask<ReducedRow>(readReductions, values)).map((row) => ({
      revision: Number(row.revision),
      position: Number(row.position),
      sequenceNumber: Number(row.sequence),
      state: row.state,
    }))
    const last = found.at(-1)
    if (last === undefined) return
    await take(reductionRecords(key, found))
    ;[revision, position] = [last.revision, last.position]
  }
}

export async function holdRecords(ask: Ask, key: FeedKey): Promise<readonly StoreRecord[]> {
  const rows = await sqlOver(ask).rows(holdsOfFeed(key))
  return rows.map((row) => ({ kind: 'hold', ...holdOf(row) }))
}

export async function exportExpiring(
  ask: Ask,
  key: FeedKey,
  take: (records: readonly StoreRecord[]) => Promise<void>,
): Promise<void> {
  if (key.feed !== 'contact') return
  for (let after: string | undefined; ;) {
    const rows = await sqlOver(ask).rows(expiringAfter(key.tenantId, after))
    const records = rows.map((row) => expiringOf(key, row))
    after = records.at(-1)?.subjectId
    if (after === undefined) return
    await take(records)
  }
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
