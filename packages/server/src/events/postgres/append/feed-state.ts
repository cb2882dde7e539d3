/** What an append reads about its feeds before it plans, in one round trip, and again if the plan needs more. */
import type { Category, FeedEvent, Ticks } from '@property-events/protocol'
import { refusalOf } from '../../feed.ts'
import type { FeedRefusal } from '../../feed.ts'
import { parseEventJson } from '../../event-json.ts'
import { feedName } from '../../feed-key.ts'
import type { AppendBatch } from '../../append/append-batch.ts'
import type { FeedKey } from '../../feed-key.ts'
import type { SubjectState } from '../../append/subject-state.ts'
import { bigints, feedLists, integers, uuids } from '../../../sql/postgres/array.ts'
import type { Session, Statement } from '../../../sql/postgres/session.ts'
import { feedNumbers } from '../../../sql/database.ts'

export interface StoredId {
  readonly position: number
  readonly contentHash: Uint8Array | null
}

export interface SubjectRow extends SubjectState {
  readonly position: number
}

/** A feed as it was when it was read. A look-up that is in none of the maps has not been made, except for `idsUnread`. */
export interface FeedReading {
  readonly key: FeedKey
  readonly lastPosition: number
  readonly offset: number
  readonly revision: number
  readonly lastCreated: Ticks | undefined
  readonly lastSequence: number
  /** Why nothing can be published to it. */
  readonly refusal: FeedRefusal | undefined
  /** Ids that are in none of the maps: to be read first, or assumed free until the append checks. */
  readonly idsUnread: 'wanted' | 'free'
  /** `undefined`: the id is free, the subject has no event. */
  readonly ids: Map<string, StoredId | undefined>
  readonly subjects: Map<string, SubjectRow | undefined>
  readonly events: Map<number, FeedEvent>
}

export interface Reading {
  /** The database's clock. */
  readonly now: Ticks
  /** No stamp is before this: a window was answered then (P3). */
  readonly floor: Ticks
  /** By `feedName`; a feed without an entry has no tenant. */
  readonly feeds: ReadonlyMap<string, FeedReading>
}

/** What a plan needed and has not been read yet. */
export interface MissingRow {
  readonly key: FeedKey
  readonly ids: ReadonlySet<string>
  readonly positions: ReadonlySet<number>
}

/** The order in which counters are taken, the same for every session, so that no two wait for each other. */
export function inKeyOrder(keys: readonly FeedKey[]): readonly FeedKey[] {
  const byName = new Map(keys.map((key) => [`${key.tenantId} ${feedNumbers[key.feed]}`, key]))
  return [...byName].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key)
}

const lookUp: Statement = {
  name: 'append-look-up',
  text: 'SELECT * FROM look_up($1::uuid[], $2::smallint[], $3::integer[], $4::uuid[], $5::integer[], $6::uuid[])',
}

const readJson: Statement = {
  name: 'append-read-json',
  // By the key alone, like `eventAt`.
  text: `SELECT n, found.position, json FROM unnest($1::integer[], $2::uuid[], $3::smallint[], $4::bigint[])
      AS wanted (n, tenant, feed, position),
    LATERAL (SELECT e.position, e.json FROM event e
      WHERE e.tenant = wanted.tenant AND e.feed = wanted.feed AND e.position = wanted.position LIMIT 1) AS found`,
}

interface LookUpRow {
  readonly kind: 'store' | 'feed' | 'id' | 'subject'
  readonly feed_no: number
  readonly key: string
  readonly position: string
  readonly hash: Buffer | null
  readonly published: boolean
  readonly category: Category | null
  readonly branch: string | null
  readonly code: string
  readonly number_offset: string
  readonly revision: string
  readonly created: string | null
  readonly sequence: string | null
  readonly spelling: string
  readonly update_date_hash: Buffer | null
  readonly kept_code: string | null
}

