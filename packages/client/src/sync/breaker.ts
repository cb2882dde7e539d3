/** Stops a sync before it removes too much of a copy: a publisher's mistake should not empty a website. Pure. */
import { MassRemovalError } from '../errors.ts'

export interface BreakerOptions {
  /** The share of the copy that may go within a window, from 0 to 1. 0.25 by default. */
  readonly maxShare?: number
  /** So many removals are always let through, however small the copy. 20 by default. */
  readonly minRemovals?: number
  /** Removals count together for so long, across runs. A day by default. */
  readonly windowMs?: number
}

/** Removals of the current window; part of the checkpoint. */
export interface RemovalWindow {
  readonly sinceMs: number
  /** Subjects the copy held when the window began. */
  readonly held: number
  readonly removed: number
}

export interface RemovalRequest {
  readonly window: RemovalWindow | undefined
  readonly nowMs: number
  /** Subjects the copy holds now. */
  readonly held: number
  /** How many of `subjectIds` the copy holds. */
  readonly affected: number
  readonly subjectIds: readonly string[]
  readonly allow: boolean
}

/** The window with these removals in it. Throws `MassRemovalError` when they are too many and not allowed. */
export function countRemovals(request: RemovalRequest, options: BreakerOptions = {}): RemovalWindow {
  const { maxShare = 0.25, minRemovals = 20, windowMs = 86_400_000 } = options
  const { window, nowMs, held, affected, subjectIds, allow } = request
  const isCurrent = window !== undefined && nowMs >= window.sinceMs && nowMs - window.sinceMs < windowMs
  // What has been allowed once is over: the next window begins with what is left.
  const base = isCurrent && !allow ? window : { sinceMs: nowMs, held, removed: 0 }
  const removed = base.removed + affected
  if (affected > 0 && !allow && removed > Math.max(minRemovals, maxShare * base.held)) {
    throw new MassRemovalError(removed, base.held, subjectIds)
  }
  return allow ? { sinceMs: nowMs, held: Math.max(0, held - affected), removed: 0 } : { ...base, removed }
}
