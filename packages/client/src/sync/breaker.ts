/** Stops a sync before it removes too much of a copy: a publisher's mistake should not empty a website. Pure. */
export interface BreakerOptions {
  /** The share of the copy that may go within a window, from 0 to 1. 0.25 by default. */
  readonly maxShare?: number
  /** So many removals are always allowed, however small the copy. 20 by default. */
  readonly minRemovals?: number
  /** Removals are counted together for this time (up to a 24th longer), across runs. A day by default. */
  readonly windowMs?: number
}

/** Removals of the last window, in slices that leave it one by one; part of the checkpoint. */
export interface RemovalWindow {
  /** When the oldest slice began. */
  readonly sinceMs: number
  /** Subjects that the copy would have held without these removals. */
  readonly held: number
  readonly removed: number
  /** By rising time. Absent from earlier versions: then everything was removed at `sinceMs`. */
  readonly slices?: readonly RemovalSlice[]
}

export type RemovalSlice = readonly [sinceMs: number, removed: number]

/** A window of a day has slices of an hour: a removal counts for a day at least, and for an hour more at most. */
const slicesPerWindow = 24

export interface RemovalRequest {
  readonly window: RemovalWindow | undefined
  readonly nowMs: number
  /** Subjects the copy holds now. */
  readonly held: number
  /** How many of them are to be removed. */
  readonly affected: number
  readonly allow: boolean
}

export type RemovalCount =
  /** They are allowed; the window with them in it. */
  | { readonly kind: 'counted'; readonly window: RemovalWindow }
  /** Together with the earlier removals of the window, they are more than the limit. */
  | {
      readonly kind: 'tooMany'
      readonly removedBefore: number
      readonly limit: number
      readonly windowMs: number
    }

/** Decides whether these removals are allowed, and gives the window for the next ones. */
export function countRemovals(request: RemovalRequest, options: BreakerOptions = {}): RemovalCount {
  const { maxShare = 0.25, minRemovals = 20, windowMs = 86_400_000 } = options
  const { window, nowMs, held, affected, allow } = request
  if (allow) {
    // After a run that was allowed to remove more, the next window begins with the rest of the copy.
    const left = { sinceMs: nowMs, held: Math.max(0, held - affected), removed: 0, slices: [] }
    return { kind: 'counted', window: left }
  }
  const sliceMs = windowMs / slicesPerWindow
  const slices = slicesOf(window).filter(
    ([sinceMs]) => nowMs >= sinceMs && nowMs - sinceMs < windowMs + sliceMs,
  )
  const removedBefore = slices.reduce((sum, [, count]) => sum + count, 0)
  // The copy may have grown since the first of the removals.
  const base = held + removedBefore
  const removed = removedBefore + affected
  const limit = Math.floor(Math.max(minRemovals, maxShare * base))
  if (affected > 0 && removed > limit) return { kind: 'tooMany', removedBefore, limit, windowMs }
  const counted = withRemovals(slices, nowMs, affected, sliceMs)
  return {
    kind: 'counted',
    window: { sinceMs: counted[0]?.[0] ?? nowMs, held: base, removed, slices: counted },
  }
}

function slicesOf(window: RemovalWindow | undefined): readonly RemovalSlice[] {
  return window === undefined ? [] : (window.slices ?? [[window.sinceMs, window.removed]])
}

function withRemovals(
  slices: readonly RemovalSlice[],
  nowMs: number,
  removed: number,
  sliceMs: number,
): readonly RemovalSlice[] {
  const last = slices.at(-1)
  if (last === undefined || nowMs - last[0] >= sliceMs) return [...slices, [nowMs, removed]]
  return [...slices.slice(0, -1), [last[0], last[1] + removed]]
}
