/** Removes what a tenant owns, some rows at a time, within a step of its deletion. */
import { feedNames } from '@property-events/protocol/plain'
import type { FeedName } from '@property-events/protocol'
import { keysRemoved } from '../../audit/changes.ts'
import { removeNextEvents } from '../../events/remove-events.ts'
import type { RemovedEvents } from '../../events/remove-events.ts'
import { statement } from '../../sql/database.ts'
import type { Transaction } from '../../sql/database.ts'
import { nextDigest, noCounts, withCounts } from './deletion.ts'
import type { Deletion, OwnedCounts } from './deletion.ts'
import { ownedTables } from './owned-rows.ts'
import type { OwnedTable } from './owned-rows.ts'

/** The keys that open no other tenant, with their grants; on PostgreSQL by a function, with rights that nodes do not have. */
const removeOwnKeys = statement<{ readonly key_id: string }>('deletion-remove-keys', (dialect) =>
  dialect === 'sqlite'
    ? `DELETE FROM key WHERE key_no IN (
        SELECT key_no FROM key_grant g JOIN tenant_deletion d USING (tenant)
        WHERE d.deletion = $1 AND NOT EXISTS (SELECT 1 FROM key_grant o WHERE o.key_no = g.key_no AND o.tenant <> g.tenant)
        ORDER BY key_no LIMIT $2
      ) RETURNING key_id`
    : 'SELECT key_id FROM delete_owned_keys($1, $2) AS key_id',
)
const keysOfTenant = statement<{ readonly key_id: string }>(
  'deletion-keys',
  'SELECT key_id FROM key WHERE key_no IN (SELECT key_no FROM key_grant WHERE tenant = $1) ORDER BY key_no',
)

/** Without the next events; `undefined`: there are none. */
export async function withoutEvents(
  tx: Transaction,
  deletion: Deletion,
  limit: number,
): Promise<Deletion | undefined> {
  // Those of one feed go after the other's, in order and without gaps.
  let before = deletion.counts.events
  for (const feed of feedNames) {
    const all = deletion.feeds.find((one) => one.feed === feed)?.events ?? 0
    const removed = await removeNextEvents(tx, deletion, feed, Math.min(before, all), limit)
    if (removed !== undefined) return afterEvents(deletion, feed, removed)
    before = Math.max(before - all, 0)
  }
  return undefined
}

function afterEvents(deletion: Deletion, feed: FeedName, { events, subjects }: RemovedEvents): Deletion {
  const digest = events.reduce(
    (before, { sequenceNumber, id }) => nextDigest(before, sequenceNumber, id),
    deletion.digests[feed],
  )
  const counts = withCounts(deletion.counts, { events: events.length, subjects })
  return { ...deletion, counts, digests: { ...deletion.digests, [feed]: digest } }
}

/** Without other rows, at most so many of them, and then without keys; `undefined`: there were none. */
export async function withoutRest(
  tx: Transaction,
  deletion: Deletion,
  limit: number,
): Promise<Deletion | undefined> {
  const tables = await ownedTables(tx)
  const counts =
    (await removeRows(tx, tables.rest, deletion, limit)) ??
    (await removeKeys(tx, tables.keys, deletion, limit))
  return counts && { ...deletion, counts: withCounts(deletion.counts, counts) }
}

/** At most so many rows of the tables, one after the other. Answers what went; `undefined`: there was none. */
export async function removeRows(
  tx: Transaction,
  tables: readonly OwnedTable[],
  { deletionId }: Deletion,
  limit: number,
): Promise<Partial<OwnedCounts> | undefined> {
  let [counts, left] = [noCounts, limit]
  for (const { counted, remove } of tables) {
    if (left === 0) break
    const rows = await tx.rows(remove(deletionId, left))
    const removed = rows.reduce((sum, row) => sum + row.removed, 0)
    left -= removed
    if (counted !== undefined) counts = withCounts(counts, { [counted]: removed })
  }
  return left === limit ? undefined : counts
}

/** Keys that open no other tenant, and then the grants of those that stay. */
async function removeKeys(
  tx: Transaction,
  grants: readonly OwnedTable[],
  deletion: Deletion,
  limit: number,
): Promise<Partial<OwnedCounts> | undefined> {
  const { deletionId, tenantId, actor } = deletion
  const note = (rows: readonly { readonly key_id: string }[], stays: boolean): Promise<void> =>
    tx.note(keysRemoved(tenantId, new Map(rows.map((row) => [row.key_id, stays]))), actor)
  const own = await tx.rows(removeOwnKeys(deletionId, limit))
  if (own.length > 0) {
    await note(own, false)
    return { keys: own.length }
  }
  const shared = await tx.rows(keysOfTenant(tenantId))
  if (shared.length === 0) return undefined
  await removeRows(tx, grants, deletion, Number.MAX_SAFE_INTEGER)
  await note(shared, true)
  return { grants: shared.length }
}
