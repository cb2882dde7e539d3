/** Erases on the writer's connection: each verb is one immediate transaction. */
import { bytesOfUuid, millisecondsOfTicks } from '@property-events/protocol/plain'
import { refusalOf } from '../../events/feed.ts'
import { feedNumbers } from '../../sql/database.ts'
import type { Ticks } from '@property-events/protocol'
import { erasureBegun, storeCompacted } from '../../audit/changes.ts'
import { begunErasure, closingBatch, refusalOfClosing } from '../begin-erasure.ts'
import type { ChangeCounts } from '../change-counts.ts'
import { readClock } from '../clock.ts'
import type { SharedClock } from '../clock.ts'
import { firstNotedHour } from '../erasure-store.ts'
import { numbersPerBlock, runLagMs } from '../../privacy/disclosure/disclosure.ts'
import { nodeSilenceMs } from '../node-store.ts'
import type { Actor, BeginErasureOutcome, Erasure, ErasureRequest, ReduceOutcome } from '../storage.ts'
import type { Appender } from './append.ts'
import { endRestrictions } from '../../privacy/restriction/store.ts'
import { statementRunner } from '../../sql/sqlite.ts'
import type { NoteChanges } from '../../sql/sqlite.ts'
import type { CommitLine } from './commit-line.ts'
import type { Connection } from './connection.ts'
import { erasedRangeReader } from './erased-range.ts'
import { erasureOf, erasureReader, erasureValues } from './erasure-row.ts'
import type { ErasureRow } from './erasure-row.ts'
import { feedReader } from './feed-row.ts'
import { readSettings } from './meta.ts'
import { reducer } from './reduce-events.ts'

export interface ErasureWrites {
  beginErasure(request: ErasureRequest): BeginErasureOutcome
  beginUnchangedErasure(request: ErasureRequest, position: number): BeginErasureOutcome | Changed
  reduceErased(erasureId: string, limit: number): ReduceOutcome
  acknowledgeErasure(erasureId: string, nodeId: string | undefined): 'unreachable' | 'waiting'
  markOverwritten(erasureIds: readonly string[], actor: Actor): number
}

type Changed = { readonly kind: 'changed' }

export interface ErasureWriteParts {
  readonly appending: Appender
  readonly note: NoteChanges
  /** The closing event is stamped like any other (P3). */
  readonly line: Pick<CommitLine, 'commit'>
  /** The counts of feeds that have changed, raised after the commit. */
  readonly changes: Pick<ChangeCounts, 'raise'>
}

export function erasureWrites(
  db: Connection,
  clock: SharedClock | undefined,
  { appending, note, line, changes }: ErasureWriteParts,
): ErasureWrites {
  const nowMs = (): number => millisecondsOfTicks(readClock(clock))
  const read = erasureReader(db)
  const begin = beginner(db, appending, note, nowMs)
  const reduce = reducer(db, nowMs)
  const beginUnchanged = unchangedBeginner(db, begin)
  return {
    beginUnchangedErasure(request, position) {
      const outcome = line.commit((floor) => beginUnchanged.immediate(request, position, floor))
      if (outcome.kind === 'begun') changes.raise(request.key)
      return outcome
    },
    beginErasure(request) {
      const outcome = line.commit((floor) => begin.immediate(request, floor))
      if (outcome.kind === 'begun') changes.raise(request.key)
      return outcome
    },
    reduceErased(erasureId, limit) {
      const outcome = reduce(erasureId, limit)
      const row = outcome.kind === 'reduced' ? read(erasureId) : undefined
      if (row !== undefined) changes.raise(erasureOf(row).key)
      return outcome
    },
    ...acknowledger(db, nowMs),
    markOverwritten: overwriter(db, note, nowMs),
  }
}

function unchangedBeginner(
  db: Connection,
  begin: (request: ErasureRequest, floor: Ticks) => BeginErasureOutcome,
) {
  const latestOf = db
    .prepare<[string, string, Uint8Array], number>(
      `SELECT position FROM feed JOIN subject USING (feed_no) WHERE tenant = ? AND feed = ? AND subject = ?`,
    )
    .pluck()
  return db.transaction((request: ErasureRequest, position: number, floor: Ticks) => {
    const { target, key } = request
    if (target.kind !== 'subject') return { kind: 'changed' } satisfies Changed
    const latest = latestOf.get(key.tenantId, key.feed, bytesOfUuid(target.subjectId))
    return latest === position ? begin(request, floor) : ({ kind: 'changed' } satisfies Changed)
  })
}

