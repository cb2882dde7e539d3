/** The position of a copy in its feed as a record, and the steps that change it. No I/O: `session.ts` calls the copy and the store. */
import { CheckpointError } from '../errors.ts'
import { createdMsOf } from '../event.ts'
import type { RemovalWindow } from './breaker.ts'
import type { AppliedNumber, Checkpoint, KnownNumbers, LatestEvent } from './checkpoint.ts'
import { beginningOf, isTied } from './reading.ts'
import type { Reading } from './reading.ts'

/** The part of a checkpoint that says how far reading is. */
export type CopyPosition = Pick<Checkpoint, 'reading' | 'sweep' | 'opens' | 'tenantId' | 'removals'>

/**
 * Whether the first batch may have failed in its middle. If the feed has lost events of it since, no change will report that.
 */
export function mayHoldRemains({ opens, sweep, reading }: CopyPosition): boolean {
  return opens && !sweep && reading.kind !== 'start'
}

/** Where a sync continues after it has loaded a checkpoint. `holdsRemains`: `mayHoldRemains` is true and the copy is not empty. */
export function resume(kept: CopyPosition, holdsRemains: boolean): CopyPosition {
  const { reading, opens, tenantId, removals } = kept
  const sweep = kept.sweep || holdsRemains
  // The subjects that a sweep has seen are not kept, so the read of the whole feed begins again.
  const beginsAgain = sweep && (reading.kind === 'snapshot' || reading.kind === 'numbers')
  return { reading: beginsAgain ? beginningOf(reading) : reading, sweep, opens, tenantId, removals }
}

/** A read of the whole feed begins. `holdsSomething`: the copy is not empty, so subjects may have to be removed at the end. */
export function openRead(position: CopyPosition, reading: Reading, holdsSomething: boolean): CopyPosition {
  return { ...position, reading, sweep: holdsSomething, opens: true }
}

/** The progress of reading once the events of an answer are in the copy. */
export function advance(position: CopyPosition, reading: Reading): CopyPosition {
  return { ...position, reading }
}

/** A batch is about to be applied; `removals` is the breaker's window with its removals. */
export function beginBatch(position: CopyPosition, removals: RemovalWindow | null): CopyPosition {
  return { ...position, opens: false, removals }
}

/** Subjects that the copy held before and the feed does not have were found. */
export function endSweep(position: CopyPosition): CopyPosition {
  return { ...position, sweep: false }
}

/** Reading begins again. */
export function beginAnew(position: CopyPosition): CopyPosition {
  return { ...position, reading: { kind: 'start' }, opens: true }
}

/** The tenant of an event is known; '' if the event does not name one. Throws `CheckpointError` for another tenant. */
export function bindTenant(position: CopyPosition, tenantId: string): CopyPosition {
  if (tenantId === '' || position.tenantId?.toLowerCase() === tenantId.toLowerCase()) return position
  if (position.tenantId === null) return { ...position, tenantId }
  throw new CheckpointError(
    `The checkpoint belongs to tenant ${position.tenantId}, the key reads tenant ${tenantId}. Use one checkpoint and one copy for each.`,
  )
}

/** Sequence numbers of subjects, as far as they must be known. There can be many, so the maps change in position. */
export interface Numbers extends KnownNumbers {
  readonly applied: Map<string, AppliedNumber>
  readonly pending: Map<string, number>
}

export function numbersOf({ applied, pending, reading }: Checkpoint): Numbers {
  return {
    applied: new Map(Object.entries(applied)),
    // A reading that begins anew is of no feed yet: numbers of the one before would hide or reorder its events.
    pending: new Map(isTied(reading) ? Object.entries(pending) : []),
  }
}

/** Records the numbers in the copy. Pages need it: an event can come again, and an older one after it. */
export function recordLatest({ applied }: Numbers, latest: readonly LatestEvent[]): void {
  for (const { subjectId, event } of latest) {
    applied.set(subjectId, [event.sequenceNumber, Math.max(0, createdMsOf(event.createdDate))])
  }
}

/** Forgets subjects whose last event is older: none of their events will come again. */
export function forgetBefore({ applied }: Numbers, createdMs: number): void {
  for (const [subjectId, entry] of applied) if (entry[1] < createdMs) applied.delete(subjectId)
}

/** An event of the subject is being applied: a pending number up to it is done. */
export function settle({ pending }: Numbers, subjectId: string, sequenceNumber: number): void {
  if ((pending.get(subjectId) ?? Infinity) <= sequenceNumber) pending.delete(subjectId)
}

/** The checkpoint to keep once everything up to this position is in the copy. */
export function checkpointOf(
  kept: Checkpoint,
  position: CopyPosition,
  { applied, pending }: Numbers,
): Checkpoint {
  return {
    ...kept,
    ...position,
    applied: Object.fromEntries(applied),
    pending: Object.fromEntries(pending),
  }
}
