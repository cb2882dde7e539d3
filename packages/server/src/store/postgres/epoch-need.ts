import { feedNames } from '@property-events/protocol'
import type { EpochNeed, WaitingFeed } from '../../events/epochs.ts'
import type { Database } from '../../sql/postgres/connection.ts'
import type { Statement } from '../../sql/postgres/session.ts'
import { feedNumbers } from '../../sql/database.ts'
import type { Witness } from '../../events/postgres/witness.ts'

const count: Statement = {
  name: 'epoch-waiting-count',
  text: 'SELECT count(*) FILTER (WHERE needs_epoch) AS waiting, count(*) AS feeds FROM feed',
}
/** `$1`: every feed waits, whatever its row says. */
const selectWaiting: Statement = {
  name: 'epoch-waiting-feeds',
  text: `SELECT tenant, f.feed, coalesce(last_sequence, number_offset) AS held, l.number AS shown
    FROM feed f JOIN tenant USING (tenant) LEFT JOIN lost_number l USING (tenant, feed)
    WHERE needs_epoch OR $1 ORDER BY tenant_no, f.feed`,
}

/**
 * Where publishing waits for a new epoch. If this node can vouch for the present history, it does so here, because otherwise the next
 * publication would.
 */
export async function epochNeed(database: Database, history: Witness): Promise<EpochNeed> {
  if (!(await isVouched(database, history))) return 'all'
  const [row] = await database.read<{ waiting: string; feeds: string }>(count, [])
  if (row === undefined || row.waiting === '0') return 'none'
  return row.waiting === row.feeds ? 'all' : 'some'
}

export async function waitingFeeds(database: Database, history: Witness): Promise<readonly WaitingFeed[]> {
  const all = !(await isVouched(database, history))
  const rows = await database.read<{ tenant: string; feed: number; held: string; shown: string | null }>(
    selectWaiting,
    [all],
  )
  return rows.flatMap(({ tenant: tenantId, feed: number, held, shown }) => {
    const feed = feedNames.find((name) => feedNumbers[name] === number)
    if (feed === undefined) return []
    const shownNumber = shown === null ? undefined : Number(shown)
    return [{ key: { tenantId, feed }, heldNumber: Number(held), shownNumber }]
  })
}

/** Numbers that the last check found missing may have been dealt with since, so they are looked for again. */
function isVouched(database: Database, history: Witness): Promise<boolean> {
  return database.write(async (session) => {
    if (history.finds()) await history.check(session)
    return history.vouch(session)
  })
}
