/** One step of a restriction: a few events are hidden, or shown again, and the feed's revision rises, in one commit. */
import { bytesOfUuid } from '@property-events/protocol/plain'
import { refusalOf } from '../../../events/feed.ts'
import { putRestriction, restrictionOf, restrictionWithId } from '../../../privacy/restriction/store.ts'
import { statementRunner } from '../../../sql/sqlite.ts'
import { rowsOfStep } from '../../../privacy/erasure/erasure.ts'
import type { ReduceOutcome } from '../../../privacy/erasure/erasure.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { feedReader } from '../../../events/sqlite/feed-row.ts'
import { keptEvents } from '../../../events/sqlite/kept-events.ts'
import type { KeptRow } from '../../../events/sqlite/kept-events.ts'

/** Raises a feed's revision for events whose shown form has changed, and notes which. The new revision, if there are any. */
export function revisionRaiser(
  db: Connection,
): (
  feedNo: number,
  events: readonly { readonly position: number; readonly sequence: number }[],
) => number | undefined {
  const raise = db
    .prepare<[number], number>('UPDATE feed SET revision = revision + 1 WHERE feed_no = ? RETURNING revision')
    .pluck()
  const note = db.prepare(
    'INSERT INTO reduced_event (feed_no, revision, position, sequence) VALUES (?, ?, ?, ?)',
  )
  return (feedNo, events) => {
    if (events.length === 0) return undefined
    const revision = raise.get(feedNo)
    for (const { position, sequence } of events) note.run(feedNo, revision, position, sequence)
    return revision
  }
}

/** The event at a position, if it shows its payload. */
export function shownReader(db: Connection): (feedNo: number, position: number) => KeptRow | undefined {
  const select = db.prepare<[number, number], KeptRow>(
    `SELECT place & 0xffffffffff AS position, sequence, subject, json, checksum FROM event
      WHERE place = (? << 40) | ? AND state = 'full'`,
  )
  return (feedNo, position) => select.get(feedNo, position)
}

export function restrictionStepper(db: Connection): (restrictionId: string, limit: number) => ReduceOutcome {
  const run = statementRunner(db)
  const feedOf = feedReader(db)
  const { hide, show } = keptEvents(db)
  const raise = revisionRaiser(db)
  const selectShown = db.prepare<[number, Uint8Array, number, number, number, number], KeptRow>(
    `SELECT place & 0xffffffffff AS position, sequence, subject, json, checksum FROM event INDEXED BY event_subject
      WHERE feed_no = ? AND subject = ? AND place >= (? << 40) | ? AND place <= (? << 40) | ? AND state = 'full'
      ORDER BY place`,
  )
  const selectKept = db.prepare<[number, Uint8Array, number, number], KeptRow>(
    `SELECT position, sequence, subject, json, checksum FROM kept_event
      WHERE feed_no = ? AND subject = ? AND position >= ? AND position <= ? ORDER BY position`,
  )
  const step = db.transaction((restrictionId: string, limit: number): ReduceOutcome => {
    const [row] = run(restrictionWithId(restrictionId))
    if (row?.state !== 'hiding' && row?.state !== 'lifting') return { kind: 'finished' }
    const restriction = restrictionOf(row)
    const feed = feedOf(restriction.key)
    // What another store has already taken over must not change here.
    const refusal = refusalOf(feed, 'nothing')
    if (feed === undefined || refusal !== undefined) return refusal ?? { kind: 'unknownFeed' }
    const { feedNo } = feed
    const { next_position: next, last_position: lastPosition } = row
    const subject = bytesOfUuid(restriction.subjectId)
    const isHiding = row.state === 'hiding'
    const found = isHiding
      ? selectShown.iterate(feedNo, subject, feedNo, next, feedNo, lastPosition)
      : selectKept.iterate(feedNo, subject, next, lastPosition)
    const { rows, isLast } = rowsOfStep(found, limit, ({ json }) => json.byteLength)
    for (const event of rows) {
      if (isHiding) hide(feedNo, restriction.key.feed, event)
      else show(feedNo, event)
    }
    raise(feedNo, rows)
    const done = isHiding ? 'hidden' : 'lifted'
    const position = isLast ? lastPosition : (rows.at(-1)?.position ?? lastPosition)
    const state = isLast ? done : row.state
    run(putRestriction({ ...restriction, state }, { nextPosition: position + 1, lastPosition }))
    return { kind: 'reduced', events: rows.length }
  })
  return (restrictionId, limit) => step.immediate(restrictionId, limit)
}
