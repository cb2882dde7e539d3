/** The port's part for holds, on a database. */
import { millisecondsOfTicks } from '@property-events/protocol'
import type { Ticks } from '@property-events/protocol'
import { holdAdded, holdEnded, holdsExpired } from '../audit-changes.ts'
import { addedHold } from '../hold-store.ts'
import { moveStateOf } from '../move-store.ts'
import type {
  Actor,
  AddHoldOutcome,
  EndHoldOutcome,
  FeedKey,
  Hold,
  HoldRequest,
  HoldStore,
  OnHold,
} from '../storage.ts'
import type { NoteChanges } from './audit.ts'
import type { Database, Row, Session, Statement, Value } from './connection.ts'
import { feedNumbers } from './feed-number.ts'
import { holdOf, putHold } from './hold-row.ts'
import type { HoldRow } from './hold-row.ts'

const readNow: Statement = {
  name: 'hold-now',
  text: 'SELECT coalesce($1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now',
}
const selectActive: Statement = {
  name: 'hold-active',
  text: `SELECT hold, until_ms FROM hold WHERE tenant = $1 AND feed = $2 AND subject = $3 AND ended_ms IS NULL
      AND until_ms > coalesce($4, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
    ORDER BY until_ms DESC, hold LIMIT 1`,
}
/** Taken as by an append: an erasure begins under the same lock, so it either comes before the hold or sees it. */
const lockFeed: Statement = {
  name: 'hold-lock',
  text: 'SELECT move FROM feed WHERE tenant = $1 AND feed = $2 FOR NO KEY UPDATE',
}
const findSubject: Statement = {
  name: 'hold-subject',
  text: 'SELECT FROM subject WHERE tenant = $1 AND feed = $2 AND subject = $3',
}
const selectOne: Statement = { name: 'hold-one', text: 'SELECT * FROM hold WHERE hold = $1' }
const lockOne: Statement = {
  name: 'hold-lock-one',
  text: 'SELECT * FROM hold WHERE hold = $1 FOR NO KEY UPDATE',
}
const selectOwn: Statement = {
  name: 'hold-list',
  text: `SELECT * FROM hold WHERE tenant = $1 AND hold > coalesce($2, '00000000-0000-0000-0000-000000000000')::uuid
    ORDER BY tenant, hold LIMIT $3`,
}
const selectOfFeed: Statement = {
  name: 'hold-of-feed',
  text: 'SELECT * FROM hold WHERE tenant = $1 AND feed = $2 ORDER BY tenant, hold',
}
const anyExpired: Statement = {
  name: 'hold-any-expired',
  text: `SELECT FROM hold WHERE ended_ms IS NULL AND reported_ms IS NULL
      AND until_ms <= coalesce($1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) LIMIT 1`,
}
/** Another node that reports the same waits, and then finds nothing. */
const reportExpired: Statement = {
  name: 'hold-report-expired',
  text: `UPDATE hold SET reported_ms = $1 WHERE ended_ms IS NULL AND reported_ms IS NULL AND until_ms <= $1 RETURNING *`,
}

type Ask = <R extends Row>(statement: Statement, values: readonly Value[]) => Promise<readonly R[]>

/** The hold that protects a subject now. `nowMs`: replaces the database's clock, for tests. */
export async function activeHold(
  ask: Ask,
  key: FeedKey,
  subjectId: string,
  nowMs: number | null,
): Promise<OnHold | undefined> {
  const values = [key.tenantId, feedNumbers[key.feed], subjectId, nowMs]
  const [row] = await ask<{ hold: string; until_ms: string }>(selectActive, values)
  return row && { kind: 'onHold', holdId: row.hold, untilMs: Number(row.until_ms) }
}

/** The holds of a feed, for another store. */
export async function holdsOfFeed(ask: Ask, { tenantId, feed }: FeedKey): Promise<readonly Hold[]> {
  return (await ask<HoldRow & Row>(selectOfFeed, [tenantId, feedNumbers[feed]])).map(holdOf)
}

