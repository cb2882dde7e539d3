/** Restricting contacts, on a database. */
import {
  lockedRestriction,
  lockRestrictions,
  putRestriction,
  restrictionInForce,
  restrictionOf,
  restrictionWithId,
  stopLifting,
} from '../../../privacy/restriction/store.ts'
import type { RestrictionRow } from '../../../privacy/restriction/store.ts'
import { sqlOver } from '../../../sql/postgres.ts'
import { rowsOfStep } from '../../../privacy/erasure/erasure.ts'
import { erasedEventJson } from '../../../events/append/reduced-event.ts'
import type { FeedKey } from '../../../events/feed-key.ts'
import type { ReduceOutcome } from '../../../privacy/erasure/erasure.ts'
import type {
  LiftOutcome,
  LiftRequest,
  Restricting,
  Restriction,
  RestrictionRequest,
  RestrictOutcome,
} from '../../../privacy/restriction/restriction.ts'
import { isInForce } from '../../../privacy/restriction/restriction.ts'
import { bigints, texts } from '../../../sql/postgres/array.ts'
import type { Database } from '../../../sql/postgres/connection.ts'
import type { Row, Session, Statement } from '../../../sql/postgres/session.ts'
import { notReduced } from './reduce-events.ts'
import type { EngineParts } from '../engine-parts.ts'
import { feedNumbers } from '../../../sql/database.ts'
import { restrictionBegun, restrictionLifted } from '../../../audit/changes.ts'
import {
  begunRestriction,
  closingOfRestriction,
  refusalOfRestriction,
  reopening,
} from '../../../privacy/restriction/begin.ts'
import { appendHeld, takeCounters } from '../../../events/postgres/append/append.ts'
import { markClosing, vouched } from './erase.ts'
import { ofSubject, readLatestKept, setKeptCode } from '../../../events/postgres/kept-events.ts'
import type { Stamped } from '../../../events/postgres/append/plan-commit.ts'

const selectKept: Statement = {
  name: 'restriction-kept',
  text: `SELECT sequence, json FROM kept_event WHERE tenant = $1 AND feed = $2 AND subject = $3 AND sequence > $4
    ORDER BY tenant, feed, subject, position LIMIT $5`,
}
const nextShown: Statement = {
  name: 'restriction-next-shown',
  text: `SELECT position, json, octet_length(json) AS bytes FROM event
    WHERE tenant = $1 AND feed = $2 AND subject = $3 AND sequence > 0 AND position >= $4 AND position <= $5
      AND state = 'full'
    ORDER BY tenant, feed, subject, position LIMIT $6`,
}
const nextKept: Statement = {
  name: 'restriction-next-kept',
  text: `SELECT position, '' AS json, octet_length(json) AS bytes FROM kept_event
    WHERE tenant = $1 AND feed = $2 AND subject = $3 AND position >= $4 AND position <= $5
    ORDER BY tenant, feed, subject, position LIMIT $6`,
}
const call: Statement = {
  name: 'restriction-step',
  text: 'SELECT step_restriction($1, $2, $3, $4, $5, $6::bigint[], $7::text[]) AS status',
}

export function databaseRestricting(parts: EngineParts): Restricting {
  const { database, changed } = parts
  return {
    async begin(request) {
      const outcome = await beginRestriction(parts, request)
      if (outcome.kind === 'restricted') changed([request.key])
      return outcome
    },
    async lift(request) {
      const outcome = await liftRestriction(parts, request)
      if (outcome.kind === 'lifting') changed([outcome.restriction.key])
      return outcome
    },
    async step(restrictionId, limit) {
      const sql = sqlOver((statement, values) => database.read(statement, values))
      const [row] = await sql.rows(restrictionWithId(restrictionId))
      if (row?.state !== 'hiding' && row?.state !== 'lifting') return { kind: 'finished' }
      const outcome = await step(database, row, limit)
      if (outcome.kind === 'reduced') changed([restrictionOf(row).key])
      return outcome
    },
    async kept({ key, subjectId, after, limit }) {
      const values = [key.tenantId, feedNumbers[key.feed], subjectId, after, limit]
      const rows = await database.read<{ sequence: string; json: string }>(selectKept, values)
      return rows.map(({ sequence, json }) => ({
        sequenceNumber: Number(sequence),
        json: Buffer.from(json),
      }))
    },
  }
}

interface NextRow extends Row {
  readonly position: string
  readonly json: string
  readonly bytes: number
}

async function step(database: Database, row: RestrictionRow, limit: number): Promise<ReduceOutcome> {
  const { key, restrictionId, subjectId } = restrictionOf(row)
  const { state, next_position: next, last_position: last } = row
  const place = [row.tenant, row.feed, subjectId, next, last, limit + 1]
  const found = await database.read<NextRow>(state === 'hiding' ? nextShown : nextKept, place)
  const { rows, isLast } = rowsOfStep(found, limit, ({ bytes }) => bytes)
  const json = state === 'hiding' ? rows.map((one) => erasedEventJson(key.feed, subjectId, one.json)) : []
  const values = [
    restrictionId,
    state,
    next,
    isLast ? last + 1 : Number(rows.at(-1)?.position) + 1,
    isLast,
    bigints(rows.map(({ position }) => BigInt(position))),
    texts(json),
  ]
  return database.write(async (session) => {
    const [answer] = await session.query<{ status: string }>(call, values)
    if (answer?.status === 'reduced') return { kind: 'reduced', events: rows.length }
    return notReduced(session, key)
  })
}

