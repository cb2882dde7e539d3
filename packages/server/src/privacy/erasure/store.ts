/** The records of erasures in a database. The log reduces events (`Erasing`). */
import { receiptReasons } from '@property-events/protocol/plain'
import { storeCompacted } from '../../audit/changes.ts'
import type { Actor } from '../../audit/actor.ts'
import { among, defineWrite, feedNumbers, feedOfNumber, statement, uuidOf } from '../../sql/database.ts'
import type { Query, StoreAccess, StoredLogId, Dialect, Sql } from '../../sql/database.ts'
import { tenantRows } from '../../sql/tenant-rows.ts'
import type { Erasure, ErasureRecords, ErasureState, ErasureTarget, Reduction } from './erasure.ts'
import { nodesOf, noteNode, knowingNodes, onceForgotten } from './forgotten.ts'
import { copyDisclosures, readEarlierDisclosures } from './earlier-disclosures.ts'

const { withId, readsOf } = tenantRows('erasure', erasureOf)
/** One with this id, of any tenant. For `erasureOf`. */
export const erasureWithId = withId
const selectOpen = statement<ErasureRow & { readonly nodes: string | null }>(
  'erasure-open',
  `SELECT erasure.*, ${knowingNodes('erasure')} FROM erasure
    WHERE state IN ('reducing', 'reduced') ORDER BY erasure`,
)
const selectWaiting = statement<Pick<ErasureRow, 'erasure' | 'unreachable_ms'>>(
  'erasure-waiting',
  `SELECT erasure, unreachable_ms FROM erasure WHERE state = 'unreachable' ORDER BY erasure`,
)
const insert = statement(
  'erasure-insert',
  `INSERT INTO erasure (erasure, tenant, feed, subject, event_id, reason, case_ref, received_on, actor, state,
      next_position, last_position, events, reduced, revision, closing_event, closing_sequence, begun_ms, reduced_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`,
)
const note = statement('erasure-node', noteNode('erasure', `state <> 'reducing'`))
const setUnreachable = statement<ErasureRow>(
  'erasure-unreachable',
  onceForgotten(
    'erasure',
    `UPDATE erasure SET state = 'unreachable', unreachable_ms = $2 WHERE erasure = $1 AND state = 'reduced'`,
    'RETURNING *',
  ),
)
const setOverwritten = statement(
  'erasure-overwritten',
  (dialect) => `UPDATE erasure SET state = 'overwritten', overwritten_ms = $2
    WHERE erasure ${among('$1', 'uuid')(dialect)} AND state = 'unreachable' RETURNING erasure`,
)

const acknowledge = defineWrite(
  'erasure-acknowledge',
  async (tx, erasureId: string, nodeId: string | undefined): Promise<'unreachable' | 'waiting'> => {
    const nowMs = await tx.nowMs()
    if (nodeId !== undefined) await tx.rows(note(erasureId, nodeId))
    const [ended] = await tx.rows(setUnreachable(erasureId, nowMs))
    if (ended !== undefined) await copyDisclosures(tx, ended, nowMs)
    const [row] = await tx.rows(erasureWithId(erasureId))
    return row?.state === 'unreachable' || row?.state === 'overwritten' ? 'unreachable' : 'waiting'
  },
)
const markOverwritten = defineWrite(
  'erasure-mark-overwritten',
  async (tx, storeId: string, erasureIds: readonly string[], actor: Actor): Promise<number> => {
    const { length } = await tx.rows(setOverwritten(JSON.stringify(erasureIds), await tx.nowMs()))
    await tx.note(storeCompacted(storeId, length), actor)
    return length
  },
)

export function erasureStore({ read, write }: StoreAccess, storeId: string): ErasureRecords {
  return {
    open: async () =>
      (await read.rows(selectOpen())).map((row) => ({ ...erasureOf(row), acknowledgedBy: nodesOf(row) })),
    acknowledge: (erasureId, nodeId) => write(acknowledge, erasureId, nodeId),
    async sentBefore(erasureId) {
      const [row] = await read.rows(erasureWithId(erasureId))
      return row && readEarlierDisclosures(read, erasureOf(row))
    },
    waiting: async () =>
      (await read.rows(selectWaiting())).map((row) => {
        return { erasureId: row.erasure, unreachableMs: row.unreachable_ms ?? 0 }
      }),
    markOverwritten: (erasureIds, actor) => write(markOverwritten, storeId, erasureIds, actor),
    ...readsOf(read),
    reductions: (...asked) => readReductions(read, ...asked),
  }
}

