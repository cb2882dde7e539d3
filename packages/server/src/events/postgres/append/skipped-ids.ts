import type { Ticks } from '@property-events/protocol'
import { skippedIdKeptTicks, skippedIdsPerStep } from '../../skipped-ids.ts'
import type { Database } from '../../../sql/postgres/connection.ts'
import type { Statement } from '../../../sql/postgres/session.ts'

/**
 * One index probe in each feed, until there are enough. Skips rows that another node is removing: it waits for no other session, and no
 * two nodes wait in a circle.
 */
export const forgetStatement: Statement = {
  name: 'forget-skipped-ids',
  text: `WITH old AS (
      SELECT f.tenant, f.feed, i.id FROM feed f, LATERAL (
        SELECT id FROM event_id WHERE tenant = f.tenant AND feed = f.feed AND skipped < (SELECT coalesce($1, now_ticks()) - $2)
        ORDER BY skipped LIMIT $3 FOR UPDATE SKIP LOCKED
      ) AS i LIMIT $3
    ), gone AS (
      DELETE FROM event_id e USING old WHERE e.tenant = old.tenant AND e.feed = old.feed AND e.id = old.id RETURNING 1
    )
    SELECT count(*) AS count FROM gone`,
}

/** Removes ids that may go, one step's worth; returns how many. `now`: replaces the database's clock. */
export function forgetSkippedIds(database: Database, now: Ticks | undefined): Promise<number> {
  return database.write(async (session) => {
    const values = [now ?? null, skippedIdKeptTicks, skippedIdsPerStep]
    const [row] = await session.query<{ count: string }>(forgetStatement, values)
    return Number(row?.count)
  })
}