export function databaseHolds(
  database: Database,
  given: () => Ticks | undefined,
  note: NoteChanges,
): HoldStore {
  const givenMs = (): number | null => {
    const now = given()
    return now === undefined ? null : millisecondsOfTicks(now)
  }
  const nowIn = async (session: Session): Promise<number> => {
    const [row] = await session.query<{ now: string }>(readNow, [givenMs()])
    return Number(row?.now)
  }
  return {
    add: (request) =>
      database.transaction(async (session) => {
        const outcome = await added(session, request, await nowIn(session))
        if (outcome.kind === 'new') await note(session, holdAdded(request), request.actor)
        return outcome.kind === 'new' ? { kind: 'added', hold: outcome.hold } : outcome
      }),
    end: (tenantId, holdId, actor) =>
      database.transaction(async (session) => {
        const outcome = await ended(session, [tenantId, holdId], actor, await nowIn(session))
        if (outcome.kind === 'new') await note(session, holdEnded(outcome.hold), actor)
        return outcome.kind === 'new' ? { kind: 'ended', hold: outcome.hold } : outcome
      }),
    async find(tenantId, holdId) {
      const [row] = await database.read<HoldRow & Row>(selectOne, [holdId])
      return row?.tenant === tenantId ? holdOf(row) : undefined
    },
    async list(tenantId, after, limit) {
      return (await database.read<HoldRow & Row>(selectOwn, [tenantId, after ?? null, limit])).map(holdOf)
    },
    active: (key, subjectId) => activeHold((...asked) => database.read(...asked), key, subjectId, givenMs()),
    async reportExpired() {
      if ((await database.read(anyExpired, [givenMs()])).length === 0) return []
      return database.transaction(async (session) => {
        const rows = await session.query<HoldRow & Row>(reportExpired, [await nowIn(session)])
        const expired = rows.map(holdOf).toSorted((a, b) => (a.holdId < b.holdId ? -1 : 1))
        await note(session, holdsExpired(expired), 'service')
        return expired
      })
    },
  }
}

async function added(
  session: Session,
  request: HoldRequest,
  nowMs: number,
): Promise<AddHoldOutcome | { readonly kind: 'new'; readonly hold: Hold }> {
  const feed = [request.key.tenantId, feedNumbers[request.key.feed]] as const
  const [counter] = await session.query<{ move: string | null }>(lockFeed, feed)
  const [known] = await session.query<HoldRow & Row>(selectOne, [request.holdId])
  if (known !== undefined) return { kind: 'added', hold: holdOf(known) }
  if (counter === undefined) return { kind: 'unknownFeed' }
  const found = await session.query(findSubject, [...feed, request.subjectId])
  if (found.length === 0) return { kind: 'unknownTarget' }
  if (moveStateOf(counter.move) !== 'open') return { kind: 'tenantMoving' }
  return { kind: 'new', hold: await putHold(session, addedHold(request, nowMs)) }
}

/** Under the counter, like adding a hold: a move that closes the tenant waits, and then includes the end. */
async function ended(
  session: Session,
  [tenantId, holdId]: readonly [string, string],
  actor: Actor,
  nowMs: number,
): Promise<EndHoldOutcome | { readonly kind: 'new'; readonly hold: Hold }> {
  const [found] = await session.query<HoldRow & Row>(selectOne, [holdId])
  if (found?.tenant !== tenantId) return { kind: 'unknownHold' }
  const feed = [tenantId, feedNumbers[holdOf(found).key.feed]]
  const [counter] = await session.query<{ move: string | null }>(lockFeed, feed)
  // Another end, or a report of expiry, may have come first.
  const [row = found] = await session.query<HoldRow & Row>(lockOne, [holdId])
  const hold = holdOf(row)
  if (hold.endedMs !== undefined) return { kind: 'ended', hold }
  if (moveStateOf(counter?.move ?? null) !== 'open') return { kind: 'tenantMoving' }
  return { kind: 'new', hold: await putHold(session, { ...hold, endedMs: nowMs, endedBy: actor }) }
}
