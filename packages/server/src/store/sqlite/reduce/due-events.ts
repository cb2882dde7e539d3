/** Finds what a step of retention has to thin (D17): index probes for the events that the step looks at, and no others. */
import type { Ticks } from '@property-events/protocol'
import type { DueEvent, ThinProgress, ThinStep } from '../../../privacy/retention/retention.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'

export interface DueRow extends DueEvent {
  readonly id: Uint8Array
  readonly subject: Uint8Array
  readonly checksum: number
  readonly json: Buffer
}

export const dueStatements = {
  /** Events that are old enough and have a later event of their subject. */
  aged: `SELECT event.place & 0xffffffffff AS at, event.place & 0xffffffffff AS position, id, subject, checksum, json,
      EXISTS (SELECT 1 FROM hold INDEXED BY hold_subject WHERE hold.subject = event.subject
      AND (hold.tenant, hold.feed) = (SELECT tenant, feed FROM feed_key WHERE feed_no = :feed)
      AND hold.ended_ms IS NULL AND hold.until_ms > :now)
      OR EXISTS (SELECT 1 FROM restriction INDEXED BY restriction_subject WHERE restriction.subject = event.subject
        AND (restriction.tenant, restriction.feed) = (SELECT tenant, feed FROM feed_key WHERE feed_no = :feed)
        AND restriction.state IN ('hiding', 'hidden', 'restricted', 'lifting')) AS held
    FROM event WHERE event.place > (:feed << 40) | :from AND event.place <= (:feed << 40) | :to AND state IN ('full', 'restricted')
      AND EXISTS (SELECT 1 FROM event AS later INDEXED BY event_subject WHERE later.feed_no = :feed
        AND later.subject = event.subject AND later.place > event.place AND later.place <= (:feed << 40) | :until)
    ORDER BY event.place`,
  /** Events that newer ones have superseded, if the first walk has passed them. */
  superseded: `SELECT newer.place & 0xffffffffff AS at, event.place & 0xffffffffff AS position, event.id, event.subject,
      event.checksum, event.json, EXISTS (SELECT 1 FROM hold INDEXED BY hold_subject WHERE hold.subject = event.subject
      AND (hold.tenant, hold.feed) = (SELECT tenant, feed FROM feed_key WHERE feed_no = :feed)
      AND hold.ended_ms IS NULL AND hold.until_ms > :now)
      OR EXISTS (SELECT 1 FROM restriction INDEXED BY restriction_subject WHERE restriction.subject = event.subject
        AND (restriction.tenant, restriction.feed) = (SELECT tenant, feed FROM feed_key WHERE feed_no = :feed)
        AND restriction.state IN ('hiding', 'hidden', 'restricted', 'lifting')) AS held
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
