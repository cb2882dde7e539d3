/** Thinning on a file, step by step. */
import { millisecondsOfTicks } from '@property-events/protocol/plain'
import type { Ticks } from '@property-events/protocol'
import type { ChangeCounts, Watchers } from '../../../events/watchers.ts'
import { readClock } from '../../../runtime/clock.ts'
import type { SharedClock } from '../../../runtime/clock.ts'
import { cutThinStep, nextThinStep } from '../../../privacy/retention/retention.ts'
import type {
  DueEvent,
  Thinning,
  ThinOutcome,
  ThinProgress,
  ThinSpan,
  ThinStep,
} from '../../../privacy/retention/retention.ts'
import { refusalOf } from '../../../events/feed.ts'
import { turnFor } from '../../../privacy/retention/store.ts'
import { statementRunner } from '../../../sql/sqlite.ts'
import type { OnWriter } from '../../../sql/sqlite.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { feedReader } from '../../../events/sqlite/feed-row.ts'
import { eventReducer } from './reduce-events.ts'

export interface RetentionWrites {
  thinEvents(span: ThinSpan, limit: number, nodeId: string): ThinOutcome
}

export function retentionWrites(
  db: Connection,
  clock: SharedClock | undefined,
  changes: Pick<ChangeCounts, 'raise'>,
): RetentionWrites {
  const nowMs = (): number => millisecondsOfTicks(readClock(clock))
  const thin = thinner(db, nowMs)
  return {
    thinEvents(span, limit, nodeId) {
      const outcome = thin(span, limit, nodeId)
      if (outcome.kind === 'thinned' && outcome.events > 0) changes.raise(span.key)
      return outcome
    },
  }
}

function thinner(db: Connection, nowMs: () => number): RetentionWrites['thinEvents'] {
  const run = statementRunner(db)
  const feedOf = feedReader(db)
  const read = dueReader(db)
  const reduceEvent = eventReducer(db)
  const raise = db
    .prepare<[number], number>('UPDATE feed SET thinned = thinned + 1 WHERE feed_no = ? RETURNING thinned')
    .pluck()
  const noteThinned = db.prepare('INSERT INTO thinned_event VALUES (?, ?, ?)')
  const putProgress = db.prepare('INSERT OR REPLACE INTO thin_progress VALUES (?, ?, ?, ?, ?)')
  const step = db.transaction((span: ThinSpan, limit: number, nodeId: string): ThinOutcome => {
    const { key, before, supersededBefore } = span
    const feed = feedOf(key)
    if (feed === undefined) return { kind: 'unknownFeed' }
    const refusal = refusalOf(feed, 'nothing')
    if (refusal !== undefined) return refusal
    const { feedNo } = feed
    const ends = read.ends(feedNo, before, supersededBefore)
    const next = nextThinStep(read.progress(feedNo), ends, span, limit)
    if (next === undefined) return { kind: 'finished' }
    if (run(turnFor(nodeId, nowMs())).length === 0) return { kind: 'busy' }
    const { due, to } = cutThinStep(next, read.due(feedNo, next, nowMs()))
    const thinned = due.length === 0 ? undefined : raise.get(feedNo)
    for (const event of due) {
      reduceEvent(feedNo, key.feed, event, 'thinned')
      noteThinned.run(feedNo, thinned, event.position)
    }
    const { aged, superseded, held } = to
    putProgress.run(feedNo, aged, superseded, held?.from ?? null, held?.before ?? null)
    return { kind: 'thinned', events: due.length }
  })
  return (span, limit, nodeId) => step.immediate(span, limit, nodeId)
}

export function fileThinning(
  db: Connection,
  clock: SharedClock | undefined,
  writer: OnWriter<RetentionWrites>,
  watching: Watchers,
): Thinning {
  const nowMs = (): number => millisecondsOfTicks(readClock(clock))
  const feedOf = feedReader(db)
  const read = dueReader(db)
  const nextOf = (feedNo: number, span: ThinSpan, limit: number, progress?: ThinProgress) => {
    const ends = read.ends(feedNo, span.before, span.supersededBefore)
    return nextThinStep(progress ?? read.progress(feedNo), ends, span, limit)
  }
  return {
    async countDue(span, limit, progress) {
      const feedNo = feedOf(span.key)?.feedNo
      const next = feedNo === undefined ? undefined : nextOf(feedNo, span, limit, progress)
      if (feedNo === undefined || next === undefined) return undefined
      const { due, to } = cutThinStep(next, read.due(feedNo, next, nowMs()))
      return { events: due.length, progress: to }
    },
    async thin(span, limit, nodeId) {
      const feed = feedOf(span.key)
      const isOpen = feed !== undefined && refusalOf(feed, 'nothing') === undefined
      // The writer is not asked in vain.
      if (isOpen && nextOf(feed.feedNo, span, 1) === undefined) return { kind: 'finished' }
      const outcome = await writer.thinEvents(span, limit, nodeId)
      if (outcome.kind === 'thinned' && outcome.events > 0) watching.notify(span.key)
      return outcome
    },
  }
}

