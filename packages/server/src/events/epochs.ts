/** What feeds that lost numbers wait for (D13, docs/decisions/0018). */
import type { FeedKey } from './feed-key.ts'

/** A feed to which publishing is refused until a new epoch begins in it (D13). */
export interface WaitingFeed {
  readonly key: FeedKey
  /** The highest number that the store holds for it, or has counted past. */
  readonly heldNumber: number
  /** The highest number that a node has reported as shown, if it is not in the store. */
  readonly shownNumber: number | undefined
}

/** What a node has shown of a feed, and its store does not hold (any more). */
export interface LostNumbers {
  readonly key: FeedKey
  readonly shownNumber: number
  readonly heldNumber: number
}

/** The feeds to which publishing is refused until a new epoch begins (D13): none, some, or all. */
export type EpochNeed = 'none' | 'some' | 'all'
