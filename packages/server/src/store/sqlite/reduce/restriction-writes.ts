/** Restricts contacts, on the writer's connection: each verb is one immediate transaction. */
import { bytesOfUuid, millisecondsOfTicks } from '@property-events/protocol/plain'
import type { Ticks } from '@property-events/protocol'
import { restrictionBegun, restrictionLifted } from '../../../audit/changes.ts'
import {
  begunRestriction,
  closingOfRestriction,
  refusalOfRestriction,
  reopening,
} from '../../../privacy/restriction/begin.ts'
import { readClock } from '../../../runtime/clock.ts'
import type { SharedClock } from '../../../runtime/clock.ts'
import { isInForce } from '../../../privacy/restriction/restriction.ts'
import type {
  LiftOutcome,
  LiftRequest,
  RestrictOutcome,
  Restriction,
  RestrictionRequest,
} from '../../../privacy/restriction/restriction.ts'
import type { ReduceOutcome } from '../../../privacy/erasure/erasure.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import type { ErasureWriteParts } from './erasure-writes.ts'
import { feedReader } from '../../../events/sqlite/feed-row.ts'
import { keptEvents, latestKeptReader } from '../../../events/sqlite/kept-events.ts'
import { statementRunner } from '../../../sql/sqlite.ts'
import {
  putRestriction,
  restrictionInForce,
  restrictionOf,
  restrictionWithId,
  stopLifting,
} from '../../../privacy/restriction/store.ts'
import { restrictionStepper, revisionRaiser, shownReader } from './restriction-steps.ts'
import type { SubjectRow } from '../../../events/sqlite/subject-row.ts'

export interface RestrictionWrites {
  beginRestriction(request: RestrictionRequest): RestrictOutcome
  liftRestriction(request: LiftRequest): LiftOutcome
  stepRestriction(restrictionId: string, limit: number): ReduceOutcome
}

export function restrictionWrites(
  db: Connection,
  clock: SharedClock | undefined,
  parts: ErasureWriteParts,
): RestrictionWrites {
  const { line, changes } = parts
  const nowMs = (): number => millisecondsOfTicks(readClock(clock))
  const run = statementRunner(db)
  const begin = beginner(db, parts, nowMs)
  const lift = lifter(db, parts, nowMs)
  const step = restrictionStepper(db)
  return {
    beginRestriction(request) {
      return line.commit(
        (floor) => begin.immediate(request, floor),
        ({ kind }) => (kind === 'restricted' ? [request.key] : []),
      )
    },
    liftRestriction(request) {
      return line.commit(
        (floor) => lift.immediate(request, floor),
        (outcome) => (outcome.kind === 'lifting' ? [outcome.restriction.key] : []),
      )
    },
    stepRestriction(restrictionId, limit) {
      const outcome = step(restrictionId, limit)
      const [row] = outcome.kind === 'reduced' ? run(restrictionWithId(restrictionId)) : []
      if (row !== undefined) changes.raise(restrictionOf(row).key)
      return outcome
    },
  }
}

function beginner(db: Connection, { appending, note }: ErasureWriteParts, nowMs: () => number) {
  const run = statementRunner(db)
  const feedOf = feedReader(db)
  const { hide } = keptEvents(db)
  const shownAt = shownReader(db)
  const raise = revisionRaiser(db)
  const findLatest = db
    .prepare<[number, Uint8Array], number>('SELECT position FROM subject WHERE feed_no = ? AND subject = ?')
    .pluck()
  return db.transaction((request: RestrictionRequest, floor: Ticks): RestrictOutcome => {
    const { key, subjectId } = request
    const feed = feedOf(key)
    const subject = bytesOfUuid(subjectId)
    const [given] = run(restrictionWithId(request.restrictionId))
    const [inForce] = run(restrictionInForce(key, subjectId))
    const known = given ?? inForce
    if (known !== undefined) return { kind: 'restricted', restriction: restrictionOf(known) }
    if (feed === undefined) return { kind: 'unknownFeed' }
    const { feedNo } = feed
    const latest = findLatest.get(feedNo, subject)
    if (latest === undefined) return { kind: 'unknownTarget' }
    const [outcome] = appending.append([closingOfRestriction(request)], floor)
    if (outcome?.kind !== 'stored') return outcome ? refusalOfRestriction(outcome) : { kind: 'unknownFeed' }
    // Events that are still being shown again stay hidden.
    run(stopLifting(key, subjectId))
    const shown = shownAt(feedNo, latest)
    if (shown !== undefined) hide(feedNo, key.feed, shown)
    raise(feedNo, shown === undefined ? [] : [shown])
    const sequenceNumber = outcome.events.at(-1)?.stored?.sequenceNumber ?? 0
    const restriction = begunRestriction(request, sequenceNumber, nowMs())
    const lastPosition = (feedOf(key)?.lastPosition ?? 1) - 1
    run(putRestriction(restriction, { nextPosition: 1, lastPosition }))
    note(restrictionBegun(request), request.actor)
    return { kind: 'restricted', restriction }
  })
}

function lifter(db: Connection, { appending, note }: ErasureWriteParts, nowMs: () => number) {
  const run = statementRunner(db)
  const feedOf = feedReader(db)
  const latestKept = latestKeptReader(db)
  const findState = db.prepare<[number, Uint8Array], Pick<SubjectRow, 'kept_code' | 'payload_hash'>>(
    'SELECT kept_code, payload_hash FROM subject WHERE feed_no = ? AND subject = ?',
  )
  return db.transaction((request: LiftRequest, floor: Ticks): LiftOutcome => {
    const [row] = run(restrictionWithId(request.restrictionId))
    if (row?.tenant !== request.tenantId) return { kind: 'unknownRestriction' }
    const restriction = restrictionOf(row)
    if (!isInForce(restriction)) return { kind: 'lifting', restriction }
    const { key, subjectId } = restriction
    const feed = feedOf(key)
    if (feed === undefined) return { kind: 'unknownRestriction' }
    const subject = bytesOfUuid(subjectId)
    const { kept_code: keptCode = null, payload_hash: payloadHash = null } =
      findState.get(feed.feedNo, subject) ?? {}
    const json = latestKept(feed.feedNo, subject)?.json.toString('utf8')
    const [outcome] = appending.append(
      [reopening(key, subjectId, request, { keptCode, payloadHash }, json)],
      floor,
    )
    if (outcome?.kind !== 'stored')
      return outcome ? refusalOfRestriction(outcome) : { kind: 'unknownRestriction' }
    const lifting: Restriction = {
      ...restriction,
      state: 'lifting',
      endedMs: nowMs(),
      endedBy: request.actor,
    }
    const lastPosition = (feedOf(key)?.lastPosition ?? 1) - 1
    run(putRestriction(lifting, { nextPosition: 1, lastPosition }))
    note(restrictionLifted(restriction), request.actor)
    return { kind: 'lifting', restriction: lifting }
  })
}
