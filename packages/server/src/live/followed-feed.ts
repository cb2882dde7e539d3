/** A feed with waiting readers, on one thread, and how they are woken. */
import type { FeedKey } from '../events/feed-key.ts'
import type { FeedView } from '../events/branches/branch-view.ts'
import type { Head } from '../events/event-log.ts'
import type { BroadcastBuffer } from './broadcast-buffer.ts'

export interface FollowedFeed {
  readonly key: FeedKey
  followers: number
  /** Until it is dropped, where nobody follows it. */
  lingering: NodeJS.Timeout | undefined
  /** `unread`: not read since it is being followed. `undefined`: there is no such tenant. */
  head: Head | undefined | 'unread'
  readonly tapes: Map<FeedView, BroadcastBuffer>
  /** Reads that bring tapes to the head, each shared by all its waiting readers. */
  readonly filling: Map<FeedView, Promise<void>>
  /** Each is called once. */
  readonly wakers: Set<() => void>
  /** Each is called with every change. */
  readonly listeners: Set<() => void>
}

export function followedFeed(key: FeedKey): FollowedFeed {
  return {
    key,
    followers: 0,
    lingering: undefined,
    head: 'unread',
    tapes: new Map(),
    filling: new Map(),
    wakers: new Set(),
    listeners: new Set(),
  }
}

/** Takes the head as just read. Events read in another epoch or revision are no longer used. */
export function takeHead(feed: FollowedFeed, head: Head | undefined): void {
  const before = feed.head
  const isKnown = before !== 'unread' && before !== undefined
  if (isKnown && head !== undefined && isSame(before, head)) return
  if (!isKnown || !isOfOneState(before, head)) feed.tapes.clear()
  feed.head = head
  wakeAll(feed)
}

export function wakeAll({ wakers, listeners }: FollowedFeed): void {
  const woken = [...wakers]
  wakers.clear()
  for (const wake of woken) wake()
  for (const listener of listeners) listener()
}

/** Whether a reader that has seen the feed in this state has something new to read or to be told. */
export function hasChanged({ head }: FollowedFeed, seen: Head): boolean {
  if (head === 'unread') return false
  if (head === undefined) return true
  return (
    head.sequenceNumber > seen.sequenceNumber || head.epoch !== seen.epoch || head.revision !== seen.revision
  )
}

function isSame(before: Head, head: Head): boolean {
  return before.sequenceNumber === head.sequenceNumber && isOfOneState(before, head)
}

function isOfOneState(before: Head, head: Head | undefined): boolean {
  return before.epoch === head?.epoch && before.revision === head.revision && before.thinned === head.thinned
}