function beginner(db: Connection, appending: Appender, note: NoteChanges, nowMs: () => number) {
  const read = erasureReader(db)
  const rangeOf = erasedRangeReader(db, nowMs)
  const feedOf = feedReader(db)
  const run = statementRunner(db)
  const insert = db.prepare(`INSERT INTO erasure VALUES (${Array(20).fill('?').join(', ')})`)
  return db.transaction((request: ErasureRequest, floor: Ticks): BeginErasureOutcome => {
    const { erasureId, key, target } = request
    const known = read(erasureId)
    if (known !== undefined) return { kind: 'begun', erasure: erasureOf(known) }
    const range = rangeOf(key, target)
    if ('kind' in range) return range
    const { feed, firstPosition, lastPosition, events } = range
    let closing: Erasure['closing']
    if (target.kind === 'subject') {
      const [outcome] = appending.append([closingBatch(request, target.subjectId)], floor)
      if (outcome?.kind !== 'stored') return refusalOfClosing(outcome ?? { kind: 'unknownFeed' })
      const { id: eventId = '', stored } = outcome.events.at(-1) ?? {}
      closing = { eventId, sequenceNumber: stored?.sequenceNumber ?? 0 }
      run(endRestrictions(key, target.subjectId, request.actor, nowMs()))
    } else {
      const refusal = refusalOf(feed, 'event')
      if (refusal !== undefined) return refusal
    }
    const { revision } = feedOf(key) ?? feed
    const erasure = begunErasure({ request, events, closing, revision, nowMs: nowMs() })
    note(erasureBegun(request), request.actor)
    insert.run(...erasureValues(feed.feedNo, firstPosition, lastPosition, erasure))
    return { kind: 'begun', erasure }
  })
}

function acknowledger(db: Connection, nowMs: () => number): Pick<ErasureWrites, 'acknowledgeErasure'> {
  const read = erasureReader(db)
  const insertNode = db.prepare('INSERT INTO erasure_node VALUES (?, ?) ON CONFLICT DO NOTHING')
  const findMissing = db.prepare<[number, string]>(
    `SELECT 1 FROM node WHERE seen_ms > ? AND node NOT IN (SELECT node FROM erasure_node WHERE erasure = ?) LIMIT 1`,
  )
  const noteSent = sentNoter(db, nowMs)
  const setUnreachable = db.prepare(
    `UPDATE erasure SET state = 'unreachable', unreachable_ms = ? WHERE erasure = ? AND state = 'reduced'`,
  )
  const acknowledge = db.transaction((erasureId: string, nodeId: string | undefined) => {
    const row = read(erasureId)
    if (row === undefined || row.state === 'reducing') return 'waiting'
    if (nodeId !== undefined) insertNode.run(erasureId, nodeId)
    if (row.state !== 'reduced') return 'unreachable'
    if (findMissing.get(nowMs() - nodeSilenceMs, erasureId) !== undefined) return 'waiting'
    setUnreachable.run(nowMs(), erasureId)
    noteSent(row)
    return 'unreachable'
  })
  return { acknowledgeErasure: (erasureId, nodeId) => acknowledge.immediate(erasureId, nodeId) }
}

function overwriter(
  db: Connection,
  note: NoteChanges,
  nowMs: () => number,
): ErasureWrites['markOverwritten'] {
  const set = db.prepare(
    `UPDATE erasure SET state = 'overwritten', overwritten_ms = ? WHERE erasure = ? AND state = 'unreachable'`,
  )
  const { storeId } = readSettings(db)
  const overwrite = db.transaction((erasureIds: readonly string[], actor: Actor) => {
    const count = erasureIds.reduce((sum, erasureId) => sum + set.run(nowMs(), erasureId).changes, 0)
    note(storeCompacted(storeId, count), actor)
    return count
  })
  return (erasureIds, actor) => overwrite.immediate(erasureIds, actor)
}

/** The blocks that contain the erased events. */
export const sentOfErasedStatement = `WITH erased AS (
    SELECT place & 0xffffffffff AS position, sequence FROM event INDEXED BY event_subject
      WHERE feed_no = @feedNo AND subject = @subject
    UNION ALL
    SELECT place & 0xffffffffff, sequence FROM event WHERE place = (@feedNo << 40) | @position AND @subject IS NULL
  )
  SELECT @erasure, key_id, view, hour, block, ranges FROM sent INDEXED BY sent_block
  WHERE tenant = @tenant AND feed = @feed AND hour >= @fromHour AND block IN (
    SELECT position / ${numbersPerBlock} FROM erased UNION SELECT sequence / ${numbersPerBlock} FROM erased
  )`

/** Notes what keys have been sent of the erased events up to now, from the hours to which later reads are added. Within a transaction. */
function sentNoter(db: Connection, nowMs: () => number): (row: ErasureRow) => void {
  const note = db.prepare(
    `INSERT INTO erasure_noted (erasure, doubt_ms)
      SELECT ?, min(through_ms) FROM sent_run WHERE ended = 0 AND through_ms < ? AND coalesce(lost_ms, ?) >= ?`,
  )
  const copy = db.prepare(
    `INSERT INTO erasure_sent (erasure, key_id, view, hour, block, ranges) ${sentOfErasedStatement}`,
  )
  return (row) => {
    const {
      erasure,
      tenant,
      feed,
      subject,
      feed_no: feedNo,
      last_position: position,
      begun_ms: begunMs,
    } = row
    const [now, fromHour] = [nowMs(), firstNotedHour(begunMs)]
    note.run(erasure, now - runLagMs, now, fromHour * 3_600_000)
    const feedNumber = feed === 'property' ? feedNumbers.property : feedNumbers.contact
    copy.run({ erasure, tenant, feed: feedNumber, feedNo, subject, position, fromHour })
  }
}
