/** One step of an erasure: a few events lose their payloads, and the feed's revision rises, in one commit. */
import { bytesOfUuid, uuidOfBytes } from '@property-events/protocol/plain'
import type { FeedName } from '@property-events/protocol'
import { refusalOf } from '../../../events/feed.ts'
import { rowsOfStep } from '../../../privacy/erasure/erasure.ts'
import { reducedEventJson } from '../../../events/append/reduced-event.ts'
import type { ReducedState } from '../../../events/append/reduced-event.ts'
import type { ErasureTarget, ReduceOutcome } from '../../../privacy/erasure/erasure.ts'
import { erasureOf, erasureWithId } from '../../../privacy/erasure/store.ts'
import { statementRunner } from '../../../sql/sqlite.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { assertUndamaged, eventChecksum } from '../../../events/sqlite/event-checksum.ts'
import { feedReader } from '../../../events/sqlite/feed-row.ts'
import { keptEvents } from '../../../events/sqlite/kept-events.ts'
import { revisionRaiser } from './restriction-steps.ts'

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
  const run = statementRunner(db)
  const feedOf = feedReader(db)
  const nextEvents = eventsReader(db)
  const reduceEvent = eventReducer(db)
  const { drop } = keptEvents(db)
  const raise = revisionRaiser(db)
  const advance = db.prepare(
    `UPDATE erasure SET next_position = ?, reduced = reduced + ?, revision = coalesce(?, revision),
      state = ?, reduced_ms = ? WHERE erasure = ?`,
  )
  const step = db.transaction((erasureId: string, limit: number): ReduceOutcome => {
    const [row] = run(erasureWithId(erasureId))
    if (row?.state !== 'reducing') return { kind: 'finished' }
    const { key, target } = erasureOf(row)
    const feed = feedOf(key)
    // What another store has already taken over must not change here.
    const refusal = refusalOf(feed, 'nothing')
    if (feed === undefined || refusal !== undefined) return refusal ?? { kind: 'unknownFeed' }
    const { feedNo } = feed
    const { next_position: next, last_position: last } = row
    const { rows, isLast } = nextEvents(feedNo, target, next, last, limit)
    const full = rows.filter(({ state }) => state !== 'erased')
    const shown = full.filter(({ state }) => state !== 'restricted')
    const revision = raise(feedNo, shown)
    for (const event of full) {
      reduceEvent(feedNo, key.feed, event, 'erased')
      // What was kept is removed without a trace: the event is still shown as before.
      if (event.state === 'restricted') drop(feedNo, event.subject, event.position)
    }
    const done = isLast ? last : (rows.at(-1)?.position ?? last)
    const [state, reducedMs] = isLast ? ['reduced', nowMs()] : ['reducing', null]
    advance.run(done + 1, rows.length, revision ?? null, state, reducedMs, erasureId)
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
    feedNo: number,
    target: ErasureTarget,
    next: number,
    last: number,
    limit: number,
  ): { readonly rows: readonly EventRow[]; readonly isLast: boolean } => {
    if (target.kind === 'event') return { rows: atPlace.all(feedNo, next), isLast: true }
    const subject = bytesOfUuid(target.subjectId)
    const found = ofSubject.iterate(feedNo, subject, feedNo, next, feedNo, last)
    return rowsOfStep(found, limit, ({ json }) => json.byteLength)
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
