/** One step of an erasure: a few events lose their payloads, and the feed's revision rises, in one commit. */
import { uuidOfBytes } from '@property-events/protocol/plain'
import type { FeedName } from '@property-events/protocol'
import { bytesPerReduction } from '../erasure-store.ts'
import { reducedEventJson } from '../reduced-event.ts'
import type { ReducedState } from '../reduced-event.ts'
import type { ReduceOutcome } from '../storage.ts'
import type { Connection } from './connection.ts'
import { assertUndamaged, eventChecksum } from './event-checksum.ts'
import { keptEvents } from './kept-events.ts'
import { erasureOf, erasureReader } from './erasure-row.ts'
import type { ErasureRow } from './erasure-row.ts'

export interface EventRow {
  readonly position: number
  readonly sequence: number
  readonly id: Uint8Array
  readonly subject: Uint8Array
  readonly state: string
  readonly checksum: number
  readonly json: Buffer
}

export function reducer(
  db: Connection,
  nowMs: () => number,
): (erasureId: string, limit: number) => ReduceOutcome {
  const read = erasureReader(db)
  const nextEvents = eventsReader(db)
  const reduceEvent = eventReducer(db)
  const { drop } = keptEvents(db)
  const isClosed = db.prepare<[number], number>('SELECT move IS NOT NULL FROM feed WHERE feed_no = ?').pluck()
  const raise = db
    .prepare<[number], number>('UPDATE feed SET revision = revision + 1 WHERE feed_no = ? RETURNING revision')
    .pluck()
  const note = db.prepare(
    'INSERT INTO reduced_event (feed_no, revision, position, sequence) VALUES (?, ?, ?, ?)',
  )
  const advance = db.prepare(
    `UPDATE erasure SET next_position = ?, reduced = reduced + ?, revision = coalesce(?, revision),
      state = ?, reduced_ms = ? WHERE erasure = ?`,
  )
  const step = db.transaction((erasureId: string, limit: number): ReduceOutcome => {
    const row = read(erasureId)
    if (row?.state !== 'reducing') return { kind: 'finished' }
    // What another store has already taken over must not change here.
    if (isClosed.get(row.feed_no) === 1) return { kind: 'busy' }
    const { rows, isLast } = nextEvents(row, limit)
    const { feed } = erasureOf(row).key
    const full = rows.filter(({ state }) => state !== 'erased')
    const shown = full.filter(({ state }) => state !== 'restricted')
    const revision = shown.length === 0 ? undefined : raise.get(row.feed_no)
    for (const event of full) {
      reduceEvent(row.feed_no, feed, event, 'erased')
      // What was kept is removed without a trace: the event is still shown as before.
      if (event.state === 'restricted') drop(row.feed_no, event.subject, event.position)
      else note.run(row.feed_no, revision, event.position, event.sequence)
    }
    const next = isLast ? row.last_position + 1 : (rows.at(-1)?.position ?? row.last_position) + 1
    const [state, reducedMs] = isLast ? ['reduced', nowMs()] : ['reducing', null]
    advance.run(next, rows.length, revision ?? null, state, reducedMs, erasureId)
    return { kind: 'reduced', events: rows.length }
  })
  return (erasureId, limit) => step.immediate(erasureId, limit)
}

/** The events of one step, and whether they are the last. */
function eventsReader(db: Connection) {
  const columns = 'place & 0xffffffffff AS position, sequence, id, subject, state, checksum, json'
  const ofSubject = db.prepare<[number, Uint8Array, number, number, number, number], EventRow>(
    `SELECT ${columns} FROM event INDEXED BY event_subject WHERE feed_no = ? AND subject = ?
      AND place >= (? << 40) | ? AND place <= (? << 40) | ? ORDER BY place`,
  )
  const atPlace = db.prepare<[number, number], EventRow>(
    `SELECT ${columns} FROM event WHERE place = (? << 40) | ?`,
  )
  return (
    erasure: ErasureRow,
    limit: number,
  ): { readonly rows: readonly EventRow[]; readonly isLast: boolean } => {
    const { feed_no: feedNo, subject, next_position: next, last_position: last } = erasure
    if (subject === null) return { rows: atPlace.all(feedNo, next), isLast: true }
    const rows: EventRow[] = []
    let bytes = 0
    for (const row of ofSubject.iterate(feedNo, subject, feedNo, next, feedNo, last)) {
      bytes += row.json.byteLength
      if (rows.length > 0 && (rows.length >= limit || bytes > bytesPerReduction))
        return { rows, isLast: false }
      rows.push(row)
    }
    return { rows, isLast: true }
  }
}

/** Removes the payload of one event, and the hashes made from it. Within a transaction. */
export function eventReducer(
  db: Connection,
): (
  feedNo: number,
  feed: FeedName,
  event: Pick<EventRow, 'position' | 'id' | 'subject' | 'checksum' | 'json'>,
  state: ReducedState,
) => void {
  // The branch of a property decides which views contain the event; nobody needs that of a contact.
  const update = db.prepare(
    `UPDATE event SET json = ?, checksum = ?, state = ?, branch = iif(? = 'property', branch, NULL) WHERE place = (? << 40) | ?`,
  )
  const forgetHash = db.prepare('UPDATE event_id SET content_hash = NULL WHERE feed_no = ? AND id = ?')
  const forgetSkipped = db.prepare(
    `UPDATE event_id INDEXED BY event_id_skipped_position SET content_hash = NULL
      WHERE feed_no = ? AND position = ? AND skipped IS NOT NULL`,
  )
  return (feedNo, feed, { position, checksum, json, id, subject }, state) => {
    assertUndamaged({ position, checksum }, json)
    const reduced = Buffer.from(reducedEventJson(state, feed, uuidOfBytes(subject), json.toString('utf8')))
    update.run(reduced, eventChecksum(position, reduced), state, feed, feedNo, position)
    forgetHash.run(feedNo, id)
    forgetSkipped.run(feedNo, position)
  }
}
