/**
 * From a batch and the locked feed to the rows to write and the answer to return. Pure: SQLite decides
 * so under its lock, and PostgreSQL is checked against it.
 */
import { formatTicks } from '@property-events/protocol/plain'
import type { Category, EventTypeCatalogue, FeedEvent, Ticks } from '@property-events/protocol'
import { planAppend } from './plan-append.ts'
import type { AppendLookups, AppendPlan, PlannedEvent } from './append-plan.ts'
import type { AppendBatch, AppendOutcome, AppendedEvent } from './append-batch.ts'

/** A feed's counter row, read under its lock. */
export interface FeedCounter {
  readonly lastPosition: number
  /** The epoch's offset: sequence number minus position (D13). */
  readonly offset: number
  readonly lastCreated: Ticks | undefined
}

/** A row of the event table, except its JSON, which an engine makes when it writes the row. */
export interface EventRow {
  readonly position: number
  readonly sequenceNumber: number
  readonly created: Ticks
  readonly createdDate: string
  readonly event: PlannedEvent
}

/** An id that stays taken without an event of its own; it resolves to the event at `position`. */
export interface ReservedId {
  readonly id: string
  readonly contentHash: Uint8Array
  readonly position: number
}

export interface AppendDecision {
  readonly outcome: AppendOutcome
  readonly rows: readonly EventRow[]
  readonly reserved: readonly ReservedId[]
}

interface DecideContext {
  readonly catalogue: EventTypeCatalogue
  /** The clock, read while the feed is locked. */
  readonly now: Ticks
  /** No stamp is earlier than this: a window was answered then (P3). Wished times are exempt, because they load the past (D25). */
  readonly floor?: Ticks | undefined
  /** How far a feed's head may be ahead of the clock (D25); `undefined` if an operator has overridden the check. */
  readonly clockToleranceTicks: Ticks | undefined
}

/** Five minutes (D25). */
export const defaultClockToleranceTicks: Ticks = 5n * 60n * 10_000_000n

export function decideAppend(
  batch: AppendBatch,
  counter: FeedCounter,
  lookups: AppendLookups,
  context: DecideContext,
): AppendDecision {
  const plan = planAppend(batch, lookups, context.catalogue)
  if (plan.kind !== 'plan') return refusal(plan)

  const { now, floor } = context
  const rows = numberRows(plan, counter, floor !== undefined && floor > now ? floor : now)
  const { lastCreated } = counter
  const loads = rows.some((row) => row.event.requestedCreated !== undefined)
  if (rows.length > 0 && !loads && lastCreated !== undefined && context.clockToleranceTicks !== undefined) {
    if (lastCreated - now > context.clockToleranceTicks) {
      return refusal({ kind: 'clockBehind', headCreated: lastCreated, now })
    }
  }

  const rowOf = new Map(rows.map((row) => [row.event, row]))
  const events: AppendedEvent[] = []
  const reserved: ReservedId[] = []
  for (const step of plan.steps) {
    if (step.kind === 'append') {
      const stored = storedOf(rowOf.get(step.event))
      events.push({ ...lineOf(step.event, step.index, step.derived ? 'derived' : 'appended'), ...stored })
    } else if (step.kind === 'repeated') {
      events.push(existingLine(lookups.event(step.position), step.index, 'repeated'))
    } else {
      const pending = typeof step.of === 'number' ? undefined : rowOf.get(step.of)
      const position = typeof step.of === 'number' ? step.of : (pending?.position ?? 0)
      if (step.reserve !== undefined) reserved.push({ ...step.reserve, position })
      const line =
        typeof step.of === 'number'
          ? existingLine(lookups.event(step.of), step.index, 'unchanged')
          : { ...lineOf(step.of, step.index, 'unchanged'), ...storedOf(pending) }
      events.push(line)
    }
  }
  return { outcome: { kind: 'stored', events }, rows, reserved }
}

/** The same answer without numbers and times for events that would be stored: a number once shown must exist (P2). */
export function previewOf(decision: AppendDecision): AppendOutcome {
  if (decision.outcome.kind !== 'stored') return decision.outcome
  const newNumbers = new Set(decision.rows.map((row) => row.sequenceNumber))
  const events = decision.outcome.events.map(({ stored, ...line }) =>
    stored === undefined || newNumbers.has(stored.sequenceNumber) ? line : { ...line, stored },
  )
  return { kind: 'stored', events }
}

function refusal(outcome: Exclude<AppendOutcome, { kind: 'stored' }>): AppendDecision {
  return { outcome, rows: [], reserved: [] }
}

/** Numbers in steps of one and times in steps of at least one tick, both after the feed's last (P1, P3, D25). */
function numberRows(
  plan: AppendPlan & { kind: 'plan' },
  counter: FeedCounter,
  earliest: Ticks,
): readonly EventRow[] {
  const rows: EventRow[] = []
  let position = counter.lastPosition
  let last = counter.lastCreated
  for (const step of plan.steps) {
    if (step.kind !== 'append') continue
    position += 1
    const requested = step.event.requestedCreated ?? earliest
    const created: Ticks = last === undefined || requested > last ? requested : last + 1n
    last = created
    const sequenceNumber = counter.offset + position
    rows.push({ position, sequenceNumber, created, createdDate: formatTicks(created), event: step.event })
  }
  return rows
}

/** How many of the rows each view gets; none counts what is in no category. */
export function viewCounts(rows: readonly Pick<EventRow, 'event'>[]): ReadonlyMap<Category, number> {
  const counts = new Map<Category, number>()
  for (const { event } of rows) {
    const { category } = event.state
    if (category !== null) counts.set(category, (counts.get(category) ?? 0) + 1)
  }
  return counts
}

function lineOf(event: PlannedEvent, index: number, status: AppendedEvent['status']): AppendedEvent {
  const { id, eventType, transactionId, remarks } = event
  const line = { index, status, id, eventType, eventTypeShortCode: event.state.code, transactionId }
  return status === 'appended' && remarks.length > 0 ? { ...line, remarks } : line
}

function storedOf(row: EventRow | undefined): Pick<AppendedEvent, 'stored'> {
  if (row === undefined) return {}
  return { stored: { sequenceNumber: row.sequenceNumber, createdDate: row.createdDate } }
}

function existingLine(event: FeedEvent, index: number, status: AppendedEvent['status']): AppendedEvent {
  const { id, eventType, eventTypeShortCode, transactionId, sequenceNumber, createdDate } = event
  return {
    index,
    status,
    id,
    eventType,
    eventTypeShortCode,
    transactionId,
    stored: { sequenceNumber, createdDate },
  }
}