/** Inserts an erasure that has just begun, with the positions of its first and last event. */
export function insertErasure(erasure: Erasure, firstPosition: number, lastPosition: number): Query {
  const { erasureId, key, target, reason, caseRef = null, receivedOn = null, actor, state } = erasure
  const { events, reduced, revision, closing, begunMs, reducedMs = null } = erasure
  const subject = target.kind === 'subject' ? { uuid: target.subjectId } : null
  const event = target.kind === 'event' ? { uuid: target.eventId } : null
  const what = [erasureId, key.tenantId, feedNumbers[key.feed], subject, event] as const
  const why = [reason, caseRef, receivedOn, actor] as const
  const how = [state, firstPosition, lastPosition, events, reduced, revision] as const
  const closed = closing === undefined ? null : { uuid: closing.eventId }
  return insert(...what, ...why, ...how, closed, closing?.sequenceNumber ?? null, begunMs, reducedMs)
}

export interface ErasureRow {
  readonly erasure: string
  readonly tenant: string
  readonly feed: number
  readonly subject: StoredLogId | null
  readonly event_id: StoredLogId | null
  readonly reason: string
  readonly case_ref: string | null
  readonly received_on: string | null
  readonly actor: string
  readonly state: ErasureState
  readonly next_position: number
  readonly last_position: number
  readonly events: number
  readonly reduced: number
  readonly revision: number
  readonly closing_event: StoredLogId | null
  readonly closing_sequence: number | null
  readonly begun_ms: number
  readonly reduced_ms: number | null
  readonly unreachable_ms: number | null
  readonly overwritten_ms: number | null
}

export function erasureOf(row: ErasureRow): Erasure {
  const { erasure: erasureId, actor, state, events, reduced, revision, closing_event: closing } = row
  const reason = receiptReasons.find((code) => code === row.reason)
  if (reason === undefined) throw new Error(`the erasure ${erasureId} cannot be read`)
  return {
    erasureId,
    key: { tenantId: row.tenant, feed: feedOfNumber(row.feed, 'erasure') },
    target: targetOf(row),
    reason,
    caseRef: row.case_ref ?? undefined,
    receivedOn: row.received_on ?? undefined,
    actor,
    state,
    closing:
      closing === null ? undefined : { eventId: uuidOf(closing), sequenceNumber: row.closing_sequence ?? 0 },
    events,
    reduced,
    revision,
    begunMs: row.begun_ms,
    reducedMs: row.reduced_ms ?? undefined,
    unreachableMs: row.unreachable_ms ?? undefined,
    overwrittenMs: row.overwritten_ms ?? undefined,
  }
}

function targetOf({ erasure, subject, event_id: eventId }: ErasureRow): ErasureTarget {
  if (subject !== null) return { kind: 'subject', subjectId: uuidOf(subject) }
  if (eventId !== null) return { kind: 'event', eventId: uuidOf(eventId) }
  throw new Error(`the erasure ${erasure} is of nothing`)
}

/** For copies that keep the history of a feed. */
interface ReducedRow {
  readonly revision: number
  readonly sequence: number
}

/** SQLite names a feed in the tables of the log by one number. `$4`: a JSON list; NULL: any branch, or none. */
function reducedEvents(dialect: Dialect, revisions: string): string {
  const [ofFeed, sameEvent] =
    dialect === 'sqlite'
      ? [
          'r.feed_no = (SELECT feed_no FROM feed_key WHERE tenant = $1 AND feed = $2)',
          'e.place = (r.feed_no << 40) | r.position',
        ]
      : ['r.tenant = $1 AND r.feed = $2', 'e.tenant = $1 AND e.feed = $2 AND e.position = r.position']
  return `SELECT revision, sequence FROM reduced_event r WHERE ${ofFeed} AND ${revisions}
    AND (CAST($4 AS text) IS NULL OR EXISTS (
      SELECT 1 FROM event e WHERE ${sameEvent} AND e.branch ${among('$4', 'text')(dialect)}
    )) ORDER BY revision, position`
}

const selectReduced = statement<ReducedRow>(
  'erasure-reductions',
  (dialect) => `${reducedEvents(dialect, 'revision > $3')} LIMIT $5`,
)
const selectStep = statement<ReducedRow>('erasure-reduction', (dialect) =>
  reducedEvents(dialect, 'revision = $3'),
)

/** As the port has it. */
async function readReductions(
  sql: Sql,
  ...[{ tenantId, feed }, afterRevision, limit, branches]: Parameters<ErasureRecords['reductions']>
): Promise<readonly Reduction[]> {
  const within = branches === undefined ? null : JSON.stringify(branches)
  const place = [tenantId, feedNumbers[feed]] as const
  // One more than requested shows whether the last step is complete.
  const rows = await sql.rows(selectReduced(...place, afterRevision, within, limit + 1))
  const steps = stepsOf(rows)
  const whole = rows.length > limit ? steps.slice(0, -1) : steps
  const [first] = steps
  if (whole.length > 0 || first === undefined) return whole
  return stepsOf(await sql.rows(selectStep(...place, first.revision, within)))
}

function stepsOf(rows: readonly ReducedRow[]): readonly Reduction[] {
  return [...Map.groupBy(rows, ({ revision }) => revision)].map(([revision, step]) => ({
    revision,
    sequenceNumbers: step.map(({ sequence }) => sequence),
  }))
}
