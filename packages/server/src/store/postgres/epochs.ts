/** Epochs in a database: beginning one, and where publishing waits for one (D13). */
import { newEpochId } from '../../events/epochs.ts'
import { epochStarted, historyAccepted, maintenanceSet } from '../../audit/changes.ts'
import { endMaintenance } from '../../maintenance/store.ts'
import { sqlOn } from '../../sql/postgres.ts'
import { removeSiteRows } from '../site-rows.ts'
import type { Actor } from '../../audit/actor.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import { feedLists, texts } from '../../sql/postgres/array.ts'
import type { NoteChanges } from '../../sql/postgres.ts'
import type { Database } from '../../sql/postgres/connection.ts'
import type { Session, Statement } from '../../sql/postgres/session.ts'
import { feedNumbers, feedOfNumber } from '../../sql/database.ts'
import type { EpochNeed, WaitingFeed } from '../../events/epochs.ts'
import { webhooksCopied } from '../../audit/webhook-changes.ts'
import type { CopiedWebhooks } from '../../webhooks/endpoint.ts'
import { pauseCopied } from '../../webhooks/endpoint-rows.ts'
import type { Witness } from '../../events/postgres/witness.ts'

/** Waits for commits under way and lets no new one begin; reads continue. */
const lock: Statement = { name: 'epoch-lock', text: 'LOCK TABLE feed IN EXCLUSIVE MODE' }
const readOffset: Statement = {
  name: 'epoch-offset',
  text: `SELECT greatest($1, first_offset, (SELECT max(last_sequence) FROM feed), (SELECT max(number) FROM lost_number)) AS first_offset,
      (SELECT count(*) FROM feed) AS feeds
    FROM store`,
}
const update: Statement = {
  name: 'epoch-update',
  text: `UPDATE feed SET epoch = given.epoch, number_offset = $1 - last_position, epoch_start = $1, needs_epoch = false
    FROM (SELECT tenant, feed, row_number() OVER (ORDER BY tenant, feed) AS n FROM feed) AS place
    JOIN unnest($2::text[]) WITH ORDINALITY AS given (epoch, n) USING (n)
    WHERE feed.tenant = place.tenant AND feed.feed = place.feed`,
}
const record: Statement = {
  name: 'epoch-record',
  text: 'UPDATE store SET first_offset = $1, needs_epoch = false, incarnation = incarnation()',
}
const forgetLosses: Statement = { name: 'epoch-forget-losses', text: 'DELETE FROM lost_number' }

/**
 * Another history may not know which windows were answered in the previous one (P3), but the reservation does. If nothing is waiting,
 * there is no other history, and times continue as they were.
 */
const raiseFloor: Statement = {
  name: 'epoch-raise-floor',
  text: `SELECT raise_floor(until) FROM time_reservation
    WHERE (SELECT needs_epoch OR incarnation <> incarnation() FROM store) OR EXISTS (SELECT FROM feed WHERE needs_epoch)`,
}

/** Whether the numbers were last given in another place: the store is a copy. */
const findCopy: Statement = {
  name: 'epoch-find-copy',
  text: `SELECT FROM store WHERE needs_epoch OR split_part(incarnation, '/', 1) <> split_part(incarnation(), '/', 1)`,
}

/** What the whole store waits for, every feed waits for separately from here on. */
const spread: Statement = {
  name: 'epoch-spread',
  text: `UPDATE feed SET needs_epoch = true
    WHERE NOT needs_epoch AND (SELECT needs_epoch OR incarnation <> incarnation() FROM store)`,
}
const recordSpread: Statement = {
  name: 'epoch-record-spread',
  text: 'UPDATE store SET needs_epoch = false, incarnation = incarnation()',
}
const updateSome: Statement = {
  name: 'epoch-update-some',
  text: `WITH begun AS (
      SELECT f.tenant, f.feed, given.epoch,
        greatest($1::bigint, f.last_sequence, f.number_offset + f.last_position, l.number) AS start
      FROM unnest($2::uuid[], $3::smallint[], $4::text[]) AS given (tenant, feed, epoch)
      JOIN feed f ON f.tenant = given.tenant AND f.feed = given.feed
      LEFT JOIN lost_number l ON l.tenant = f.tenant AND l.feed = f.feed
    )
    UPDATE feed f SET epoch = begun.epoch, number_offset = begun.start - f.last_position, epoch_start = begun.start,
      needs_epoch = false
    FROM begun WHERE f.tenant = begun.tenant AND f.feed = begun.feed RETURNING f.tenant, f.feed`,
}
const forgetSomeLosses: Statement = {
  name: 'epoch-forget-some-losses',
  text: `DELETE FROM lost_number l USING unnest($1::uuid[], $2::smallint[]) AS given (tenant, feed)
    WHERE l.tenant = given.tenant AND l.feed = given.feed`,
}

