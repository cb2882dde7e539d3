/** A feed's counter row, with which every verb begins. */
import type { FeedName, Ticks } from '@property-events/protocol'
import type { FeedState } from '../feed.ts'
import { epochWeightSql } from '../epochs.ts'
import type { FeedKey } from '../feed-key.ts'
import type { FeedVersion, Head, FeedVersionsTotal } from '../event-log.ts'
import type { Connection } from '../../sql/sqlite/connection.ts'

export interface FeedRow extends Pick<FeedState, 'closedBy'> {
  /** Identifies tenant and feed in the other tables. */
  readonly feedNo: number
  readonly epoch: string
  readonly offset: number
  readonly revision: number
  readonly thinned: number
  readonly lastPosition: number
  readonly lastCreated: Ticks | undefined
  /** No later stamp is before this (P3); 0 if unknown. */
  readonly stampFloor: Ticks
  /** It has views of sets of branches to which appends add events. */
  readonly hasBranchViews: boolean
}

/** Ticks exceed 2^53, so whole numbers in the row are read as `bigint`. */
interface RawFeedRow {
  readonly feed_no: bigint
  readonly epoch: string
  readonly offset: bigint
  readonly revision: bigint
  readonly thinned: bigint
  readonly last_position: bigint
  readonly last_created: bigint | null
  readonly move: string | null
  readonly stamp_floor: bigint | null
  readonly branch_views: bigint
}

const columns =
  'feed_no, epoch, offset, revision, thinned, last_position, last_created, move, stamp_floor, branch_views'
const ofKey = 'FROM feed WHERE tenant = CAST(? AS TEXT) AND feed = CAST(? AS TEXT)'

/** Reads feed rows; `undefined`: no such tenant. */
export function feedReader(db: Connection): (key: FeedKey) => FeedRow | undefined {
  const select = db.prepare<[string, string], RawFeedRow>(`SELECT ${columns} ${ofKey}`).safeIntegers()
  return (key) => {
    const row = select.get(key.tenantId, key.feed)
    return row && feedRowOf(row)
  }
}

/** A feed's row for those who would publish to it. Readers are spared the read of the store's `needs_epoch`: it took 3 % of a read of where feeds stand. */
export type FeedToPublish = FeedRow & FeedState

export function feedToPublishReader(db: Connection): (key: FeedKey) => FeedToPublish | undefined {
  const select = db
    .prepare<[string, string], RawFeedRow & { readonly needs_epoch: bigint | null }>(
      `SELECT ${columns}, needs_epoch OR (SELECT value = '1' FROM meta WHERE name = 'needs_epoch') AS needs_epoch
        ${ofKey}`,
    )
    .safeIntegers()
  return (key) => {
    const row = select.get(key.tenantId, key.feed)
    return row && { ...feedRowOf(row), needsEpoch: row.needs_epoch !== 0n }
  }
}

function feedRowOf(row: RawFeedRow): FeedRow {
  return {
    feedNo: Number(row.feed_no),
    epoch: row.epoch,
    offset: Number(row.offset),
    revision: Number(row.revision),
    thinned: Number(row.thinned),
    lastPosition: Number(row.last_position),
    lastCreated: row.last_created ?? undefined,
    closedBy: row.move,
    stampFloor: row.stamp_floor ?? 0n,
    hasBranchViews: row.branch_views === 1n,
  }
}

/** The versions of these feeds; without keys, of every feed, in one run through the table. */
export function versionsReader(db: Connection): (keys?: readonly FeedKey[]) => readonly FeedVersion[] {
  const count = 'offset + last_position + revision AS count'
  const select = db.prepare<[], { tenant: string; feed: FeedName; epoch: string; count: number }>(
    `SELECT tenant, feed, epoch, ${count} FROM feed`,
  )
  const selectOne = db.prepare<[string, string], { epoch: string; count: number }>(
    `SELECT epoch, ${count} FROM feed WHERE tenant = CAST(? AS TEXT) AND feed = CAST(? AS TEXT)`,
  )
  const some = db.transaction((keys: readonly FeedKey[]) =>
    keys.flatMap((key) => {
      const row = selectOne.get(key.tenantId, key.feed)
      return row === undefined ? [] : [{ key, ...row }]
    }),
  )
  return (keys) => {
    if (keys !== undefined) return some(keys)
    return select
      .all()
      .map(({ tenant, feed, epoch, count }) => ({ key: { tenantId: tenant, feed }, epoch, count }))
  }
}

/** In two parts: SQLite refuses a sum of 2^63 and more, which 2,048 feeds that begin at 2^52 have. */
export function versionsTotalReader(db: Connection): () => FeedVersionsTotal {
  const select = db.prepare<[], { feeds: number; high: number; low: number; epochs: number }>(
    `SELECT count(*) AS feeds, coalesce(sum(count >> 20), 0) AS high, coalesce(sum(count & 1048575), 0) AS low,
        coalesce(sum(weight), 0) AS epochs
      FROM (SELECT offset + last_position + revision AS count, ${epochWeightSql('unicode')} AS weight FROM feed)`,
  )
  return () => {
    const row = select.get()
    if (row === undefined) return { feeds: 0, total: 0n, epochs: 0 }
    const { feeds, high, low, epochs } = row
    return { feeds, total: (BigInt(high) << 20n) + BigInt(low), epochs }
  }
}

/** Feed numbers, read once: a feed never gets another, not even if its tenant is deleted and created again. */
export function feedNumbers(db: Connection): (key: FeedKey) => number | undefined {
  const feedOf = feedReader(db)
  const known = new Map<string, number>()
  return (key) => {
    const name = `${key.tenantId}/${key.feed}`
    const number = known.get(name) ?? feedOf(key)?.feedNo
    if (number !== undefined) known.set(name, number)
    return number
  }
}

/** Reads the sequence number at a position. After a new epoch it is not simply position plus offset (D13). */
export function sequenceReader(db: Connection): (feedNo: number, position: number) => number | undefined {
  const select = db
    .prepare<[number, number], number>('SELECT sequence FROM event WHERE place = (? << 40) | ?')
    .pluck()
  return (feedNo, position) => select.get(feedNo, position)
}

export function headReader(db: Connection): (row: FeedRow) => Head {
  const sequenceAt = sequenceReader(db)
  return (row) => ({
    position: row.lastPosition,
    sequenceNumber:
      (row.lastPosition === 0 ? undefined : sequenceAt(row.feedNo, row.lastPosition)) ?? row.offset,
    created: row.lastCreated,
    epoch: row.epoch,
    revision: row.revision,
    thinned: row.thinned,
  })
}