/** Finds what a step of retention has to thin (D17): index probes for the events that the step looks at, and no others. */
interface DueRow extends DueEvent {
  readonly id: Uint8Array
  readonly subject: Uint8Array
  readonly checksum: number
  readonly json: Buffer
}

/** `event` is on hold, or restricted until everything is shown again. */
const isHeld = `EXISTS (SELECT 1 FROM hold INDEXED BY hold_subject WHERE hold.subject = event.subject
      AND (hold.tenant, hold.feed) = (SELECT tenant, feed FROM feed_key WHERE feed_no = :feed)
      AND hold.ended_ms IS NULL AND hold.until_ms > :now)
      OR EXISTS (SELECT 1 FROM restriction INDEXED BY restriction_subject WHERE restriction.subject = event.subject
        AND (restriction.tenant, restriction.feed) = (SELECT tenant, feed FROM feed_key WHERE feed_no = :feed)
        AND restriction.state IN ('hiding', 'hidden', 'restricted', 'lifting')) AS held`

const dueStatements = {
  /** Events that are old enough and have a later event of their subject. */
  aged: `SELECT event.place & 0xffffffffff AS at, event.place & 0xffffffffff AS position, id, subject, checksum, json,
      ${isHeld}
    FROM event WHERE event.place > (:feed << 40) | :from AND event.place <= (:feed << 40) | :to AND state IN ('full', 'restricted')
      AND EXISTS (SELECT 1 FROM event AS later INDEXED BY event_subject WHERE later.feed_no = :feed
        AND later.subject = event.subject AND later.place > event.place AND later.place <= (:feed << 40) | :until)
    ORDER BY event.place`,
  /** Events that newer ones have superseded, if the first walk has passed them. */
  superseded: `SELECT newer.place & 0xffffffffff AS at, event.place & 0xffffffffff AS position, event.id, event.subject,
      event.checksum, event.json, ${isHeld}
    FROM event AS newer CROSS JOIN event ON event.place = (SELECT max(before.place) FROM event AS before
      INDEXED BY event_subject WHERE before.feed_no = :feed AND before.subject = newer.subject AND before.place < newer.place)
    WHERE newer.place > (:feed << 40) | :from AND newer.place <= (:feed << 40) | :to
      AND event.place <= (:feed << 40) | :aged AND event.state IN ('full', 'restricted')
    ORDER BY newer.place`,
  /** The last position before a time. */
  end: `SELECT place & 0xffffffffff FROM event INDEXED BY event_created
    WHERE feed_no = CAST(? AS INTEGER) AND created < CAST(? AS INTEGER) ORDER BY created DESC LIMIT 1`,
} as const

interface DueReader {
  ends(feedNo: number, before: Ticks, supersededBefore: Ticks): ThinProgress
  progress(feedNo: number): ThinProgress | undefined
  due(feedNo: number, step: ThinStep, nowMs: number): readonly DueRow[]
}

type RawRow = Omit<DueRow, 'byteLength' | 'isHeld'> & { readonly held: number }

interface ProgressRow {
  readonly aged: bigint
  readonly superseded: bigint
  readonly held_from: bigint | null
  readonly held_before: bigint | null
}

export function dueReader(db: Connection): DueReader {
  const selectAged = db.prepare<[Readonly<Record<string, number>>], RawRow>(dueStatements.aged)
  const selectSuperseded = db.prepare<[Readonly<Record<string, number>>], RawRow>(dueStatements.superseded)
  const selectEnd = db.prepare<[number, Ticks], number>(dueStatements.end).pluck()
  const selectProgress = db
    .prepare<[number], ProgressRow>(
      'SELECT aged, superseded, held_from, held_before FROM thin_progress WHERE feed_no = ?',
    )
    .safeIntegers()
  return {
    ends: (feedNo, before, supersededBefore) => ({
      aged: selectEnd.get(feedNo, before) ?? 0,
      superseded: selectEnd.get(feedNo, supersededBefore) ?? 0,
    }),
    progress(feedNo) {
      const row = selectProgress.get(feedNo)
      if (row === undefined) return undefined
      const { held_from: from, held_before: before } = row
      const held = from === null || before === null ? undefined : { from: Number(from), before }
      return { aged: Number(row.aged), superseded: Number(row.superseded), held }
    },
    due(feed, { from, to, supersededUntil: until }, now) {
      const rows =
        to.aged > from.aged
          ? selectAged.all({ feed, from: from.aged, to: to.aged, until, now })
          : selectSuperseded.all({ feed, from: from.superseded, to: to.superseded, aged: to.aged, now })
      return rows.map((row) => ({ ...row, byteLength: row.json.byteLength, isHeld: row.held === 1 }))
    },
  }
}