/**
 * A new epoch in every feed, or in the given ones, in one commit (D13): the next numbers come after all that were or may have
 * been shown.
 */
export function startEpoch(
  database: Database,
  note: NoteChanges,
  continueAfter: number,
  actor: Actor,
  feeds: readonly FeedKey[] | undefined,
  webhooks: CopiedWebhooks = 'paused',
): Promise<void> {
  return database.transaction(async (session) => {
    await session.query(lock, [])
    await session.query(raiseFloor, [])
    await leavePlace(session, note, actor, feeds === undefined, webhooks)
    if (feeds === undefined) await startEverywhere(session, continueAfter)
    const begun = feeds && (await startIn(session, continueAfter, feeds))
    await note(session, epochStarted(continueAfter, begun), actor)
  })
}

/** Nodes before the store's row, in the order in which `finishPepper` takes them. */
async function leavePlace(
  session: Session,
  note: NoteChanges,
  actor: Actor,
  isEverywhere: boolean,
  webhooks: CopiedWebhooks,
): Promise<void> {
  const isCopy = (await session.query(findCopy, [])).length > 0
  if (!isCopy && !isEverywhere) return
  for (const text of removeSiteRows(isCopy)) await session.query({ name: `epoch: ${text}`, text }, [])
  const ended = isCopy ? await sqlOn(session).rows(endMaintenance()) : []
  if (ended.length > 0) await note(session, maintenanceSet(undefined), actor)
  if (!isCopy || webhooks === 'continue') return
  const sql = sqlOn(session)
  const paused = await sql.rows(pauseCopied(await sql.nowMs()))
  if (paused.length > 0) await note(session, webhooksCopied(paused), actor)
}

async function startEverywhere(session: Session, continueAfter: number): Promise<void> {
  const [row] = await session.query<{ first_offset: string; feeds: string }>(readOffset, [continueAfter])
  const offset = Number(row?.first_offset ?? continueAfter)
  const epochs = Array.from({ length: Number(row?.feeds ?? 0) }, newEpochId)
  await session.query(update, [offset, texts(epochs)])
  await session.query(record, [offset])
  await session.query(forgetLosses, [])
}

/** Returns those of the feeds that exist, each once. */
async function startIn(
  session: Session,
  continueAfter: number,
  feeds: readonly FeedKey[],
): Promise<readonly FeedKey[]> {
  const [tenants, numbers] = feedLists(feeds)
  await session.query(spread, [])
  await session.query(recordSpread, [])
  const values = [continueAfter, tenants, numbers, texts(feeds.map(newEpochId))]
  const begun = await session.query<BegunRow>(updateSome, values)
  await session.query(forgetSomeLosses, [tenants, numbers])
  const found = new Set(begun.map(({ tenant, feed }) => `${tenant} ${feed}`))
  return feeds.filter(({ tenantId, feed }) => found.delete(`${tenantId} ${feedNumbers[feed]}`))
}

interface BegunRow {
  readonly tenant: string
  readonly feed: number
  readonly [column: string]: unknown
}

/** Some node has shown a number that is not here. */
const findMissing: Statement = {
  name: 'epoch-find-missing',
  text: 'SELECT FROM lost_number LIMIT 1',
}
const storeWaits: Statement = {
  name: 'epoch-store-waits',
  text: 'SELECT FROM store WHERE needs_epoch OR incarnation <> incarnation()',
}
const acceptFeeds: Statement = {
  name: 'epoch-accept-feeds',
  text: 'UPDATE feed SET needs_epoch = false WHERE needs_epoch RETURNING tenant',
}

/** Publishing continues in the present epochs: an operator knows that nothing is missing, and no node knows better. */
export function acceptHistory(
  database: Database,
  note: NoteChanges,
  actor: Actor,
): Promise<'accepted' | 'missing'> {
  return database.transaction(async (session) => {
    await session.query(lock, [])
    if ((await session.query(findMissing, [])).length > 0) return 'missing'
    await session.query(raiseFloor, [])
    const waiting =
      (await session.query(storeWaits, [])).length + (await session.query(acceptFeeds, [])).length
    await session.query(recordSpread, [])
    if (waiting > 0) await note(session, historyAccepted(), actor)
    return 'accepted'
  })
}

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
  return rows.map(({ tenant: tenantId, feed, held, shown }) => ({
    key: { tenantId, feed: feedOfNumber(feed, 'feed') },
    heldNumber: Number(held),
    shownNumber: shown === null ? undefined : Number(shown),
  }))
}

/** Numbers that the last check found missing may have been dealt with since, so they are looked for again. */
function isVouched(database: Database, history: Witness): Promise<boolean> {
  return database.write(async (session) => {
    if (history.finds()) await history.check(session)
    return history.vouch(session)
  })
}
