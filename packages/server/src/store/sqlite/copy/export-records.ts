import { feedNames, uuidOfBytes } from '@property-events/protocol/plain'
import type { Category, FeedName } from '@property-events/protocol'
import { moveStateOf } from '../../../tenants/move/move.ts'
import type { FeedKey } from '../../../events/feed-key.ts'
import { recordsPerPiece } from '../../store-records.ts'
import type { EventRecord, IdRecord, StoreRecord } from '../../store-records.ts'
import { connectForReading } from '../../../sql/sqlite/connection.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { assertUndamaged } from '../../../events/sqlite/event-checksum.ts'
import { sqlOver } from '../../../sql/sqlite.ts'
import { decisionsOf, reductionsOf } from '../../exported-records.ts'
import { metaOf, readReservation } from '../meta.ts'
import { keptRecords } from '../reduce/restrict.ts'
import { subjectStateOf } from '../../../events/sqlite/subject-row.ts'
import type { SubjectRow } from '../../../events/sqlite/subject-row.ts'

/** On a separate connection, whose one transaction shows one moment for as long as the copy takes. */
export async function exportRecords(
  file: string,
  after: (key: FeedKey) => number,
  take: (records: readonly StoreRecord[]) => Promise<void>,
): Promise<void> {
  const db = connectForReading(file)
  try {
    db.exec('BEGIN')
    await takeInPieces(allRecords(db, after), take)
  } finally {
    db.close()
  }
}

export async function takeInPieces(
  records: AsyncIterable<StoreRecord> | Iterable<StoreRecord>,
  take: (records: readonly StoreRecord[]) => Promise<void>,
): Promise<void> {
  let piece: StoreRecord[] = []
  for await (const record of records) {
    piece.push(record)
    if (piece.length < recordsPerPiece) continue
    await take(piece)
    piece = []
  }
  await take(piece)
}

export const feedColumns = `feed_no, tenant, feed, epoch, offset, revision, thinned, last_position, needs_epoch, move,
  CAST(stamp_floor AS TEXT) AS stamp_floor`

export interface FeedRow {
  readonly feed_no: number
  readonly tenant: string
  readonly feed: string
  readonly epoch: string
  readonly offset: number
  readonly revision: number
  readonly thinned: number
  readonly last_position: number
  readonly needs_epoch: number
  readonly move: string | null
  readonly stamp_floor: string | null
}

export function feedRecordOf(key: FeedKey, row: FeedRow) {
  const { epoch, offset, revision, thinned, last_position: lastPosition } = row
  const [needsEpoch, move] = [row.needs_epoch === 1, moveStateOf(row.move)]
  const stampFloor = BigInt(row.stamp_floor ?? 0)
  return {
    kind: 'feed',
    key,
    epoch,
    offset,
    revision,
    thinned,
    lastPosition,
    needsEpoch,
    move,
    stampFloor,
  } as const
}

async function* allRecords(db: Connection, after: (key: FeedKey) => number): AsyncGenerator<StoreRecord> {
  const sql = sqlOver(db, undefined)
  const feeds = db.prepare<[], FeedRow>(`SELECT ${feedColumns} FROM feed ORDER BY feed_no`).all()
  for (const row of feeds) {
    const feed = feedNames.find((name): name is FeedName => name === row.feed)
    if (feed === undefined) continue
    const key = { tenantId: row.tenant, feed }
    yield* events(db, key, row.feed_no, after(key))
    yield* ids(db, key, row.feed_no)
    yield* subjects(db, key, row.feed_no)
    for await (const records of reductionsOf(sql, key)) yield* records
    yield* keptRecords(db, key, row.feed_no)
    for await (const records of decisionsOf(sql, key)) yield* records
    yield feedRecordOf(key, row)
  }
  const meta = metaOf(db)
  yield {
    kind: 'whole',
    firstOffset: Number(meta.get('first_offset')),
    needsEpoch: meta.get('needs_epoch') === '1',
    reservedUntil: readReservation(db),
  }
}

export const eventColumns =
  'place & 0xffffffffff AS place, created, sequence, id, subject, category, branch, code, state, json, checksum'

export interface EventRow {
  readonly place: bigint
  readonly created: bigint
  readonly sequence: bigint
  readonly id: Buffer
  readonly subject: Buffer
  readonly category: Category | null
  readonly branch: string | null
  readonly code: string
  readonly state: string
  readonly json: Buffer
  readonly checksum: bigint
}

function* events(db: Connection, key: FeedKey, feedNo: number, after: number): Generator<StoreRecord> {
  const select = db
    .prepare<[number, number, number], EventRow>(
      `SELECT ${eventColumns} FROM event WHERE place > (? << 40) | ? AND place < (? + 1) << 40 ORDER BY place`,
    )
    .safeIntegers()
  for (const row of select.iterate(feedNo, after, feedNo)) yield eventRecordOf(key, row)
}

/** Throws if the bytes are not what was written. */
export function eventRecordOf(key: FeedKey, row: EventRow): EventRecord {
  const { created, category, branch, code, state, json } = row
  const position = Number(row.place)
  assertUndamaged({ position, checksum: Number(row.checksum) }, json)
  return {
    kind: 'event',
    key,
    position,
    sequenceNumber: Number(row.sequence),
    created,
    id: uuidOfBytes(row.id),
    subjectId: uuidOfBytes(row.subject),
    category,
    branch,
    code,
    payloadState: state,
    json: json.toString('utf8'),
  }
}

export interface IdRow {
  readonly id: Buffer
  readonly position: bigint
  readonly content_hash: Buffer | null
  readonly skipped: bigint | null
}

function* ids(db: Connection, key: FeedKey, feedNo: number): Generator<StoreRecord> {
  const select = db
    .prepare<[number], IdRow>('SELECT id, position, content_hash, skipped FROM event_id WHERE feed_no = ?')
    .safeIntegers()
  for (const row of select.iterate(feedNo)) yield idRecordOf(key, row)
}

export function idRecordOf(key: FeedKey, row: IdRow): IdRecord {
  const { id, position, content_hash: contentHash, skipped } = row
  return { kind: 'id', key, id: uuidOfBytes(id), position: Number(position), contentHash, skipped }
}

function* subjects(db: Connection, key: FeedKey, feedNo: number): Generator<StoreRecord> {
  const select = db.prepare<[number], SubjectRow & { readonly subject: Buffer }>(
    `SELECT subject, position, published, category, branch, code, payload_hash, spelling, update_date_hash, kept_code
      FROM subject WHERE feed_no = ?`,
  )
  for (const row of select.iterate(feedNo)) {
    const { subject, position } = row
    yield { kind: 'subject', key, subjectId: uuidOfBytes(subject), position, state: subjectStateOf(row) }
  }
}
