/**
 * Stops a sync before it removes too much of a copy: a publisher's mistake should not empty a website. Counts what the copy is short of,
 * compared with the most it held within the window, so that ordinary turnover (one goes, another comes) never stops it. Pure.
 */
export interface BreakerOptions {
  /** The share by which the copy may shrink within a window, from 0 to 1. 0.25 by default. */
  readonly maxShare?: number
  /** It may always shrink by so many, however small it is. 20 by default. */
  readonly minRemovals?: number
  /** The copy is compared with the most it held in this time (up to a 24th longer), across runs. A day by default. */
  readonly windowMs?: number
}

/** The most that the copy held in each slice of the last window, by rising time; part of the checkpoint. A copy only shrinks by removals, so slices without any are left out. */
export type RemovalWindow = readonly HeldSlice[]

type HeldSlice = readonly [sinceMs: number, mostHeld: number]

/** A window of a day has slices of an hour: what was held counts for a day at least, and for an hour more at most. */
const slicesPerWindow = 24

interface RemovalRequest {
  readonly window: RemovalWindow | undefined
  readonly nowMs: number
  /** Subjects the copy holds now. */
  readonly held: number
  /** How many of them are to be removed. */
  readonly affected: number
  readonly allow: boolean
}

type RemovalCount =
  /** They are allowed; the window with them in it. */
  | { readonly kind: 'counted'; readonly window: RemovalWindow }
  /** Together with what the copy lost before within the window, they are more than the limit. */
  | {
      readonly kind: 'tooMany'
      readonly removedBefore: number
      readonly limit: number
      readonly windowMs: number
    }

/** Decides whether these removals are allowed, and gives the window for the next ones. */
export function countRemovals(request: RemovalRequest, options: BreakerOptions = {}): RemovalCount {
  const { maxShare = 0.25, minRemovals = 20, windowMs = 86_400_000 } = options
  const { window = [], nowMs, held, affected, allow } = request
  // After a run that was allowed to remove more, the next window begins with the rest of the copy.
  if (allow) return { kind: 'counted', window: [] }
  const sliceMs = windowMs / slicesPerWindow
  const slices = window.filter(([sinceMs]) => nowMs >= sinceMs && nowMs - sinceMs < windowMs + sliceMs)
  const most = slices.reduce((highest, [, mostHeld]) => Math.max(highest, mostHeld), held)
  const removedBefore = most - held
  const limit = Math.floor(Math.max(minRemovals, maxShare * most))
  if (affected > 0 && removedBefore + affected > limit) {
    return { kind: 'tooMany', removedBefore, limit, windowMs }
  }
  return { kind: 'counted', window: withHeld(slices, nowMs, held, sliceMs) }
}

function withHeld(slices: RemovalWindow, nowMs: number, held: number, sliceMs: number): RemovalWindow {
  const last = slices.at(-1)
  if (last === undefined || nowMs - last[0] >= sliceMs) return [...slices, [nowMs, held]]
  return [...slices.slice(0, -1), [last[0], Math.max(last[1], held)]]
}
