import { bytesOfUuid } from '@property-events/protocol/plain'
import { storeFilled } from '../../../audit/changes.ts'
import type { Actor } from '../../../audit/actor.ts'
import { moveText } from '../../../tenants/move/move.ts'
import { positionFault } from '../../store-records.ts'
import type {
  EventRecord,
  FeedRecord,
  KeptRecord,
  ReductionRecord,
  StoreRecord,
  ThinningRecord,
} from '../../store-records.ts'
import type { NoteChanges } from '../../../sql/sqlite.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { branchViewEnterer, eventStatements } from '../../../events/sqlite/append/enter-branch-views.ts'
import { eventChecksum } from '../../../events/sqlite/event-checksum.ts'
import { feedReader } from '../../../events/sqlite/feed-row.ts'
import type { FeedRow } from '../../../events/sqlite/feed-row.ts'
import { putDecisions } from '../../exported-records.ts'
import { statementRunner } from '../../../sql/sqlite.ts'
import { keptEvents } from '../../../events/sqlite/kept-events.ts'
import { metaOf, raiseReservation } from '../meta.ts'
import { eventReducer } from '../reduce/reduce-events.ts'
import type { EventRow } from '../reduce/reduce-events.ts'
import { subjectValues } from '../../../events/sqlite/subject-row.ts'

/** Inserts records of another store, in one commit. Throws, and leaves everything unchanged, if they do not follow. */
export function recordImporter(
  db: Connection,
  note: NoteChanges,
): (records: readonly StoreRecord[], actor: Actor) => void {
  const feedOf = feedReader(db)
  const statements = importStatements(db)
  const put = (record: StoreRecord, actor: Actor): void => {
    if (record.kind === 'whole') {
      metaOf(db).set('first_offset', String(record.firstOffset))
      metaOf(db).set('needs_epoch', record.needsEpoch ? '1' : '0')
      raiseReservation(db, record.reservedUntil ?? 0n)
      note(storeFilled(record), actor)
      return
    }
    const feed = feedOf(record.key)
    if (feed === undefined) throw new Error(`no tenant ${record.key.tenantId}`)
    putOfFeed(statements, feed, record)
  }
  const all = db.transaction((records: readonly StoreRecord[], actor: Actor) => {
    for (const record of records) put(record, actor)
  })
  return (records, actor) => all.immediate(records, actor)
}

type ImportStatements = ReturnType<typeof importStatements>

