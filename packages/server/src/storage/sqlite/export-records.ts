import { feedNames, uuidOfBytes } from '@property-events/protocol/plain'
import type { Category, FeedName } from '@property-events/protocol'
import { moveStateOf } from '../../tenants/move/move.ts'
import type { FeedKey } from '../storage.ts'
import { recordsPerPiece, reductionRecords, thinningRecords } from '../store-records.ts'
import type { EventRecord, IdRecord, ReducedPlace, StoreRecord } from '../store-records.ts'
import { connectForReading } from './connection.ts'
import type { Connection } from './connection.ts'
import { assertUndamaged } from './event-checksum.ts'
import { expiringAfter, expiringOf } from '../../privacy/contact-expiry/store.ts'
import { holdOf, holdsOfFeed } from '../../privacy/hold/store.ts'
import { statementRunner } from '../../sql/sqlite.ts'
import { metaOf } from './meta.ts'
import { restrictionRecords } from './restricting.ts'
import { subjectStateOf } from './subject-row.ts'
import type { SubjectRow } from './subject-row.ts'
import { readReservation } from './stored-reservation.ts'

/** On a separate connection, whose one transaction shows one moment for as long as the copy takes. */
export async function exportRecords(
  file: string,
  after: (key: FeedKey) => number,
  take: (records: readonly StoreRecord[]) => Promise<void>,
): Promise<void> {
  const db = connectForReading(file)
  try {
    db.exec('BEGIN')
    let piece: StoreRecord[] = []
    for (const record of allRecords(db, after)) {
      piece.push(record)
      if (piece.length < recordsPerPiece) continue
      await take(piece)
      piece = []
    }
    await take(piece)
  } finally {
    db.close()
  }
}

interface FeedRow {
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

function* allRecords(db: Connection, after: (key: FeedKey) => number): Generator<StoreRecord> {
  const feeds = db
    .prepare<[], FeedRow>(
      `SELECT feed_no, tenant, feed, epoch, offset, revision, thinned, last_position, needs_epoch, move,
        CAST(stamp_floor AS TEXT) AS stamp_floor FROM feed ORDER BY feed_no`,
    )
    .all()
  for (const row of feeds) {
    const feed = feedNames.find((name): name is FeedName => name === row.feed)
    if (feed === undefined) continue
    const key = { tenantId: row.tenant, feed }
    yield* events(db, key, row.feed_no, after(key))
    yield* ids(db, key, row.feed_no)
    yield* subjects(db, key, row.feed_no)
    yield* reductions(db, key, row.feed_no)
    yield* restrictionRecords(db, key, row.feed_no)
    yield* holdRecords(db, key)
    yield* expiringRecords(db, key)
    const { epoch, offset, revision, thinned, last_position: lastPosition } = row
    const [needsEpoch, move] = [row.needs_epoch === 1, moveStateOf(row.move)]
    const stampFloor = BigInt(row.stamp_floor ?? 0)
    yield { kind: 'feed', key, epoch, offset, revision, thinned, lastPosition, needsEpoch, move, stampFloor }
  }
  const meta = metaOf(db)
  yield {
    kind: 'whole',
    firstOffset: Number(meta.get('first_offset')),
    needsEpoch: meta.get('needs_epoch') === '1',
    reservedUntil: readReservation(db),
  }
}

export function holdRecords(db: Connection, key: FeedKey): readonly StoreRecord[] {
  return statementRunner(db)(holdsOfFeed(key)).map((row) => ({ kind: 'hold', ...holdOf(row) }))
}

export function* expiringRecords(db: Connection, key: FeedKey): Generator<StoreRecord> {
  if (key.feed !== 'contact') return
  const run = statementRunner(db)
  for (let after: string | undefined; ;) {
    const records = run(expiringAfter(key.tenantId, after)).map((row) => expiringOf(key, row))
    yield* records
    after = records.at(-1)?.subjectId
    if (after === undefined) return
  }
}

/** What erasures and retention have reduced, piece by piece. */
export function* reductions(db: Connection, key: FeedKey, feedNo: number): Generator<StoreRecord> {
  yield* erasedSteps(db, key, feedNo)
  yield* thinnedSteps(db, key, feedNo)
}

function* thinnedSteps(db: Connection, key: FeedKey, feedNo: number): Generator<StoreRecord> {
  const select = db.prepare<
    [number, number, number, number],
    { readonly thinned: number; readonly position: number }
  >(
    `SELECT thinned, position FROM thinned_event
      WHERE feed_no = ? AND (thinned, position) > (?, ?) ORDER BY thinned, position LIMIT ?`,
  )
  for (let [thinned, position] = [0, 0]; ;) {
    const rows = select.all(feedNo, thinned, position, recordsPerPiece)
    yield* thinningRecords(key, rows)
    const last = rows.at(-1)
    if (last === undefined) return
    ;[thinned, position] = [last.thinned, last.position]
  }
}

function* erasedSteps(db: Connection, key: FeedKey, feedNo: number): Generator<StoreRecord> {
  const select = db.prepare<
    [number, number, number, number],
    ReducedPlace & { readonly revision: number; readonly state: string }
  >(
    `SELECT revision, position, reduced_event.sequence AS sequenceNumber, event.state FROM reduced_event
      JOIN event ON event.place = (reduced_event.feed_no << 40) | position
      WHERE reduced_event.feed_no = ? AND (revision, position) > (?, ?) ORDER BY revision, position LIMIT ?`,
  )
  for (let [revision, position] = [0, 0]; ;) {
    const rows = select.all(feedNo, revision, position, recordsPerPiece)
    yield* reductionRecords(key, rows)
    const last = rows.at(-1)
    if (last === undefined) return
    ;[revision, position] = [last.revision, last.position]
  }
}

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
      `SELECT place & 0xffffffffff AS place, created, sequence, id, subject, category, branch, code, state,
        json, checksum
      FROM event WHERE place > (? << 40) | ? AND place < (? + 1) << 40 ORDER BY place`,
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
