/** Erasing, on a database. */
import { erasureOf, erasureWithId, insertErasure } from '../../../privacy/erasure/store.ts'
import { sqlOn, sqlOver } from '../../../sql/postgres.ts'
import type { Ask } from '../../../sql/postgres.ts'
import type {
  BeginErasureOutcome,
  Erasing,
  ErasureRefusal,
  ErasureRequest,
  ErasureTarget,
} from '../../../privacy/erasure/erasure.ts'
import type { FeedKey } from '../../../events/feed-key.ts'
import type { EngineParts } from '../engine-parts.ts'
import { reduceEvents } from './reduce-events.ts'
import { activeHold, onHoldOf } from '../../../privacy/hold/store.ts'
import type { OnHold } from '../../../privacy/hold/hold.ts'
import { erasureBegun } from '../../../audit/changes.ts'
import { begunErasure, closingBatch, refusalOfClosing } from '../../../privacy/erasure/begin.ts'
import { refusalOf } from '../../../events/feed.ts'
import type { FeedState } from '../../../events/feed.ts'
import { appendHeld, takeCounters } from '../../../events/postgres/append/append.ts'
import type { Row, Session, Statement } from '../../../sql/postgres/session.ts'
import { feedNumbers } from '../../../sql/database.ts'
import { endRestrictions, lockRestrictions } from '../../../privacy/restriction/store.ts'
import { readLatestKept, setKeptCode } from '../../../events/postgres/kept-events.ts'

export function databaseErasing(parts: EngineParts): Erasing {
  const { database, givenMs, changed } = parts
  return {
    async begin(request) {
      const outcome = await beginErasure(parts, request, givenMs())
      if (outcome.kind === 'changed') throw new Error('the erasure was not to depend on a position')
      if (outcome.kind === 'begun') changed([request.key])
      return outcome
    },
    async beginUnchanged(request, position) {
      const outcome = await beginErasure(parts, request, givenMs(), position)
      if (outcome.kind === 'begun') changed([request.key])
      const isUnknown = outcome.kind === 'unknownFeed' || outcome.kind === 'unknownTarget'
      return isUnknown ? { kind: 'changed' } : outcome
    },
    count: (key, target) => countErased((...asked) => database.read(...asked), key, target, givenMs()),
    async reduce(erasureId, limit) {
      const [row] = await sqlOver((...asked) => database.read(...asked)).rows(erasureWithId(erasureId))
      if (row?.state !== 'reducing') return { kind: 'finished' }
      const outcome = await reduceEvents(database, row, limit, givenMs())
      if (outcome.kind === 'reduced') changed([erasureOf(row).key])
      return outcome
    },
  }
}

/** The condition on `sequence` lets the index of subjects be used. */
const countEvents: Statement = {
  name: 'erasure-count',
  text: `SELECT count(e.position) AS events, max(e.position) AS last FROM feed f
    LEFT JOIN event e ON e.tenant = f.tenant AND e.feed = f.feed AND e.subject = $3 AND e.sequence > 0 AND e.position > $4
    WHERE f.tenant = $1 AND f.feed = $2 GROUP BY f.tenant`,
}
const findEvent: Statement = {
  name: 'erasure-event',
  text: `SELECT f.revision, f.move, f.needs_epoch OR (SELECT needs_epoch FROM store) AS needs_epoch, e.position,
      e.subject, s.position AS latest
    FROM feed f
    LEFT JOIN event_id i ON i.tenant = f.tenant AND i.feed = f.feed AND i.id = $3
    LEFT JOIN event e ON e.tenant = i.tenant AND e.feed = i.feed AND e.position = i.position AND e.id = i.id
    LEFT JOIN subject s ON s.tenant = e.tenant AND s.feed = e.feed AND s.subject = e.subject
    WHERE f.tenant = $1 AND f.feed = $2`,
}
export const markClosing: Statement = {
  name: 'erasure-mark-closing',
  text: `UPDATE event SET state = 'erased' WHERE tenant = $1 AND feed = $2 AND position = $3`,
}

