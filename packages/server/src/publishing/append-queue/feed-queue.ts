/** The batches of one feed that wait to be appended, and whose turn it is. */
import type { AppendBatch, AppendOutcome } from '../../events/append/append-batch.ts'

export interface Waiting {
  readonly batch: AppendBatch
  readonly characters: number
  /** Index of a `CommitSize`. */
  readonly size: number
  /** Milliseconds of the queue's clock. */
  readonly sinceMs: number
  readonly resolve: (outcome: AppendOutcome) => void
  readonly reject: (error: unknown) => void
}

/** The batches of one feed. */
export interface FeedLine {
  readonly tenantId: string
  readonly name: string
  readonly waiting: Waiting[]
  isClaimed: boolean
  /** Another session has held the feed's lock for so long that waiting batches were refused. */
  isLocked: boolean
}

/** Batches of one feed, taken together in their order. */
export interface Claim {
  readonly line: FeedLine
  readonly batches: readonly Waiting[]
}

/**
 * For each size, the unclaimed lines whose first batch has that size, by tenant; the tenant whose turn it is comes
 * first.
 */
export type Turns = readonly Map<string, Set<FeedLine>>[]

export function newTurns(sizes: number): Turns {
  return Array.from({ length: sizes }, () => new Map<string, Set<FeedLine>>())
}

export function joinTurns(turns: Turns, line: FeedLine): void {
  const turn = turns[line.waiting[0]?.size ?? 0]
  const own = turn?.get(line.tenantId)
  if (own === undefined) turn?.set(line.tenantId, new Set([line]))
  else own.add(line)
}

/** The tenant goes to the end of the turns, with its batches in other feeds. */
export function leaveTurns(turns: Turns, line: FeedLine, size: number): void {
  const turn = turns[size]
  const own = turn?.get(line.tenantId)
  if (turn === undefined || own === undefined) return
  own.delete(line)
  turn.delete(line.tenantId)
  if (own.size > 0) turn.set(line.tenantId, own)
}
