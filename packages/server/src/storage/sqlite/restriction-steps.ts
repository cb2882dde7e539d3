/** One step of a restriction: a few events are hidden, or shown again, and the feed's revision rises, in one commit. */
import { bytesPerReduction } from '../erasure-store.ts'
import type { ReduceOutcome, RestrictionState } from '../storage.ts'
import type { Connection } from './connection.ts'
import { keptEvents } from './kept-events.ts'
import type { KeptRow, ShownRow } from './kept-events.ts'
import { restrictionOf, restrictionReader } from './restriction-row.ts'

/** Raises a feed's revision for events whose shown form has changed, and notes which. */
export function revisionRaiser(
  db: Connection,
): (feedNo: number, events: readonly { readonly position: number; readonly sequence: number }[]) => void {
  const raise = db
    .prepare<[number], number>('UPDATE feed SET revision = revision + 1 WHERE feed_no = ? RETURNING revision')
    .pluck()
  const note = db.prepare(
    'INSERT INTO reduced_event (feed_no, revision, position, sequence) VALUES (?, ?, ?, ?)',
  )
  return (feedNo, events) => {
    if (events.length === 0) return
    const revision = raise.get(feedNo)
    for (const { position, sequence } of events) note.run(feedNo, revision, position, sequence)
  }
}

/** The event at a position, if it shows its payload. */
export function shownReader(db: Connection): (feedNo: number, position: number) => ShownRow | undefined {
  const select = db.prepare<[number, number], ShownRow>(
    `SELECT place & 0xffffffffff AS position, sequence, subject, json, checksum FROM event
      WHERE place = (? << 40) | ? AND state = 'full'`,
  )
  return (feedNo, position) => select.get(feedNo, position)
}

export function restrictionStepper(db: Connection): (restrictionId: string, limit: number) => ReduceOutcome {
  const read = restrictionReader(db)
  const { hide, show } = keptEvents(db)
  const raise = revisionRaiser(db)
  const isClosed = db.prepare<[number], number>('SELECT move IS NOT NULL FROM feed WHERE feed_no = ?').pluck()
  const selectShown = db.prepare<[number, Uint8Array, number, number, number, number], ShownRow>(
    `SELECT place & 0xffffffffff AS position, sequence, subject, json, checksum FROM event INDEXED BY event_subject
      WHERE feed_no = ? AND subject = ? AND place >= (? << 40) | ? AND place <= (? << 40) | ? AND state = 'full'
      ORDER BY place`,
  )
  const selectKept = db.prepare<[number, Uint8Array, number, number], KeptRow>(
    `SELECT position, sequence, subject, json, checksum FROM kept_event
      WHERE feed_no = ? AND subject = ? AND position >= ? AND position <= ? ORDER BY position`,
  )
  const advance = db.prepare('UPDATE restriction SET next_position = ?, state = ? WHERE restriction = ?')
  const step = db.transaction((restrictionId: string, limit: number): ReduceOutcome => {
    const row = read(restrictionId)
    if (row?.state !== 'hiding' && row?.state !== 'lifting') return { kind: 'finished' }
    // What another store has already taken over must not change here.
    if (isClosed.get(row.feed_no) === 1) return { kind: 'busy' }
    const { feed_no: feedNo, subject, next_position: next, last_position: last } = row
    const finish = (
      taken: readonly { readonly position: number; readonly sequence: number }[],
      isLast: boolean,
    ) => {
      raise(feedNo, taken)
      const done: RestrictionState = row.state === 'hiding' ? 'hidden' : 'lifted'
      const position = isLast ? last : (taken.at(-1)?.position ?? last)
      advance.run(position + 1, isLast ? done : row.state, restrictionId)
      return { kind: 'reduced', events: taken.length } as const
    }
    if (row.state === 'hiding') {
      const shown = within(selectShown.iterate(feedNo, subject, feedNo, next, feedNo, last), limit)
      for (const event of shown.taken) hide(feedNo, restrictionOf(row).key.feed, event)
      return finish(shown.taken, shown.isLast)
    }
    const kept = within(selectKept.iterate(feedNo, subject, next, last), limit)
    for (const event of kept.taken) show(feedNo, event)
    return finish(kept.taken, kept.isLast)
  })
  return (restrictionId, limit) => step.immediate(restrictionId, limit)
}

/** As many rows as one step takes, and whether these are all. */
function within<R extends { readonly json: Buffer }>(
  rows: Iterable<R>,
  limit: number,
): { readonly taken: readonly R[]; readonly isLast: boolean } {
  const taken: R[] = []
  let bytes = 0
  for (const row of rows) {
    bytes += row.json.byteLength
    if (taken.length > 0 && (taken.length >= limit || bytes > bytesPerReduction))
      return { taken, isLast: false }
    taken.push(row)
  }
  return { taken, isLast: true }
}