interface EventRow extends Row {
  readonly revision: string
  readonly move: string | null
  readonly needs_epoch: boolean
  readonly position: string | null
  readonly subject: string
  readonly latest: string | null
}

/** The hold on a subject now. `nowMs`: `null` for the database's clock. */
async function holdOn(
  ask: Ask,
  key: FeedKey,
  subjectId: string,
  nowMs: number | null,
): Promise<OnHold | undefined> {
  const sql = sqlOver(ask)
  return onHoldOf(await sql.rows(activeHold(key, subjectId, nowMs ?? (await sql.nowMs()))))
}

/** How many events of a target there are to reduce. */
async function countErased(
  ask: Ask,
  key: FeedKey,
  target: ErasureTarget,
  nowMs: number | null,
): Promise<{ readonly kind: 'counted'; readonly events: number } | ErasureRefusal> {
  if (target.kind === 'event') {
    const found = await eventOf(ask, key, target.eventId, nowMs)
    return found.kind === 'found' ? { kind: 'counted', events: 1 } : found
  }
  const counted = await countSubject(ask, key, target.subjectId, 0)
  if (counted === undefined) return { kind: 'unknownFeed' }
  if (counted.events === 0) return { kind: 'unknownTarget' }
  const onHold = await holdOn(ask, key, target.subjectId, nowMs)
  return onHold ?? { kind: 'counted', events: counted.events }
}

/** Counts the events after a position; `undefined`: no such feed. */
async function countSubject(ask: Ask, key: FeedKey, subjectId: string, after: number) {
  const values = [key.tenantId, feedNumbers[key.feed], subjectId, after]
  const [row] = await ask<{ events: string; last: string | null }>(countEvents, values)
  return row && { events: Number(row.events), last: Number(row.last ?? after) }
}

interface FoundEvent extends FeedState {
  readonly kind: 'found'
  readonly position: number
  readonly revision: number
}

async function eventOf(
  ask: Ask,
  key: FeedKey,
  eventId: string,
  nowMs: number | null,
): Promise<FoundEvent | ErasureRefusal> {
  const [row] = await ask<EventRow>(findEvent, [key.tenantId, feedNumbers[key.feed], eventId])
  if (row === undefined) return { kind: 'unknownFeed' }
  if (row.position === null) return { kind: 'unknownTarget' }
  // For a restricted contact, a later event is shown in its place, which does not show the contact's state.
  const kept = await readLatestKept(ask, key, row.subject)
  if (row.position === row.latest || row.position === kept?.position) return { kind: 'eventIsLatest' }
  const onHold = await holdOn(ask, key, row.subject, nowMs)
  if (onHold !== undefined) return onHold
  const { move: closedBy, needs_epoch: needsEpoch } = row
  return {
    kind: 'found',
    position: Number(row.position),
    revision: Number(row.revision),
    closedBy,
    needsEpoch,
  }
}

type Parts = Pick<EngineParts, 'database' | 'appendContext' | 'note'>

/** Rolls back what was begun: the subject has an event that the caller does not know. */
class ChangedMeanwhile extends Error {}

/**
 * `nowMs`: replaces the database's clock, for tests. `onlyAt`: the position of the subject's latest event, as the caller knows it;
 * `changed` if there is a later one.
 */
async function beginErasure(
  parts: Parts,
  request: ErasureRequest,
  nowMs: number | null,
  onlyAt?: number,
): Promise<BeginErasureOutcome | { readonly kind: 'changed' }> {
  try {
    return await vouched(parts, (session) => beginOnce(session, parts, request, nowMs, onlyAt))
  } catch (error) {
    if (error instanceof ChangedMeanwhile) return { kind: 'changed' }
    throw error
  }
}

