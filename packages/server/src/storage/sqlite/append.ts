/** Appending in one immediate transaction, of which there is one at a time: look-ups see everything committed before. */
import { bytesOfUuid } from '@property-events/protocol/plain'
import type { EventTypeCatalogue, FeedEvent, Ticks } from '@property-events/protocol'
import { readClock } from '../clock.ts'
import type { SharedClock } from '../clock.ts'
import { decideAppend, defaultClockToleranceTicks, previewOf } from '../decide-append.ts'
import type { AppendDecision } from '../decide-append.ts'
import { parseEventJson } from '../event-json.ts'
import type { AppendLookups } from '../plan-append.ts'
import type { AppendBatch, AppendOutcome } from '../storage.ts'
import type { Connection } from './connection.ts'
import { assertUndamaged, damagedAt } from './event-checksum.ts'
import { feedReader } from './feed-row.ts'
import type { FeedRow } from './feed-row.ts'
import { insertStatements } from './insert-events.ts'
import { metaOf } from './meta.ts'
import { subjectStateOf } from './subject-row.ts'
import type { SubjectRow } from './subject-row.ts'

export interface AppendContext {
  readonly catalogue: EventTypeCatalogue
  readonly clock: SharedClock | undefined
  readonly overrideClockCheck: boolean
}

export interface Appender {
  /** One commit for all batches. `floor`: no stamp lies before it (P3). */
  append(batches: readonly AppendBatch[], floor: Ticks): readonly AppendOutcome[]
  preview(batch: AppendBatch): AppendOutcome
}

export function appender(db: Connection, context: AppendContext): Appender {
  const feedOf = feedReader(db)
  const lookupsOf = lookupReader(db)
  const insert = insertStatements(db)
  const meta = metaOf(db)

  type Decided =
    | { readonly outcome: AppendOutcome }
    | { readonly feed: FeedRow; readonly decision: AppendDecision }

  const decide = (batch: AppendBatch, now: Ticks, floor: Ticks): Decided => {
    const feed = feedOf(batch.key)
    if (feed === undefined) return { outcome: { kind: 'unknownFeed' } }
    if (feed.needsEpoch || meta.get('needs_epoch') === '1') return { outcome: { kind: 'epochRequired' } }
    if (feed.move !== 'open') return { outcome: { kind: 'tenantMoving' } }
    const decision = decideAppend(batch, feed, lookupsOf(feed.feedNo), {
      catalogue: context.catalogue,
      now,
      floor: feed.stampFloor > floor ? feed.stampFloor : floor,
      clockToleranceTicks: context.overrideClockCheck ? undefined : defaultClockToleranceTicks,
    })
    return { feed, decision }
  }

  const commit = db.transaction((batches: readonly AppendBatch[], floor: Ticks): readonly AppendOutcome[] => {
    // Read here and not before: the transaction may have waited, and time must rise with the numbers (P3, D25).
    const now = readClock(context.clock)
    return batches.map((batch) => {
      const decided = decide(batch, now, floor)
      if ('outcome' in decided) return decided.outcome
      const { feed, decision } = decided
      insert(batch.key, feed.feedNo, decision.rows, decision.reserved, now)
      return decision.outcome
    })
  })

  const look = db.transaction((batch: AppendBatch): AppendOutcome => {
    const decided = decide(batch, readClock(context.clock), 0n)
    return 'outcome' in decided ? decided.outcome : previewOf(decided.decision)
  })

  return {
    append: (batches, floor) => commit.immediate(batches, floor),
    // Deferred and without a write: a read, which does not wait.
    preview: (batch) => look.deferred(batch),
  }
}

/** What the planner asks for, read inside the transaction. */
function lookupReader(db: Connection): (feedNo: number) => AppendLookups {
  const idTaken = db.prepare<[number, Uint8Array], { position: number; content_hash: Uint8Array | null }>(
    'SELECT position, content_hash FROM event_id WHERE feed_no = ? AND id = ?',
  )
  const subject = db.prepare<[number, Uint8Array], SubjectRow>(
    `SELECT position, published, category, branch, code, payload_hash, spelling, update_date_hash
      FROM subject WHERE feed_no = ? AND subject = ?`,
  )
  const event = db.prepare<[number, number], { json: Buffer; checksum: number | null }>(
    'SELECT json, checksum FROM event WHERE place = (? << 40) | ?',
  )
  const firstPosition = db
    .prepare<[number, Uint8Array], number>(
      `SELECT place & 0xffffffffff FROM event INDEXED BY event_subject
        WHERE feed_no = ? AND subject = ? ORDER BY place LIMIT 1`,
    )
    .pluck()
  const eventAt = (feedNo: number, position: number): FeedEvent => {
    const row = event.get(feedNo, position)
    if (row === undefined) throw damagedAt(position)
    assertUndamaged({ position, checksum: row.checksum }, row.json)
    return parseEventJson(row.json.toString('utf8'))
  }
  return (feedNo) => ({
    idTaken(id) {
      const row = idTaken.get(feedNo, bytesOfUuid(id))
      return row && { position: row.position, contentHash: row.content_hash }
    },
    subject(subjectId) {
      const row = subject.get(feedNo, bytesOfUuid(subjectId))
      return row && { ...subjectStateOf(row), position: row.position }
    },
    event: (position) => eventAt(feedNo, position),
    firstEvent(subjectId) {
      const position = firstPosition.get(feedNo, bytesOfUuid(subjectId))
      if (position === undefined) throw new Error(`feed ${feedNo} has no event of ${subjectId}`)
      return eventAt(feedNo, position)
    },
  })
}