function importStatements(db: Connection) {
  return {
    ...eventStatements(db),
    enterBranchViews: branchViewEnterer(db),
    reduceEvent: eventReducer(db),
    run: statementRunner(db),
    kept: keptEvents(db),
    setHash: db.prepare('UPDATE event_id SET content_hash = ? WHERE feed_no = ? AND id = ?'),
    findEvent: db.prepare<[number, number], EventRow>(
      `SELECT place & 0xffffffffff AS position, sequence, id, subject, state, checksum, json FROM event
        WHERE place = (? << 40) | ?`,
    ),
    findFull: db.prepare<[number, number], EventRow>(
      `SELECT place & 0xffffffffff AS position, sequence, id, subject, state, checksum, json FROM event
        WHERE place = (? << 40) | ? AND state <> 'erased'`,
    ),
    takeResult: db.prepare(
      `DELETE FROM consumer_result
        WHERE tenant = (SELECT tenant FROM feed WHERE feed_no = ? AND feed = 'property') AND subject = ? AND sequence = ?`,
    ),
    takeResultChanges: db.prepare(
      `DELETE FROM consumer_result_change
        WHERE tenant = (SELECT tenant FROM feed WHERE feed_no = ? AND feed = 'property') AND subject = ? AND sequence = ?`,
    ),
    noteReduced: db.prepare(
      `INSERT INTO reduced_event (feed_no, revision, position, sequence) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    ),
    noteThinned: db.prepare(
      'INSERT INTO thinned_event (feed_no, thinned, position) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    ),
    insertEvent: db.prepare(
      `INSERT INTO event (place, feed_no, created, sequence, id, subject, category, branch, code, state, json, checksum)
        VALUES ((? << 40) | ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    putId: db.prepare(
      `INSERT INTO event_id (feed_no, id, position, content_hash, skipped) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET position = excluded.position, content_hash = excluded.content_hash,
          skipped = excluded.skipped`,
    ),
    putFeed: db.prepare(
      `UPDATE feed SET epoch = ?, offset = ?, revision = ?, thinned = ?, needs_epoch = ?, move = ?,
        stamp_floor = max(coalesce(stamp_floor, 0), ?) WHERE feed_no = ?`,
    ),
  }
}

function putOfFeed(
  statements: ImportStatements,
  feed: FeedRow,
  record: Exclude<StoreRecord, { kind: 'whole' }>,
): void {
  const { feedNo } = feed
  switch (record.kind) {
    case 'event':
      putEvent(statements, feed, record)
      break
    case 'id': {
      const { position, contentHash, skipped } = record
      statements.putId.run(feedNo, bytesOfUuid(record.id), position, contentHash, skipped)
      break
    }
    case 'subject':
      statements.putSubject.run(...subjectValues(feedNo, record.subjectId, record.position, record.state))
      break
    case 'reduction':
      putReduction(statements, feedNo, record)
      break
    case 'kept':
      putKept(statements, feedNo, record)
      break
    case 'restriction':
    case 'hold':
    case 'expiring':
      for (const query of putDecisions([record])) statements.run(query)
      break
    case 'thinning':
      putThinning(statements, feedNo, record)
      break
    case 'feed':
      putCounter(statements, feed, record)
  }
}

function putEvent(
  { insertEvent, takeOrdinals, insertEntry, advance, enterBranchViews }: ImportStatements,
  { feedNo, lastPosition, hasBranchViews }: FeedRow,
  record: EventRecord,
): void {
  const { key, position, created, sequenceNumber, category, branch, code, payloadState } = record
  if (position !== lastPosition + 1) throw positionFault(key, lastPosition + 1, position)
  const [id, subject] = [bytesOfUuid(record.id), bytesOfUuid(record.subjectId)]
  const frame = [feedNo, position, feedNo, created, sequenceNumber, id, subject]
  const json = Buffer.from(record.json)
  insertEvent.run(...frame, category, branch, code, payloadState, json, eventChecksum(position, json))
  advance.run(position, created, feedNo)
  if (hasBranchViews) enterBranchViews(feedNo, lastPosition, position)
  if (category === null) return
  const ordinal = takeOrdinals.get(1, feedNo, category)
  if (ordinal !== undefined) insertEntry.run(feedNo, category, ordinal, position, created)
}

function putReduction(
  { reduceEvent, findFull, takeResult, takeResultChanges, noteReduced, kept }: ImportStatements,
  feedNo: number,
  { key, revision, events }: ReductionRecord,
): void {
  for (const { position, sequenceNumber, isKept } of events) {
    const event = isKept === true ? undefined : findFull.get(feedNo, position)
    if (event !== undefined) {
      reduceEvent(feedNo, key.feed, event, 'erased')
      kept.drop(feedNo, event.subject, position)
      takeResult.run(feedNo, event.subject, sequenceNumber)
      takeResultChanges.run(feedNo, event.subject, sequenceNumber)
    }
    noteReduced.run(feedNo, revision, position, sequenceNumber)
  }
}

/** Applies the event's state in the source: its bytes are kept aside, or shown again. */
function putKept(
  { kept, findEvent, setHash }: ImportStatements,
  feedNo: number,
  { key, position, isHidden, contentHash, ...record }: KeptRecord,
): void {
  const event = findEvent.get(feedNo, position)
  if (event === undefined) return
  const { sequence, subject } = event
  const json = Buffer.from(record.json)
  const row = { position, sequence, subject, json, checksum: eventChecksum(position, json) }
  if (isHidden) kept.hide(feedNo, key.feed, row)
  else kept.show(feedNo, row)
  setHash.run(contentHash, feedNo, event.id)
}

function putThinning(
  { reduceEvent, findFull, noteThinned, kept }: ImportStatements,
  feedNo: number,
  { key, thinned, positions }: ThinningRecord,
): void {
  for (const position of positions) {
    const event = findFull.get(feedNo, position)
    if (event !== undefined && event.state !== 'thinned') {
      reduceEvent(feedNo, key.feed, event, 'thinned')
      // It was restricted when it came, and the restriction has been lifted since.
      kept.drop(feedNo, event.subject, position)
    }
    noteThinned.run(feedNo, thinned, position)
  }
}

function putCounter({ putFeed }: ImportStatements, feed: FeedRow, record: FeedRecord): void {
  const { epoch, offset, revision, thinned = 0, needsEpoch, move, stampFloor } = record
  if (feed.lastPosition !== record.lastPosition) {
    throw positionFault(record.key, feed.lastPosition, record.lastPosition)
  }
  const moved = move === undefined ? feed.closedBy : moveText(move)
  const state = [epoch, offset, revision, thinned, needsEpoch === true ? 1 : 0, moved]
  putFeed.run(...state, stampFloor ?? 0n, feed.feedNo)
}
