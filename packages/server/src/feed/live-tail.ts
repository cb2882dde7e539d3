/**
 * The ends of the feeds that readers wait for (PROTOCOL §13). Each thread has one. It hears of changes before it looks, looks at all
 * feeds that have changed in one call, and reads a view once for all who wait for it. What it tells has been read from the store.
 */
import type { TaskReport } from '../background-task.ts'
import type { EventStore, FeedKey, FeedView, Head } from '../storage/storage.ts'
import { feedName } from '../storage/storage.ts'
import { followedFeed, hasMoved, nextChange, wakeAll } from './followed-feed.ts'
import type { FollowedFeed } from './followed-feed.ts'
import type { TapeReading } from './live-tape.ts'
import { liveTapes } from './live-tapes.ts'
import { feedLooks } from './look-at-feeds.ts'

export interface LiveTail {
  /** Follows a feed until `stop` is called. Everything that is stored after the call is found. */
  follow(key: FeedKey): FeedFollower
  /** Nothing that was read of the feed before is told any more (D17). */
  forget(key: FeedKey): void
  /** Wakes all who wait. */
  close(): void
}

export interface FeedFollower {
  /** The head when the feed was looked at last. `undefined`: there is no such tenant, or nothing could be read within 5 s. */
  head(): Promise<Head | undefined>
  /** Resolves when the head is after `seen`, or of another epoch or revision; when `signal` is aborted; and after `atMostMs`. */
  moved(seen: Head, atMostMs: number, signal: AbortSignal): Promise<void>
  /** As `LiveTapes.read`. */
  read(view: FeedView, after: number, mostBytes: number): Promise<TapeReading>
  /** Safe to call twice. */
  stop(): void
}

export interface LiveTailOptions {
  readonly events: Pick<EventStore, 'heads' | 'readAfter' | 'watch'>
  readonly report: TaskReport
  /** Of events that are kept for readers. Default: 16 MiB. */
  readonly keptBytes?: number
  /** Notices of changes may be lost: it looks by itself as often as this. Default: 1 s. */
  readonly lookEveryMs?: number
}

const defaultKeptBytes = 16 * 2 ** 20

export function createLiveTail(options: LiveTailOptions): LiveTail {
  const { events, report, keptBytes = defaultKeptBytes, lookEveryMs = 1_000 } = options
  const feeds = new Map<string, FollowedFeed>()
  const looks = feedLooks(events, report)
  const tapes = liveTapes(events, () => feeds.values(), keptBytes)
  let stopWatching: (() => void) | undefined

  function watch(): () => void {
    const unwatch = events.watch((told) => {
      if (told === undefined) lookAtAll()
      else lookAt(feeds.get(feedName(told)))
    })
    const timer = setInterval(lookAtAll, lookEveryMs).unref()
    return () => {
      unwatch()
      clearInterval(timer)
    }
  }

  function lookAt(feed: FollowedFeed | undefined): void {
    if (feed !== undefined) looks.want(feed)
  }

  function lookAtAll(): void {
    for (const feed of feeds.values()) looks.want(feed)
  }

  function leave(feed: FollowedFeed): void {
    feed.followers -= 1
    if (feed.followers > 0) return
    feeds.delete(feedName(feed.key))
    looks.drop(feed)
    if (feeds.size > 0) return
    stopWatching?.()
    stopWatching = undefined
  }

  return {
    follow(key) {
      // Before the first look: what is stored between the two is told of.
      stopWatching ??= watch()
      const feed = feeds.get(feedName(key)) ?? followedFeed(key)
      feeds.set(feedName(key), feed)
      feed.followers += 1
      looks.want(feed)
      const read: FeedFollower['read'] = (view, after, mostBytes) => tapes.read(feed, view, after, mostBytes)
      return followerOf(feed, read, () => leave(feed))
    },
    forget(key) {
      feeds.get(feedName(key))?.tapes.clear()
    },
    close() {
      looks.close()
      stopWatching?.()
      stopWatching = undefined
      for (const feed of feeds.values()) wakeAll(feed)
    },
  }
}

/** As long as a read with `x-feed-min-sequence` waits. */
const firstLookMs = 5_000

function followerOf(feed: FollowedFeed, read: FeedFollower['read'], leave: () => void): FeedFollower {
  let isStopped = false
  return {
    async head() {
      if (feed.head === 'unread') await nextChange(feed, firstLookMs, undefined)
      return feed.head === 'unread' ? undefined : feed.head
    },
    async moved(seen, atMostMs, signal) {
      if (!signal.aborted && !hasMoved(feed, seen)) await nextChange(feed, atMostMs, signal)
    },
    read,
    stop() {
      if (!isStopped) leave()
      isStopped = true
    },
  }
}
