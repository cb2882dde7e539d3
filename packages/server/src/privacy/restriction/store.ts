/** Restrictions in a database. The log hides events, and shows them again (`Restricting`). */
import { restrictionReasons } from '@property-events/protocol/plain'
import { defineWrite, feedNumbers, feedOfNumber, statement, uuidOf } from '../../sql/database.ts'
import type { Query, StoreAccess, StoredLogId } from '../../sql/database.ts'
import { tenantRows } from '../../sql/tenant-rows.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import { nodesOf, noteNode, knowingNodes, onceForgotten } from '../erasure/forgotten.ts'
import type { Restriction, RestrictionProgress, RestrictionRecords, RestrictionState } from './restriction.ts'

/** As the index of subjects has it: those that have not ended. */
const ofSubject = `tenant = $1 AND feed = $2 AND subject = $3 AND state IN ('hiding', 'hidden', 'restricted', 'lifting')`

const { withId, ofFeed, readsOf } = tenantRows('restriction', restrictionOf)
/** One with this id, of any tenant. For `restrictionOf`. */
export const restrictionWithId = withId
/** The restrictions of a feed, for another store. */
export const restrictionsOfFeed = ofFeed
/** The same, and nobody else changes it before the commit. */
export const lockedRestriction = statement<RestrictionRow>(
  'restriction-lock-one',
  'SELECT * FROM restriction WHERE restriction = $1 FOR NO KEY UPDATE',
)
const selectOpen = statement<RestrictionRow & { readonly nodes: string | null }>(
  'restriction-open',
  `SELECT restriction.*, ${knowingNodes('restriction')} FROM restriction
    WHERE state IN ('hiding', 'hidden', 'lifting') ORDER BY restriction`,
)
const inForce = statement<RestrictionRow>(
  'restriction-in-force',
  `SELECT * FROM restriction WHERE ${ofSubject} AND state <> 'lifting'`,
)
const lockSubject = statement(
  'restriction-lock-subject',
  `SELECT restriction FROM restriction WHERE ${ofSubject} ORDER BY restriction FOR NO KEY UPDATE`,
)
const stop = statement(
  'restriction-stop-lifting',
  `UPDATE restriction SET state = 'lifted' WHERE ${ofSubject} AND state = 'lifting'`,
)
const endAsErased = statement(
  'restriction-end-erased',
  `UPDATE restriction SET state = 'erased', ended_ms = coalesce(ended_ms, $4), ended_by = coalesce(ended_by, $5)
    WHERE ${ofSubject}`,
)
const put = statement(
  'restriction-put',
  `INSERT INTO restriction (restriction, tenant, feed, subject, reason, case_ref, actor, state, next_position,
      last_position, closing_event, closing_sequence, begun_ms, restricted_ms, ended_ms, ended_by)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
    ON CONFLICT (restriction) DO UPDATE SET state = excluded.state, next_position = excluded.next_position,
      last_position = excluded.last_position, restricted_ms = excluded.restricted_ms, ended_ms = excluded.ended_ms,
      ended_by = excluded.ended_by`,
)
const note = statement('restriction-node', noteNode('restriction', `state <> 'hiding'`))
const setRestricted = statement(
  'restriction-restricted',
  onceForgotten(
    'restriction',
    `UPDATE restriction SET state = 'restricted', restricted_ms = $2 WHERE restriction = $1 AND state = 'hidden'`,
  ),
)

const acknowledge = defineWrite(
  'restriction-acknowledge',
  async (tx, restrictionId: string, nodeId: string | undefined): Promise<'restricted' | 'waiting'> => {
    if (nodeId !== undefined) await tx.rows(note(restrictionId, nodeId))
    await tx.rows(setRestricted(restrictionId, await tx.nowMs()))
    const [row] = await tx.rows(restrictionWithId(restrictionId))
    return row === undefined || row.state === 'hiding' || row.state === 'hidden' ? 'waiting' : 'restricted'
  },
)

export function restrictionStore({ read, write }: StoreAccess): RestrictionRecords {
  return {
    open: async () =>
      (await read.rows(selectOpen())).map((row) => ({ ...restrictionOf(row), acknowledgedBy: nodesOf(row) })),
    acknowledge: (restrictionId, nodeId) => write(acknowledge, restrictionId, nodeId),
    ...readsOf(read),
  }
}

/** The one that prevents a contact from being shown. */
export function restrictionInForce(key: FeedKey, subjectId: string): Query<RestrictionRow> {
  return inForce(...placeOf(key, subjectId))
}

/**
 * Waits for a step that is under way, and lets none begin before the commit. Taken before the counter: a step holds the row while it
 * waits for the counter.
 */
export function lockRestrictions(key: FeedKey, subjectId: string): Query {
  return lockSubject(...placeOf(key, subjectId))
}

/** Events that are still being shown again stay as they are. */
export function stopLifting(key: FeedKey, subjectId: string): Query {
  return stop(...placeOf(key, subjectId))
}

/** An erasure of the contact has begun, so its restriction is over. */
export function endRestrictions(key: FeedKey, subjectId: string, actor: string, endedMs: number): Query {
  return endAsErased(...placeOf(key, subjectId), endedMs, actor)
}

/** Inserts or updates a restriction. */
export function putRestriction(
  restriction: Restriction,
  { nextPosition, lastPosition }: RestrictionProgress,
): Query {
  const { restrictionId, key, subjectId, reason, caseRef = null, actor, state, closing } = restriction
  const { begunMs, restrictedMs = null, endedMs = null, endedBy = null } = restriction
  const what = [restrictionId, ...placeOf(key, subjectId), reason, caseRef, actor, state] as const
  const event = [{ uuid: closing.eventId }, closing.sequenceNumber] as const
  return put(...what, nextPosition, lastPosition, ...event, begunMs, restrictedMs, endedMs, endedBy)
}

function placeOf({ tenantId, feed }: FeedKey, subjectId: string) {
  return [tenantId, feedNumbers[feed], { uuid: subjectId }] as const
}

export interface RestrictionRow {
  readonly restriction: string
  readonly tenant: string
  readonly feed: number
  readonly subject: StoredLogId
  readonly reason: string
  readonly case_ref: string | null
  readonly actor: string
  readonly state: RestrictionState
  readonly next_position: number
  readonly last_position: number
  readonly closing_event: StoredLogId
  readonly closing_sequence: number
  readonly begun_ms: number
  readonly restricted_ms: number | null
  readonly ended_ms: number | null
  readonly ended_by: string | null
}

export function restrictionOf(row: RestrictionRow): Restriction {
  const reason = restrictionReasons.find((code) => code === row.reason)
  if (reason === undefined) throw new Error(`the restriction ${row.restriction} cannot be read`)
  return {
    restrictionId: row.restriction,
    key: { tenantId: row.tenant, feed: feedOfNumber(row.feed, 'restriction') },
    subjectId: uuidOf(row.subject),
    reason,
    caseRef: row.case_ref ?? undefined,
    actor: row.actor,
    state: row.state,
    closing: { eventId: uuidOf(row.closing_event), sequenceNumber: row.closing_sequence },
    begunMs: row.begun_ms,
    restrictedMs: row.restricted_ms ?? undefined,
    endedMs: row.ended_ms ?? undefined,
    endedBy: row.ended_by ?? undefined,
  }
}

/** The progress of its steps, as a record for another store has it. */
export function restrictionProgress(row: RestrictionRow): RestrictionProgress {
  return { nextPosition: row.next_position, lastPosition: row.last_position }
}
