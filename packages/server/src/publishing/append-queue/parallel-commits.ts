/**
 * When a commit may begin beside those that are under way, which size is next, and how long it waits for locks. The
 * clock is the queue's: milliseconds, never set back.
 */
import type { CommitLimits } from './commit-limits.ts'

/** A commit under way. */
export interface Lane {
  /** Index of a `CommitSize`. */
  readonly size: number
  readonly sinceMs: number
}

export interface CommitLanes {
  readonly limits: CommitLimits
  readonly appendsAtOnce: number
  readonly underWay: Set<Lane>
  /** For each size, the number of its last commit, counted over all sizes. */
  readonly lastOf: number[]
  /** For each size, how long a commit usually takes. */
  readonly usualMs: number[]
  begun: number
}

export function newLanes(limits: CommitLimits, appendsAtOnce: number): CommitLanes {
  return {
    limits,
    appendsAtOnce,
    underWay: new Set(),
    lastOf: limits.sizes.map(() => 0),
    usualMs: limits.sizes.map(() => 0),
    begun: 0,
  }
}

/**
 * `wait`: a commit may begin at that time, or when another ends before it. `full`: none may begin until another ends.
 */
export type NextCommit =
  | { readonly kind: 'begin'; readonly size: number }
  | { readonly kind: 'wait'; readonly untilMs: number }
  | { readonly kind: 'full' }

/**
 * Of the sizes that wait, the one whose last commit began the longest ago. It makes no lists, because every publication
 * asks: those took 6 µs of a single one.
 */
export function nextCommit(lanes: CommitLanes, waits: (size: number) => boolean, nowMs: number): NextCommit {
  const { limits, lastOf } = lanes
  let next: number | undefined
  let untilMs = never
  for (let size = 0; size < limits.sizes.length; size += 1) {
    const atMs = waits(size) ? mayBeginMs(lanes, size) : never
    if (atMs > nowMs) untilMs = Math.min(untilMs, atMs)
    else if (next === undefined || (lastOf[size] ?? 0) < (lastOf[next] ?? 0)) next = size
  }
  if (next !== undefined) return { kind: 'begin', size: next }
  return untilMs === never ? { kind: 'full' } : { kind: 'wait', untilMs }
}

const never = Number.POSITIVE_INFINITY

/**
 * When a commit of this size may begin; never, while too many are under way. Larger sizes have fewer lanes, so that one
 * is left for each smaller size.
 */
function mayBeginMs({ limits, appendsAtOnce, underWay, usualMs }: CommitLanes, size: number): number {
  const [leastMs, mostMs] = limits.gatherMs
  const gatherMs = Math.min(mostMs, Math.max(leastMs, 2 * (usualMs[size] ?? 0)))
  let [asLarge, atMs] = [0, 0]
  for (const lane of underWay) {
    if (lane.size >= size) asLarge += 1
    if (lane.size === size) atMs = Math.max(atMs, lane.sinceMs + gatherMs)
  }
  const isFull = underWay.size >= appendsAtOnce || asLarge >= Math.max(1, appendsAtOnce - size)
  return isFull ? never : atMs
}

export function beginCommit(lanes: CommitLanes, size: number, nowMs: number): Lane {
  const lane: Lane = { size, sinceMs: nowMs }
  lanes.begun += 1
  lanes.lastOf[size] = lanes.begun
  lanes.underWay.add(lane)
  return lane
}

export function endCommit({ limits, underWay, usualMs }: CommitLanes, lane: Lane, nowMs: number): void {
  underWay.delete(lane)
  const before = usualMs[lane.size] ?? 0
  // A commit that took very long counts as twice the usual time.
  const tookMs = Math.min(nowMs - lane.sinceMs, 2 * Math.max(before, limits.gatherMs[0]))
  usualMs[lane.size] = before + (tookMs - before) / 8
}

/**
 * How long a commit of this size waits for locked feeds. In few steps, because each change has to be sent to the
 * connection.
 */
export function lockWaitMs({ limits, usualMs }: CommitLanes, size: number): number {
  const twiceMs = 2 * (usualMs[size] ?? 0)
  return limits.lockWaitsMs.find((waitMs) => waitMs >= twiceMs) ?? limits.lockWaitsMs.at(-1) ?? 0
}
