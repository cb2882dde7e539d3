/** Appends in one immediate transaction, of which there is one at a time: look-ups see everything committed before. */
import type { EventTypeCatalogue, Ticks } from '@property-events/protocol'
import { refusalOf } from '../../feed.ts'
import { readClock } from '../../../runtime/clock.ts'
import type { SharedClock } from '../../../runtime/clock.ts'
import {
  decideAppend,
  defaultClockToleranceTicks,
  previewOf,
  viewCounts,
} from '../../append/decide-append.ts'
import type { AppendDecision, EventRow, ReservedId } from '../../append/decide-append.ts'
import { eventJson, parseEventJson } from '../../event-json.ts'
import type { AppendLookups } from '../../append/append-plan.ts'
import { feedName } from '../../feed-key.ts'
import type { AppendBatch, AppendOutcome } from '../../append/append-batch.ts'
import type { FeedKey } from '../../feed-key.ts'
import { boundUuid, subjectStateOf, subjectValues } from '../subject-row.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { assertUndamaged, damagedAt, eventChecksum } from '../event-checksum.ts'
import { feedToPublishReader } from '../feed-row.ts'
import type { FeedRow, FeedToPublish } from '../feed-row.ts'
import type { SubjectRow } from '../subject-row.ts'
import { branchViewEnterer, eventStatements } from './enter-branch-views.ts'
import { keptEvents } from '../kept-events.ts'

interface AppendContext {
  readonly catalogue: EventTypeCatalogue
  readonly clock: SharedClock | undefined
  readonly overrideClockCheck: boolean
}

export interface Appender {
  /** One commit for all batches or, within a transaction, a part of it. `floor`: no stamp is before it (P3). */
  append(batches: readonly AppendBatch[], floor: Ticks): readonly AppendOutcome[]
  preview(batch: AppendBatch): AppendOutcome
}

/** A feed's counter as the commit has found it, and the rows that the commit has added so far. */
interface FeedInCommit {
  readonly row: FeedToPublish
  readonly rows: EventRow[]
}

type Decided =
  | { readonly outcome: AppendOutcome }
  | { readonly feed: FeedInCommit; readonly decision: AppendDecision }

/** What all batches of a commit share. */
interface Moment {
  readonly now: Ticks
  readonly floor: Ticks
}

export function appender(db: Connection, context: AppendContext): Appender {
  const feedOf = feedToPublishReader(db)
  const lookupsOf = lookupReader(db)
  const insert = insertStatements(db)

  const decide = (batch: AppendBatch, feed: FeedInCommit | undefined, moment: Moment): Decided => {
    if (feed === undefined) return { outcome: { kind: 'unknownFeed' } }
    const { row, rows } = feed
    const refusal = refusalOf(row, 'event')
    if (refusal !== undefined) return { outcome: refusal }
    const { position: lastPosition = row.lastPosition, created: lastCreated = row.lastCreated } =
      rows.at(-1) ?? {}
    const { now, floor } = moment
    const decision = decideAppend(batch, { ...row, lastPosition, lastCreated }, lookupsOf(row.feedNo), {
      catalogue: context.catalogue,
      now,
      floor: row.stampFloor > floor ? row.stampFloor : floor,
      clockToleranceTicks: context.overrideClockCheck ? undefined : defaultClockToleranceTicks,
    })
    return { feed, decision }
  }
  /** Read inside the transaction, which may have waited: time must rise with the numbers (P3, D25). */
  const momentNow = (floor: Ticks): Moment => ({ now: readClock(context.clock), floor })
  const feedInCommit = (key: FeedKey): FeedInCommit | undefined => {
    const row = feedOf(key)
    return row && { row, rows: [] }
  }

  const commit = db.transaction((batches: readonly AppendBatch[], floor: Ticks): readonly AppendOutcome[] => {
    const moment = momentNow(floor)
    const feeds = new Map<string, FeedInCommit>()
    const outcomes = batches.map((batch) => {
      const name = feedName(batch.key)
      const decided = decide(batch, feeds.get(name) ?? feedInCommit(batch.key), moment)
      if ('outcome' in decided) return decided.outcome
      const { feed, decision } = decided
      insert.events(batch.key, feed.row.feedNo, decision.rows, decision.reserved, moment.now)
      feed.rows.push(...decision.rows)
      feeds.set(name, feed)
      return decision.outcome
    })
    for (const { row, rows } of feeds.values()) insert.counts(row, rows)
    return outcomes
  })

  const tryOut = db.transaction((batch: AppendBatch): AppendOutcome => {
    const decided = decide(batch, feedInCommit(batch.key), momentNow(0n))
    return 'outcome' in decided ? decided.outcome : previewOf(decided.decision)
  })

  return {
    append: (batches, floor) => commit.immediate(batches, floor),
    // Deferred and without a write, so it is a read that does not wait.
    preview: (batch) => tryOut.deferred(batch),
  }
}