/** Tries again if the store's history has to be vouched for first (D13). */
export async function vouched<Outcome>(
  { database, appendContext }: Pick<EngineParts, 'database' | 'appendContext'>,
  run: (session: Session) => Promise<Outcome | 'unvouched'>,
): Promise<Outcome | { readonly kind: 'epochRequired' }> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await database.transaction(run)
    if (outcome !== 'unvouched') return outcome
    if (tries > 1 || !(await appendContext.vouch())) return { kind: 'epochRequired' }
  }
}

async function beginOnce(
  session: Session,
  parts: Parts,
  request: ErasureRequest,
  givenMs: number | null,
  onlyAt: number | undefined,
): Promise<BeginErasureOutcome | 'unvouched'> {
  const sql = sqlOn(session)
  const [known] = await sql.rows(erasureWithId(request.erasureId))
  if (known !== undefined) return { kind: 'begun', erasure: erasureOf(known) }
  const nowMs = givenMs ?? (await sql.nowMs())
  const { target } = request
  if (target.kind === 'subject')
    return beginSubject(session, parts, request, { subjectId: target.subjectId, nowMs, onlyAt })
  // A hold is added under the same lock.
  await takeCounters(session, [request])
  const ask: Ask = (...asked) => session.query(...asked)
  const found = await eventOf(ask, request.key, target.eventId, nowMs)
  if (found.kind !== 'found') return found
  const refusal = refusalOf(found, 'event')
  if (refusal !== undefined) return refusal
  const { position, revision } = found
  const erasure = begunErasure({ request, events: 1, closing: undefined, revision, nowMs })
  await sql.rows(insertErasure(erasure, position, position))
  await parts.note(session, erasureBegun(request), request.actor)
  return { kind: 'begun', erasure }
}

async function beginSubject(
  session: Session,
  { appendContext, note }: Parts,
  request: ErasureRequest,
  {
    subjectId,
    nowMs,
    onlyAt,
  }: { readonly subjectId: string; readonly nowMs: number; readonly onlyAt: number | undefined },
): Promise<BeginErasureOutcome | 'unvouched'> {
  const { key } = request
  const ask: Ask = (...asked) => session.query(...asked)
  const sql = sqlOn(session)
  await sql.rows(lockRestrictions(key, subjectId))
  // Counted before the counter is taken, since it may take a while; events that come meanwhile are counted after it.
  const before = await countSubject(ask, key, subjectId, 0)
  if (before === undefined) return { kind: 'unknownFeed' }
  // A hold is added under the same lock.
  await takeCounters(session, [request])
  const onHold = await holdOn(ask, key, subjectId, nowMs)
  if (before.events > 0 && onHold !== undefined) return onHold
  const appended = await appendHeld(session, closingBatch(request, subjectId), appendContext)
  if (appended.kind === 'unvouched') return 'unvouched'
  if (appended.kind === 'refused') return refusalOfClosing(appended.outcome)
  const { lastPosition, stored, reading } = appended.stamped
  // Under the counter: no more events come.
  const later = onlyAt === undefined ? undefined : await countSubject(ask, key, subjectId, onlyAt)
  if (later !== undefined && later.events > 1) throw new ChangedMeanwhile()
  const since = await countSubject(ask, key, subjectId, before.last)
  await session.query(markClosing, [key.tenantId, feedNumbers[key.feed], lastPosition])
  await sql.rows(endRestrictions(key, subjectId, request.actor, nowMs))
  await setKeptCode(session, key, subjectId, null)
  const { sequenceNumber = 0 } = stored.at(-1) ?? {}
  const erasure = begunErasure({
    request,
    // The closing event is among those that came since.
    events: before.events + (since?.events ?? 1) - 1,
    closing: { eventId: request.closingEventId, sequenceNumber },
    revision: reading.revision,
    nowMs,
  })
  await sql.rows(insertErasure(erasure, 1, lastPosition - 1))
  await note(session, erasureBegun(request), request.actor)
  return { kind: 'begun', erasure }
}