const findSubject: Statement = {
  name: 'restriction-subject',
  text: `SELECT f.tenant, s.position, s.code, s.kept_code, s.payload_hash, e.json, e.state FROM feed f
    LEFT JOIN subject s ON s.tenant = f.tenant AND s.feed = f.feed AND s.subject = $3
    LEFT JOIN event e ON e.tenant = s.tenant AND e.feed = s.feed AND e.position = s.position
    WHERE f.tenant = $1 AND f.feed = $2`,
}
const hideLatest: Statement = {
  name: 'restriction-hide-latest',
  text: 'SELECT note_reduction($1, $2, hide_events($1, $2, $3::bigint[], $4::text[]))',
}
interface SubjectRow extends Row {
  readonly position: string | null
  readonly code: string
  readonly kept_code: string | null
  readonly payload_hash: Buffer | null
  readonly json: string
  readonly state: string
}

type Parts = Pick<EngineParts, 'database' | 'appendContext' | 'givenMs' | 'note'>

/** Begins and lifts a restriction: the event, and the rows, in one commit. */
function beginRestriction(parts: Parts, request: RestrictionRequest): Promise<RestrictOutcome> {
  return vouched<RestrictOutcome>(parts, (session) => begin(session, parts, request))
}

async function begin(
  session: Session,
  { appendContext, givenMs, note }: Parts,
  request: RestrictionRequest,
): Promise<RestrictOutcome | 'unvouched'> {
  const { key, subjectId } = request
  const sql = sqlOver((...asked) => session.query(...asked), givenMs)
  const nowMs = await sql.nowMs()
  await sql.rows(lockRestrictions(key, subjectId))
  await takeCounters(session, [request])
  const [same] = await sql.rows(restrictionWithId(request.restrictionId))
  const [inForce] = await sql.rows(restrictionInForce(key, subjectId))
  const known = same ?? inForce
  if (known !== undefined) return { kind: 'restricted', restriction: restrictionOf(known) }
  const [subject] = await session.query<SubjectRow>(findSubject, ofSubject(key, subjectId))
  if (subject === undefined) return { kind: 'unknownFeed' }
  if (subject.position === null) return { kind: 'unknownTarget' }
  const appended = await appendHeld(session, closingOfRestriction(request), appendContext)
  if (appended.kind === 'unvouched') return 'unvouched'
  if (appended.kind === 'refused') return refusalOfRestriction(appended.outcome)
  const { lastPosition, stored } = appended.stamped
  const feed = [key.tenantId, feedNumbers[key.feed]] as const
  await session.query(markClosing, [...feed, lastPosition])
  await setKeptCode(session, key, subjectId, subject.kept_code ?? subject.code)
  // Events that are still being shown again stay hidden.
  await sql.rows(stopLifting(key, subjectId))
  if (subject.state === 'full') {
    const json = erasedEventJson(key.feed, subjectId, subject.json)
    await session.query(hideLatest, [...feed, bigints([BigInt(subject.position)]), texts([json])])
  }
  const restriction = begunRestriction(request, stored.at(-1)?.sequenceNumber ?? 0, nowMs)
  await sql.rows(putRestriction(restriction, { nextPosition: 1, lastPosition: lastPosition - 1 }))
  await note(session, restrictionBegun(request), request.actor)
  return { kind: 'restricted', restriction }
}

function liftRestriction(parts: Parts, request: LiftRequest): Promise<LiftOutcome> {
  return vouched<LiftOutcome>(parts, (session) => lift(session, parts, request))
}

async function lift(
  session: Session,
  parts: Parts,
  request: LiftRequest,
): Promise<LiftOutcome | 'unvouched'> {
  const sql = sqlOver((...asked) => session.query(...asked), parts.givenMs)
  const [row] = await sql.rows(lockedRestriction(request.restrictionId))
  if (row?.tenant !== request.tenantId) return { kind: 'unknownRestriction' }
  const restriction = restrictionOf(row)
  if (!isInForce(restriction)) return { kind: 'lifting', restriction }
  const { key, subjectId } = restriction
  await takeCounters(session, [{ key }])
  const appended = await reopen(session, parts, key, subjectId, request)
  if (appended === 'unvouched' || 'kind' in appended) return appended
  const { lastPosition } = appended
  const lifting: Restriction = {
    ...restriction,
    state: 'lifting',
    endedMs: await sql.nowMs(),
    endedBy: request.actor,
  }
  await sql.rows(putRestriction(lifting, { nextPosition: 1, lastPosition: lastPosition - 1 }))
  await parts.note(session, restrictionLifted(restriction), request.actor)
  return { kind: 'lifting', restriction: lifting }
}

async function reopen(
  session: Session,
  { appendContext }: Parts,
  key: FeedKey,
  subjectId: string,
  request: LiftRequest,
): Promise<Stamped | Exclude<LiftOutcome, { kind: 'lifting' }> | 'unvouched'> {
  const [subject] = await session.query<SubjectRow>(findSubject, ofSubject(key, subjectId))
  if (subject === undefined) return { kind: 'unknownRestriction' }
  const state = { keptCode: subject.kept_code, payloadHash: subject.payload_hash }
  const kept = await readLatestKept((...asked) => session.query(...asked), key, subjectId)
  const batch = reopening(key, subjectId, request, state, kept?.json)
  const appended = await appendHeld(session, batch, appendContext)
  if (appended.kind === 'unvouched') return 'unvouched'
  if (appended.kind === 'refused') return refusalOfRestriction(appended.outcome)
  await setKeptCode(session, key, subjectId, null)
  const { lastPosition } = appended.stamped
  if (batch.drafts[0]?.content.kind === 'erased')
    await session.query(markClosing, [key.tenantId, feedNumbers[key.feed], lastPosition])
  return appended.stamped
}
