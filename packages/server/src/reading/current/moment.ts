/**
 * The port's part for moments: the event as of which a key lists current events (PROTOCOL §3.5). The number is in the store, so that
 * every thread and node answers the pages of a walk as of the same one.
 */
import type { FeedView } from '../../events/branches/branch-view.ts'
import type { FeedKey } from '../../events/feed-key.ts'

/** Identifies a moment. A key has one for each view of a feed. */
export interface MomentName {
  readonly keyId: string
  readonly key: FeedKey
  readonly view: FeedView
}

/** The feed's last event at that time. */
export interface Moment {
  readonly epoch: string
  /** 0: the feed was empty. */
  readonly position: number
  readonly sequenceNumber: number
  /** Milliseconds since 1970, by the clock of the node that fixed it. */
  readonly fixedMs: number
  /** When one of its pages was last requested, to within some seconds; 0: that was its last page. */
  readonly usedMs: number
}

/** How long a moment is kept after it was fixed. */
export const momentMs = 600_000
/** How long a walk is taken to be under way after one of its pages was requested. */
export const walkMs = 30_000

/** What a first page requests. */
export interface MomentRequest {
  readonly name: MomentName
  /** The feed's last event. */
  readonly now: Omit<Moment, 'usedMs'>
  /** The answer has to include this number (P8); 0: any number will do. */
  readonly least: number
}

export interface MomentStore {
  /**
   * The moment for all pages from now on: the stored one if it can be joined (`isJoined`), otherwise that of the request. Simultaneous
   * requests, on any nodes, all get the same. Removes moments that are no longer kept.
   */
  fix(request: MomentRequest): Promise<Moment>
  /** The most recently fixed moment, however old; `undefined`: it has been removed, or there was none. */
  find(name: MomentName): Promise<Moment | undefined>
  /** Records when a page of this moment was last requested. Has no effect if another has been fixed since. */
  noteUse(name: MomentName, moment: Moment, usedMs: number): Promise<void>
}

/** Whether a moment may still be used for answers. A moment in the future was fixed by a wrong clock. */
export function isKept({ fixedMs }: Pick<Moment, 'fixedMs'>, nowMs: number): boolean {
  return Math.abs(nowMs - fixedMs) < momentMs
}

/**
 * Whether a first page joins a moment: a walk over it is under way, which would otherwise lose its place; or it was fixed a short while
 * ago and nothing has been published since.
 */
export function isJoined(moment: Moment, { now, least }: MomentRequest): boolean {
  if (moment.epoch !== now.epoch || !isKept(moment, now.fixedMs) || moment.sequenceNumber < least)
    return false
  if (Math.abs(now.fixedMs - moment.usedMs) < walkMs) return true
  return moment.position === now.position && Math.abs(now.fixedMs - moment.fixedMs) < walkMs
}
