/** When a commit may begin beside those that are under way, of which size it is, and how long it waits for locks. */
import type { CommitLimits } from './commit-limits.ts'
import type { BatchSize } from './waiting-batches.ts'

/** A commit under way. */
interface Commit {
  readonly size: BatchSize
  readonly sinceMs: number
}

/**
 * `wait`: a commit may begin at that time, or when another ends before it. `full`: none may begin until another ends.
 */
type NextCommit =
  | { readonly kind: 'begin'; readonly size: BatchSize }
  | { readonly kind: 'wait'; readonly untilMs: number }
  | { readonly kind: 'full' }

export type CommitPace = ReturnType<typeof commitPace>

const never = Number.POSITIVE_INFINITY

/** `nowMs`: milliseconds of the queue's clock. */
export function commitPace(
  sizes: readonly BatchSize[],
  { gatherMs: [leastMs, mostMs], lockWaitsMs }: CommitLimits,
  appendsAtOnce: number,
) {
  const underWay = new Set<Commit>()
  let begun = 0

  /**
   * When a commit of this size may begin; never, while too many are under way. Larger sizes have fewer at once, so that
   * one is left for each smaller size.
   */
  function mayBeginMs({ rank, usualMs }: BatchSize): number {
    const gatherMs = Math.min(mostMs, Math.max(leastMs, 2 * usualMs))
    let [asLarge, atMs] = [0, 0]
    for (const { size, sinceMs } of underWay) {
      if (size.rank >= rank) asLarge += 1
      if (size.rank === rank) atMs = Math.max(atMs, sinceMs + gatherMs)
    }
    const isFull = underWay.size >= appendsAtOnce || asLarge >= Math.max(1, appendsAtOnce - rank)
    return isFull ? never : atMs
  }

  return {
    underWay: underWay as ReadonlySet<Commit>,
    /**
     * Of the sizes that wait, the one whose last commit began the longest ago. It makes no lists, because every
     * publication asks: those took 6 µs of a single one.
     */
    next(nowMs: number): NextCommit {
      let next: BatchSize | undefined
      let untilMs = never
      for (const size of sizes) {
        const atMs = size.tenants.size > 0 ? mayBeginMs(size) : never
        if (atMs > nowMs) untilMs = Math.min(untilMs, atMs)
        else if (next === undefined || size.lastCommit < next.lastCommit) next = size
      }
      if (next !== undefined) return { kind: 'begin', size: next }
      return untilMs === never ? { kind: 'full' } : { kind: 'wait', untilMs }
    },
    begin(size: BatchSize, nowMs: number): Commit {
      const commit: Commit = { size, sinceMs: nowMs }
      begun += 1
      size.lastCommit = begun
      underWay.add(commit)
      return commit
    },
    end(commit: Commit, nowMs: number): void {
      underWay.delete(commit)
      const { size, sinceMs } = commit
      // A commit that took very long counts as twice the usual time.
      const tookMs = Math.min(nowMs - sinceMs, 2 * Math.max(size.usualMs, leastMs))
      size.usualMs += (tookMs - size.usualMs) / 8
    },
    /**
     * How long a commit of this size waits for locked feeds. In few steps, because each change has to be sent to the
     * connection.
     */
    lockWaitMs: ({ usualMs }: BatchSize): number =>
      lockWaitsMs.find((waitMs) => waitMs >= 2 * usualMs) ?? lockWaitsMs.at(-1) ?? 0,
  }
}
