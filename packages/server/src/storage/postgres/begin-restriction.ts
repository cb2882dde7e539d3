/** Begins and lifts a restriction: the event, and the rows, in one commit. */
import { restrictionBegun, restrictionLifted } from '../../audit/changes.ts'
import {
  begunRestriction,
  closingOfRestriction,
  refusalOfRestriction,
  reopening,
} from '../begin-restriction.ts'
import { erasedEventJson } from '../reduced-event.ts'
import { isInForce } from '../restriction-store.ts'
import { StorageFailure } from '../storage.ts'
import type {
  FeedKey,
  LiftOutcome,
  LiftRequest,
  RestrictOutcome,
  Restriction,
  RestrictionRequest,
} from '../storage.ts'
import { appendHeld, takeCounters } from './append.ts'
import { bigints, texts } from './array.ts'
import { markClosing } from './begin-erasure.ts'
import type { Row, Session, Statement } from './connection.ts'
import type { EngineParts } from './engine-parts.ts'
import { feedNumbers } from '../../sql/database.ts'
import { lockRestrictions, ofSubject, readLatestKept, setKeptCode } from './kept-events.ts'
import type { Stamped } from './plan-commit.ts'
import { putRestriction, readRestriction, restrictionOf } from './restriction-row.ts'
import type { RestrictionRow } from './restriction-row.ts'

const findInForce: Statement = {
  name: 'restriction-in-force',
  text: `SELECT * FROM restriction WHERE tenant = $1 AND feed = $2 AND subject = $3
    AND state IN ('hiding', 'hidden', 'restricted')`,
}
const findSubject: Statement = {
  name: 'restriction-subject',
  text: `SELECT f.tenant, s.position, s.code, s.kept_code, s.payload_hash, e.json, e.state FROM feed f
    LEFT JOIN subject s ON s.tenant = f.tenant AND s.feed = f.feed AND s.subject = $3
    LEFT JOIN event e ON e.tenant = s.tenant AND e.feed = s.feed AND e.position = s.position
    WHERE f.tenant = $1 AND f.feed = $2`,
}
const stopLifting: Statement = {
  name: 'restriction-stop-lifting',
  text: `UPDATE restriction SET state = 'lifted' WHERE tenant = $1 AND feed = $2 AND subject = $3 AND state = 'lifting'`,
}
const hideLatest: Statement = {
  name: 'restriction-hide-latest',
  text: 'SELECT note_reduction($1, $2, hide_events($1, $2, $3::bigint[], $4::text[]))',
}
const lockOne: Statement = {
  name: 'restriction-lock-one',
  text: 'SELECT * FROM restriction WHERE restriction = $1 FOR NO KEY UPDATE',
}

interface SubjectRow extends Row {
  readonly position: string | null
  readonly code: string
  readonly kept_code: string | null
  readonly payload_hash: Buffer | null
  readonly json: string
  readonly state: string
}

type Parts = Pick<EngineParts, 'database' | 'appendContext' | 'note'>

/** Tries again if the store's history has to be vouched for first (D13). */
async function vouched<Outcome>(
  { database, appendContext }: Parts,
  run: (session: Session) => Promise<Outcome | 'unvouched'>,
): Promise<Outcome | { readonly kind: 'epochRequired' }> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await database.transaction(run)
    if (outcome !== 'unvouched') return outcome
    if (tries > 1 || !(await appendContext.vouch())) return { kind: 'epochRequired' }
  }
}

export function beginRestriction(
  parts: Parts,
  request: RestrictionRequest,
  nowIn: (session: Session) => Promise<number>,
): Promise<RestrictOutcome> {
  return vouched<RestrictOutcome>(parts, async (session) =>
    begin(session, parts, request, await nowIn(session)),
  )
}

async function begin(
  session: Session,
  { appendContext, note }: Parts,
  request: RestrictionRequest,
  nowMs: number,
): Promise<RestrictOutcome | 'unvouched'> {
  const { key, subjectId } = request
  const place = ofSubject(key, subjectId)
  await lockRestrictions(session, key, subjectId)
  await takeCounters(session, [request])
  const [given] = await session.query<RestrictionRow & Row>(readRestriction, [request.restrictionId])
  const [inForce] = await session.query<RestrictionRow & Row>(findInForce, place)
  const known = given ?? inForce
  if (known !== undefined) return { kind: 'restricted', restriction: restrictionOf(known) }
  const [subject] = await session.query<SubjectRow>(findSubject, place)
  if (subject === undefined) return { kind: 'unknownFeed' }
  if (subject.position === null) return { kind: 'unknownTarget' }
  const appended = await appendHeld(session, closingOfRestriction(request), appendContext)
  if (appended.kind === 'unvouched') return 'unvouched'
  if (appended.kind === 'refused') {
    if (appended.outcome.kind !== 'stored') return refusalOfRestriction(appended.outcome)
    throw new StorageFailure('storage_unavailable', new Error('the closing event was not written'))
  }
  const { lastPosition, stored } = appended.stamped
  const feed = [key.tenantId, feedNumbers[key.feed]] as const
  await session.query(markClosing, [...feed, lastPosition])
  await setKeptCode(session, key, subjectId, subject.kept_code ?? subject.code)
  // Events that are still being shown again stay hidden.
  await session.query(stopLifting, place)
  if (subject.state === 'full') {
    const json = erasedEventJson(key.feed, subjectId, subject.json)
    await session.query(hideLatest, [...feed, bigints([BigInt(subject.position)]), texts([json])])
  }
  const restriction = begunRestriction(request, stored.at(-1)?.sequenceNumber ?? 0, nowMs)
  await putRestriction(session, restriction, { nextPosition: 1, lastPosition: lastPosition - 1 })
  await note(session, restrictionBegun(request), request.actor)
  return { kind: 'restricted', restriction }
}

export function liftRestriction(
  parts: Parts,
  request: LiftRequest,
  nowIn: (session: Session) => Promise<number>,
): Promise<LiftOutcome> {
  return vouched<LiftOutcome>(parts, async (session) => lift(session, parts, request, await nowIn(session)))
}

async function lift(
  session: Session,
  parts: Parts,
  request: LiftRequest,
  nowMs: number,
): Promise<LiftOutcome | 'unvouched'> {
  const [row] = await session.query<RestrictionRow & Row>(lockOne, [request.restrictionId])
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
    endedMs: nowMs,
    endedBy: request.actor,
  }
  await putRestriction(session, lifting, { nextPosition: 1, lastPosition: lastPosition - 1 })
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
  if (appended.kind === 'refused') {
    if (appended.outcome.kind !== 'stored') return refusalOfRestriction(appended.outcome)
    throw new StorageFailure('storage_unavailable', new Error('the reopening event was not written'))
  }
  await setKeptCode(session, key, subjectId, null)
  const { lastPosition } = appended.stamped
  if (batch.drafts[0]?.content.kind === 'erased')
    await session.query(markClosing, [key.tenantId, feedNumbers[key.feed], lastPosition])
  return appended.stamped
}