/** Reads everything the batches name: their feeds, ids and subjects. */
export async function readFeeds(session: Session, batches: readonly AppendBatch[]): Promise<Reading> {
  const keys = inKeyOrder(batches.map((batch) => batch.key))
  const numberOf = new Map(keys.map((key, index) => [feedName(key), index + 1]))
  const drafts = batches.flatMap(({ key, drafts }) =>
    drafts.map((draft) => ({ n: numberOf.get(feedName(key)) ?? 0, draft })),
  )
  const rows = await session.query<LookUpRow>(lookUp, [
    ...feedLists(keys),
    integers(drafts.map(({ n }) => n)),
    uuids(drafts.map(({ draft }) => draft.id)),
    integers(drafts.map(({ n }) => n)),
    uuids(drafts.map(({ draft }) => draft.subjectId)),
  ])
  const store = rows.find((row) => row.kind === 'store')
  const feeds = new Map<string, FeedReading>()
  for (const row of rows) {
    const key = row.kind === 'feed' ? keys[row.feed_no - 1] : undefined
    if (key !== undefined) feeds.set(feedName(key), feedReading(key, row, store?.published ?? true))
  }
  for (const { n, draft } of drafts) {
    const feed = feedOf(feeds, keys, n)
    feed?.ids.set(draft.id, undefined)
    feed?.subjects.set(draft.subjectId, undefined)
  }
  for (const row of rows) addFound(feedOf(feeds, keys, row.feed_no), row)
  const [now, floor] = [BigInt(store?.created ?? 0), BigInt(store?.sequence ?? 0)]
  return { now, floor, feeds }
}

/** Adds what plans have requested to what was read. */
export async function readMissing(
  session: Session,
  reading: Reading,
  wanted: readonly MissingRow[],
): Promise<void> {
  const keys = wanted.map(({ key }) => key)
  const ids = wanted.flatMap(({ ids }, index) => [...ids].map((id) => ({ n: index + 1, id })))
  if (ids.length > 0) {
    const rows = await session.query<LookUpRow>(lookUp, [
      ...feedLists(keys),
      integers(ids.map(({ n }) => n)),
      uuids(ids.map(({ id }) => id)),
      integers([]),
      uuids([]),
    ])
    for (const { n, id } of ids) feedOf(reading.feeds, keys, n)?.ids.set(id, undefined)
    for (const row of rows) addFound(feedOf(reading.feeds, keys, row.feed_no), row)
  }
  const places = wanted.flatMap(({ key, positions }, index) =>
    [...positions].map((position) => ({ n: index + 1, key, position })),
  )
  if (places.length === 0) return
  const rows = await session.query<{ n: number; position: string; json: string }>(readJson, [
    integers(places.map(({ n }) => n)),
    ...feedLists(places.map(({ key }) => key)),
    bigints(places.map(({ position }) => position)),
  ])
  for (const { n, position, json } of rows) {
    feedOf(reading.feeds, keys, n)?.events.set(Number(position), parseEventJson(json))
  }
}

function feedOf(
  feeds: ReadonlyMap<string, FeedReading>,
  keys: readonly FeedKey[],
  feedNo: number,
): FeedReading | undefined {
  const key = keys[feedNo - 1]
  return key && feeds.get(feedName(key))
}

function feedReading(key: FeedKey, row: LookUpRow, storeNeedsEpoch: boolean): FeedReading {
  const state = { closedBy: row.code, needsEpoch: storeNeedsEpoch || row.published }
  return {
    key,
    lastPosition: Number(row.position),
    offset: Number(row.number_offset),
    revision: Number(row.revision),
    lastCreated: row.created === null ? undefined : BigInt(row.created),
    lastSequence: Number(row.sequence ?? 0),
    refusal: refusalOf(state, 'event'),
    idsUnread: 'wanted',
    ids: new Map(),
    subjects: new Map(),
    events: new Map(),
  }
}

function addFound(feed: FeedReading | undefined, row: LookUpRow): void {
  const position = Number(row.position)
  if (row.kind === 'id') feed?.ids.set(row.key, { position, contentHash: row.hash })
  if (row.kind !== 'subject') return
  const { code, published, category, branch, hash, spelling } = row
  const { update_date_hash: updateDateHash, kept_code: keptCode } = row
  const state = { code, published, category, branch, payloadHash: hash, spelling, updateDateHash, keptCode }
  feed?.subjects.set(row.key, { ...state, position })
}
