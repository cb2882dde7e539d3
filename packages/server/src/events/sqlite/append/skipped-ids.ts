import type { Ticks } from '@property-events/protocol'
import { skippedIdsEnd, skippedIdsPerStep } from '../../skipped-ids.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'

/** Removes the oldest of the ids that may go, one step's worth, in one commit; returns how many. */
export function skippedIdRemover(db: Connection): (now: Ticks) => number {
  const remove = db.prepare<[Ticks, number]>(
    `DELETE FROM event_id WHERE (feed_no, id) IN (
      SELECT feed_no, id FROM event_id INDEXED BY event_id_skipped WHERE skipped < ? ORDER BY skipped LIMIT ?
    )`,
  )
  return (now) => remove.run(skippedIdsEnd(now), skippedIdsPerStep).changes
}