/** The planner's look-ups, read inside the transaction. */
function lookupReader(db: Connection): (feedNo: number) => AppendLookups {
  const idTaken = db.prepare<[number, Uint8Array], { position: number; content_hash: Uint8Array | null }>(
    'SELECT position, content_hash FROM event_id WHERE feed_no = ? AND id = ?',
  )
  const subject = db.prepare<[number, Uint8Array], SubjectRow>(
    `SELECT position, published, category, branch, code, payload_hash, spelling, update_date_hash, kept_code
      FROM subject WHERE feed_no = ? AND subject = ?`,
  )
  const event = db.prepare<[number, number], { json: Buffer; checksum: number }>(
    'SELECT json, checksum FROM event WHERE place = (? << 40) | ?',
  )
  return (feedNo) => ({
    idTaken(id) {
      const row = idTaken.get(feedNo, boundUuid(id))
      return row && { position: row.position, contentHash: row.content_hash }
    },
    subject(subjectId) {
      const row = subject.get(feedNo, boundUuid(subjectId))
      return row && { ...subjectStateOf(row), position: row.position }
    },
    event(position) {
      const row = event.get(feedNo, position)
      if (row === undefined) throw damagedAt(position)
      assertUndamaged({ position, checksum: row.checksum }, row.json)
      return parseEventJson(row.json.toString('utf8'))
    },
  })
}

/** Call these inside a transaction only. */
interface InsertEvents {
  /** What was decided for one batch. `now`: when the reserved ids were skipped. */
  events(
    key: FeedKey,
    feedNo: number,
    rows: readonly EventRow[],
    reserved: readonly ReservedId[],
    now: Ticks,
  ): void
  /** The counters of a feed and its views, and the entries of the views, for all rows that the commit has added to the feed. */
  counts(feed: Pick<FeedRow, 'feedNo' | 'hasBranchViews'>, rows: readonly EventRow[]): void
}

function insertStatements(db: Connection): InsertEvents {
  const insertEvent = db.prepare(
    `INSERT INTO event (place, feed_no, created, sequence, id, subject, category, branch, code, state, json, checksum)
      VALUES ((? << 40) | ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const insertId = db.prepare(
    'INSERT INTO event_id (feed_no, id, position, content_hash, skipped) VALUES (?, ?, ?, ?, ?)',
  )
  const { putSubject, advance } = eventStatements(db)
  const insertEntries = entryInserter(db)
  const { keep } = keptEvents(db)
  const enterBranchViews = branchViewEnterer(db)

  const insertRow = (feedNo: number, row: EventRow, json: Uint8Array): void => {
    const { position, sequenceNumber, created, event } = row
    const { code, category, branch } = event.state
    const id = boundUuid(event.id)
    const subject = boundUuid(event.subjectId)
    insertEvent.run(
      feedNo,
      position,
      feedNo,
      created,
      sequenceNumber,
      id,
      subject,
      category,
      branch,
      code,
      event.payloadState,
      json,
      eventChecksum(position, json),
    )
    insertId.run(feedNo, id, position, event.contentHash, null)
    putSubject.run(...subjectValues(feedNo, event.subjectId, position, event.state))
  }

  return {
    events(key, feedNo, rows, reserved, now) {
      for (const row of rows) {
        const { event, position, sequenceNumber, createdDate } = row
        insertRow(feedNo, row, utf8(eventJson(key, event, sequenceNumber, createdDate)))
        if (event.kept === undefined) continue
        const whole = eventJson(key, { ...event, payload: event.kept }, sequenceNumber, createdDate)
        const subject = boundUuid(event.subjectId)
        keep(feedNo, { position, sequence: sequenceNumber, subject, json: Buffer.from(whole) })
      }
      for (const { id, position, contentHash } of reserved) {
        insertId.run(feedNo, boundUuid(id), position, contentHash, now)
      }
    },
    // Once for all batches of a feed: each UPDATE costs as much as inserting an event's id.
    counts({ feedNo, hasBranchViews }, rows) {
      insertEntries(feedNo, rows)
      const [first, last] = [rows[0], rows.at(-1)]
      if (first === undefined || last === undefined) return
      if (hasBranchViews) enterBranchViews(feedNo, first.position - 1, last.position)
      advance.run(last.position, last.created, feedNo)
    },
  }
}

/** Memory for the bytes of one event, reused for the next: SQLite copies them when they are bound. */
const room = Buffer.allocUnsafeSlow(64 * 1_024)

function utf8(text: string): Uint8Array {
  // A UTF-16 unit takes at most three bytes.
  return text.length * 3 > room.length ? Buffer.from(text) : room.subarray(0, room.write(text))
}

/** Counted first and taken at once: an UPDATE for every row would cost as much as inserting its entry. */
function entryInserter(db: Connection): (feedNo: number, rows: readonly EventRow[]) => void {
  const { takeOrdinals, insertEntry } = eventStatements(db)
  return (feedNo, rows) => {
    for (const [category, count] of viewCounts(rows)) {
      const last = takeOrdinals.get(count, feedNo, category)
      if (last === undefined) continue
      let ordinal = last - count
      for (const { position, created, event } of rows) {
        if (event.state.category !== category) continue
        ordinal += 1
        insertEntry.run(feedNo, category, ordinal, position, created)
      }
    }
  }
}
