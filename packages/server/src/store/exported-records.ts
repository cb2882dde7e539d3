/** What a feed has beside its events, from one store to another: read and written by the same statements on both databases. */
import { feedNumbers, statement } from '../sql/database.ts'
import type { Query, Sql } from '../sql/database.ts'
import { expiringAfter, expiringOf, putExpiring } from '../privacy/contact-expiry/store.ts'
import { holdOf, holdsOfFeed, putHold } from '../privacy/hold/store.ts'
import {
  putRestriction,
  restrictionOf,
  restrictionProgress,
  restrictionsOfFeed,
} from '../privacy/restriction/store.ts'
import type { FeedKey } from '../events/feed-key.ts'
import { eventAt } from '../events/log-statements.ts'
import { recordsPerPiece, reductionRecords, thinningRecords } from './store-records.ts'
import type { ExpiringRecord, HoldRecord, RestrictionRecord, StoreRecord } from './store-records.ts'

interface ReducedRow {
  readonly revision: number
  readonly position: number
  readonly sequence: number
  readonly state: string
}

interface ThinnedRow {
  readonly thinned: number
  readonly position: number
}

/** SQLite has one number for tenant and feed in the tables of the log. */
const feedNo = '(SELECT feed_no FROM feed_key WHERE tenant = $1 AND feed = $2)'
const reduced = statement<ReducedRow>('records-reduced', (dialect) =>
  dialect === 'sqlite'
    ? `SELECT r.revision, r.position, r.sequence, e.state
        FROM reduced_event r JOIN event e ON e.place = (r.feed_no << 40) | r.position
        WHERE r.feed_no = ${feedNo} AND (r.revision, r.position) > ($3, $4)
        ORDER BY r.revision, r.position LIMIT ${recordsPerPiece}`
    : `SELECT r.revision, r.position, r.sequence, e.state FROM reduced_event r ${eventAt('r.position', 'state')}
        WHERE r.tenant = $1 AND r.feed = $2 AND (r.revision, r.position) > ($3, $4)
        ORDER BY r.tenant, r.feed, r.revision, r.position LIMIT ${recordsPerPiece}`,
)
const thinned = statement<ThinnedRow>('records-thinned', (dialect) =>
  dialect === 'sqlite'
    ? `SELECT thinned, position FROM thinned_event WHERE feed_no = ${feedNo} AND (thinned, position) > ($3, $4)
        ORDER BY thinned, position LIMIT ${recordsPerPiece}`
    : `SELECT thinned, position FROM thinned_event WHERE tenant = $1 AND feed = $2 AND (thinned, position) > ($3, $4)
        ORDER BY tenant, feed, thinned, position LIMIT ${recordsPerPiece}`,
)

/** What erasures and retention have reduced, piece by piece. It comes after the events, and before what is kept of restricted ones. */
export async function* reductionsOf(sql: Sql, key: FeedKey): AsyncGenerator<readonly StoreRecord[]> {
  const feed = [key.tenantId, feedNumbers[key.feed]] as const
  for (let last: readonly [number, number] = [0, 0]; ;) {
    const rows = await sql.rows(reduced(...feed, ...last))
    const end = rows.at(-1)
    if (end === undefined) break
    yield reductionRecords(
      key,
      rows.map(({ sequence, ...row }) => ({ ...row, sequenceNumber: sequence })),
    )
    last = [end.revision, end.position]
  }
  for (let last: readonly [number, number] = [0, 0]; ;) {
    const rows = await sql.rows(thinned(...feed, ...last))
    const end = rows.at(-1)
    if (end === undefined) break
    yield thinningRecords(key, rows)
    last = [end.thinned, end.position]
  }
}

/** Restrictions, holds, and the list of contacts that have not changed, piece by piece. */
export async function* decisionsOf(sql: Sql, key: FeedKey): AsyncGenerator<readonly StoreRecord[]> {
  // Only contacts are restricted, or expire.
  if (key.feed === 'contact') {
    const restrictions = await sql.rows(restrictionsOfFeed(key))
    yield restrictions.map((row) => {
      return { kind: 'restriction', ...restrictionOf(row), ...restrictionProgress(row) }
    })
  }
  yield (await sql.rows(holdsOfFeed(key))).map((row) => ({ kind: 'hold', ...holdOf(row) }))
  if (key.feed !== 'contact') return
  for (let after: string | undefined; ;) {
    const records = (await sql.rows(expiringAfter(key.tenantId, after))).map((row) => expiringOf(key, row))
    after = records.at(-1)?.subjectId
    if (after === undefined) return
    yield records
  }
}

/** A record that is one row of a table. */
type DecisionRecord = RestrictionRecord | HoldRecord | ExpiringRecord

/** Puts records in their tables, in place of those that are there. `records`: of one feed. */
export function putDecisions(records: readonly DecisionRecord[]): readonly Query[] {
  const expiring = records.filter((record) => record.kind === 'expiring')
  const others = records.flatMap((record) => {
    if (record.kind === 'expiring') return []
    return [record.kind === 'hold' ? putHold(record) : putRestriction(record, record)]
  })
  return expiring.length > 0 ? [...others, putExpiring(expiring)] : others
}
