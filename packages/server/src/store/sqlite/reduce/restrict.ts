/** Restricting contacts, on a file; and what is kept of them, for another store. */
import { bytesOfUuid, uuidOfBytes } from '@property-events/protocol/plain'
import type { FeedKey } from '../../../events/feed-key.ts'
import type { Restricting } from '../../../privacy/restriction/restriction.ts'
import type { KeptRecord } from '../../store-records.ts'
import type { Watchers } from '../../../events/watchers.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { assertUndamaged } from '../../../events/sqlite/event-checksum.ts'
import { feedReader } from '../../../events/sqlite/feed-row.ts'
import type { KeptRow } from '../../../events/sqlite/kept-events.ts'
import type { OnWriter } from '../../../sql/sqlite.ts'
import type { RestrictionWrites } from './restriction-writes.ts'

export function fileRestricting(
  db: Connection,
  writer: OnWriter<RestrictionWrites>,
  watching: Watchers,
): Restricting {
  const feedOf = feedReader(db)
  const selectKept = db.prepare<[number, Uint8Array, number, number], KeptRow>(
    `SELECT position, sequence, subject, json, checksum FROM kept_event
      WHERE feed_no = ? AND subject = ? AND sequence > ? ORDER BY position LIMIT ?`,
  )
  return {
    async begin(request) {
      const outcome = await writer.beginRestriction(request)
      if (outcome.kind === 'restricted') watching.notify(request.key)
      return outcome
    },
    async lift(request) {
      const outcome = await writer.liftRestriction(request)
      if (outcome.kind === 'lifting') watching.notify(outcome.restriction.key)
      return outcome
    },
    async step(restrictionId, limit) {
      const outcome = await writer.stepRestriction(restrictionId, limit)
      if (outcome.kind === 'reduced') watching.notify(undefined)
      return outcome
    },
    async kept({ key, subjectId, after, limit }) {
      const feedNo = feedOf(key)?.feedNo
      if (feedNo === undefined) return []
      return selectKept.all(feedNo, bytesOfUuid(subjectId), after, limit).map((row) => {
        assertUndamaged(row, row.json)
        return { sequenceNumber: row.sequence, json: row.json }
      })
    },
  }
}

/** What is kept in a feed, and what is shown again: for another store. */
export function* keptRecords(db: Connection, key: FeedKey, feedNo: number): Generator<KeptRecord> {
  type Row = KeptRow & { readonly hash: Uint8Array | null }
  const hidden = db.prepare<[number], Row>(
    `SELECT kept_event.position, kept_event.sequence, kept_event.subject, kept_event.json, kept_event.checksum,
        (SELECT content_hash FROM event_id WHERE event_id.feed_no = kept_event.feed_no AND event_id.id = event.id) AS hash
      FROM kept_event JOIN event ON event.place = (kept_event.feed_no << 40) | kept_event.position
      WHERE kept_event.feed_no = ?`,
  )
  const shownAgain = db.prepare<[number], Row>(
    `SELECT DISTINCT reduced_event.position, event.sequence, event.subject, event.json, event.checksum,
        (SELECT content_hash FROM event_id WHERE event_id.feed_no = event.feed_no AND event_id.id = event.id) AS hash
      FROM reduced_event JOIN event ON event.place = (reduced_event.feed_no << 40) | reduced_event.position
      WHERE reduced_event.feed_no = ? AND event.state = 'full'`,
  )
  for (const [rows, isHidden] of [
    [hidden, true],
    [shownAgain, false],
  ] as const) {
    for (const row of rows.iterate(feedNo)) {
      assertUndamaged(row, row.json)
      const { position, subject, json, hash: contentHash } = row
      const subjectId = uuidOfBytes(subject)
      yield { kind: 'kept', key, position, subjectId, json: json.toString('utf8'), contentHash, isHidden }
    }
  }
}
