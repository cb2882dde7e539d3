/** Removes events of a tenant that is being deleted, in their order (docs/decisions/0044). */
import type { FeedName } from '@property-events/protocol'
import { feedNumbers, statement, uuidOf } from '../sql/database.ts'
import type { StoredLogId, Transaction } from '../sql/database.ts'

/** SQLite has one number for tenant and feed in the tables of the log, with which the place of an event begins. */
const feedNo = (tenant: string): string =>
  `(SELECT feed_no FROM feed_key WHERE tenant = ${tenant} AND feed = $2)`
const placeOf = (tenant: string, position: string): string => `(${feedNo(tenant)} << 40 | ${position})`
const between = (tenant: string): string =>
  `place > ${placeOf(tenant, '$3')} AND place <= ${placeOf(tenant, '$4')}`
const ofDeletion = '(SELECT tenant FROM tenant_deletion WHERE deletion = $1)'

interface EventRow {
  readonly position: number
  readonly sequence: number
  readonly id: StoredLogId
}

const next = statement<EventRow>('remove-events-next', (dialect) =>
  dialect === 'sqlite'
    ? `SELECT place & 0xffffffffff AS position, sequence, id FROM event
        WHERE place > ${placeOf('$1', '$3')} AND place <= ${placeOf('$1', '0xffffffffff')} ORDER BY place LIMIT $4`
    : `SELECT position, sequence, id FROM event WHERE tenant = $1 AND feed = $2 AND position > $3
        ORDER BY tenant, feed, position LIMIT $4`,
)
/** PostgreSQL looks for each of a list, and not through the whole feed. */
const removeIds = statement('remove-events-ids', (dialect) =>
  dialect === 'sqlite'
    ? `DELETE FROM event_id WHERE feed_no = ${feedNo('$1')} AND id IN (SELECT id FROM event WHERE ${between('$1')})`
    : `DELETE FROM event_id WHERE tenant = $1 AND feed = $2 AND id = ANY (ARRAY(
        SELECT id FROM event WHERE tenant = $1 AND feed = $2 AND position > $3 AND position <= $4))`,
)
const removeEntries = statement('remove-events-entries', (dialect) =>
  dialect === 'sqlite'
    ? `DELETE FROM view_entry
        WHERE feed_no = ${feedNo('$1')} AND view IN (SELECT view FROM view WHERE feed_no = ${feedNo('$1')})
          AND created <= (SELECT created FROM event WHERE place = ${placeOf('$1', '$3')})`
    : `DELETE FROM view_entry
        WHERE tenant = $1 AND feed = $2 AND view = ANY (ARRAY(SELECT view FROM view WHERE tenant = $1 AND feed = $2))
          AND position > 0 AND created <= (SELECT created FROM event WHERE tenant = $1 AND feed = $2 AND position = $3)`,
)
/** On PostgreSQL functions remove these, with rights that nodes do not have. */
const removeSubjects = statement<{ readonly removed: number }>('remove-events-subjects', (dialect) =>
  dialect === 'sqlite'
    ? `DELETE FROM subject
        WHERE feed_no = ${feedNo(ofDeletion)} AND subject IN (SELECT subject FROM event WHERE ${between(ofDeletion)})
        RETURNING 1 AS removed`
    : 'SELECT delete_subjects($1, $2, $3, $4) AS removed',
)
const removeEvents = statement('remove-events', (dialect) =>
  dialect === 'sqlite'
    ? `DELETE FROM event WHERE ${between(ofDeletion)}`
    : 'SELECT delete_events($1, $2, $3, $4)',
)

/** Events that have been removed, in their order, and the number of subjects that went with them. */
export interface RemovedEvents {
  readonly events: readonly { readonly sequenceNumber: number; readonly id: string }[]
  readonly subjects: number
}

/** The events after a position, at most `limit`, with their ids, subjects and entries of views; `undefined`: there are none. */
export async function removeNextEvents(
  tx: Transaction,
  { deletionId, tenantId }: { readonly deletionId: string; readonly tenantId: string },
  feed: FeedName,
  after: number,
  limit: number,
): Promise<RemovedEvents | undefined> {
  const number = feedNumbers[feed]
  const rows = await tx.rows(next(tenantId, number, after, limit))
  const through = rows.at(-1)?.position
  if (through === undefined) return undefined
  await tx.rows(removeIds(tenantId, number, after, through))
  await tx.rows(removeEntries(tenantId, number, through))
  const subjects = await tx.rows(removeSubjects(deletionId, number, after, through))
  await tx.rows(removeEvents(deletionId, number, after, through))
  return {
    events: rows.map(({ sequence, id }) => ({ sequenceNumber: sequence, id: uuidOf(id) })),
    subjects: subjects.reduce((sum, { removed }) => sum + removed, 0),
  }
}
