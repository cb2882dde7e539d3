/**
 * The port's part for moments: as of which event a key lists current events (PROTOCOL §3.5). A number in the store, so that every
 * thread and node answers the pages of a walk as of the same one.
 */
import type { FeedView } from './branch-view.ts'
import type { FeedKey } from './feed-key.ts'

/** Whose moment it is. A key has one for each view of a feed. */
export interface MomentName {
  readonly keyId: string
  readonly key: FeedKey
  readonly view: FeedView
}

/** Of the feed's last event at that time. */
export interface Moment {
  readonly epoch: string
  /** 0: the feed was empty. */
  readonly position: number
  readonly sequenceNumber: number
  /** Milliseconds since 1970, by the clock of the node that fixed it. */
  readonly fixedMs: number
  /** When one of its pages was asked for, some seconds ago at most; 0: the last of them was. */
  readonly usedMs: number
}

/** So long after it was fixed, a moment is kept. */
export const momentMs = 600_000
/** So long after one of its pages was asked for, a walk is taken to be under way. */
export const walkMs = 30_000

/** What a first page asks for. */
export interface MomentRequest {
  readonly name: MomentName
  /** The feed's last event. */
  readonly now: Omit<Moment, 'usedMs'>
  /** The answer has to include this number (P8); 0: any will do. */
  readonly least: number
}

export interface MomentStore {
  /**
   * The moment that pages are as of from now on: the one that is kept where it can be joined (`isJoined`), else that of the request. Of
   * several that ask at the same time, on whatever node, all get the same. Removes moments that are not kept any more.
   */
  fix(request: MomentRequest): Promise<Moment>
  /** The one that was fixed last, however long ago; `undefined`: it has been removed, or there was none. */
  find(name: MomentName): Promise<Moment | undefined>
  /** When a page of this moment was last asked for. Without effect where another has been fixed since. */
  noteUse(name: MomentName, moment: Moment, usedMs: number): Promise<void>
}

/** Whether a moment may still be answered from. One of the future was fixed by a clock that was wrong. */
export function isKept({ fixedMs }: Pick<Moment, 'fixedMs'>, nowMs: number): boolean {
  return Math.abs(nowMs - fixedMs) < momentMs
}

/**
 * Whether a first page joins a moment: a walk over it is under way, which would lose its place; or it was fixed a short while ago and
 * nothing has been published since.
 */
export function isJoined(moment: Moment, { now, least }: MomentRequest): boolean {
  if (moment.epoch !== now.epoch || !isKept(moment, now.fixedMs) || moment.sequenceNumber < least)
    return false
  if (Math.abs(now.fixedMs - moment.usedMs) < walkMs) return true
  return moment.position === now.position && Math.abs(now.fixedMs - moment.fixedMs) < walkMs
}
