/**
 * The ends of the feeds with waiting readers (PROTOCOL §13). Each thread has one. It hears of changes before it reads, reads the heads of
 * all changed feeds in one call, and reads a view once for all its waiting readers. Everything it reports has been read from the store.
 */
import { untilWoken } from '../runtime/end-signal.ts'
import type { EndSignal } from '../runtime/end-signal.ts'
import type { TaskReport } from '../runtime/background-task.ts'
import type { EventStore, Head } from '../events/event-log.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { FeedView } from '../events/branches/branch-view.ts'
import { feedName } from '../events/feed-key.ts'
import { followedFeed, hasChanged, takeHead, wakeAll } from './followed-feed.ts'
import type { FollowedFeed } from './followed-feed.ts'
import type { BufferedRead } from './broadcast-buffer.ts'
import { broadcastBuffers } from './broadcast-buffers.ts'
import type { ReadBuffer } from './broadcast-buffers.ts'
import { startWorker } from '../runtime/worker-loop.ts'

export interface LiveTail {
  /** Follows a feed until `stop` is called. It finds everything that is stored after the call. */
  follow(key: FeedKey): FeedFollower
  /** Nothing that was read from the feed before is used any more (D17). */
  forget(key: FeedKey): void
  /** Wakes all waiting readers. */
  close(): void
}

export interface FeedFollower {
  /** The head when the feed was last read. `undefined`: there is no such tenant, or nothing could be read within 5 s. */
  head(): Promise<Head | undefined>
  /** The same at once; `unread`: it has not been looked at since it is followed. */
  readonly known: Head | undefined | 'unread'
  /** Calls the listener, of which there is one, whenever the head has changed, and when all are woken, until `stop`. It may not throw. */
  onChange(listener: () => void): void
  /** Resolves when the head is after `seen`, or of another epoch or revision; when `signal` is aborted; and after `atMostMs`. */
  moved(seen: Head, atMostMs: number, signal: EndSignal): Promise<void>
  /** As in `ReadBuffer`. */
  read(view: FeedView, after: number, mostBytes: number): BufferedRead | Promise<BufferedRead>
  /** Safe to call twice. */
  stop(): void
}

interface LiveTailOptions {
  readonly events: Pick<EventStore, 'heads' | 'readAfter' | 'watch'>
  readonly report: TaskReport
  /** Bytes of events that are kept for readers. Default: 16 MiB. */
  readonly bufferBytes?: number
  /** Notices of changes may be lost, so it also looks by itself this often. Default: 1 s. */
  readonly checkEveryMs?: number
  /** How long a feed is followed after its last reader has gone, because a long-polling reader comes back with its next request. Default: 2 s. */
  readonly lingerMs?: number
}

const defaultBufferBytes = 16 * 2 ** 20

export function createLiveTail(options: LiveTailOptions): LiveTail {
  const { events, report, bufferBytes = defaultBufferBytes, checkEveryMs = 1_000, lingerMs = 2_000 } = options
  const feeds = new Map<string, FollowedFeed>()
  const poller = headPoller(events, report)
  const read = broadcastBuffers(events, () => feeds.values(), bufferBytes)
  let stopWatching: (() => void) | undefined

  function watch(): () => void {
    const unwatch = events.watch((told) => {
      if (told === undefined) pollAll()
      else poll(feeds.get(feedName(told)))
    })
    const timer = setInterval(pollAll, checkEveryMs).unref()
    return () => {
      unwatch()
      clearInterval(timer)
    }
  }

  function poll(feed: FollowedFeed | undefined): void {
    if (feed !== undefined) poller.want(feed)
  }

  function pollAll(): void {
    for (const feed of feeds.values()) poller.want(feed)
  }

  function leave(feed: FollowedFeed): void {
    feed.followers -= 1
    if (feed.followers > 0) return
    clearTimeout(feed.lingering)
    feed.lingering = setTimeout(() => drop(feed), lingerMs).unref()
  }

  function drop(feed: FollowedFeed): void {
    if (feed.followers > 0 || feeds.get(feedName(feed.key)) !== feed) return
    feeds.delete(feedName(feed.key))
    poller.drop(feed)
    if (feeds.size > 0) return
    stopWatching?.()
    stopWatching = undefined
  }

  return {
    follow(key) {
      // Before the first look, so that it hears of what is stored between the two.
      stopWatching ??= watch()
      const feed = feeds.get(feedName(key)) ?? followedFeed(key)
      feeds.set(feedName(key), feed)
      feed.followers += 1
      clearTimeout(feed.lingering)
      if (feed.head === 'unread') poller.want(feed)
      return new Follower(feed, read, leave)
    },
    forget(key) {
      feeds.get(feedName(key))?.tapes.clear()
    },
    close() {
      poller.close()
      stopWatching?.()
      stopWatching = undefined
      for (const feed of feeds.values()) wakeAll(feed)
    },
  }
}

/** As long as a read with `x-feed-min-sequence` waits. */
const firstLookMs = 5_000

/** A class, because V8 makes the getter of an object literal anew for each object: 4 % of a long-poll. */
class Follower implements FeedFollower {
  readonly #feed: FollowedFeed
  readonly #read: ReadBuffer
  readonly #leave: (feed: FollowedFeed) => void
  #listener: (() => void) | undefined
  #isStopped = false

  constructor(feed: FollowedFeed, read: ReadBuffer, leave: (feed: FollowedFeed) => void) {
    this.#feed = feed
    this.#read = read
    this.#leave = leave
  }

  get known(): Head | undefined | 'unread' {
    return this.#feed.head
  }

  onChange(listener: () => void): void {
    this.#listener = listener
    this.#feed.listeners.add(listener)
  }

  async head(): Promise<Head | undefined> {
    const feed = this.#feed
    if (feed.head === 'unread') await untilWoken(feed.wakers, firstLookMs)
    return feed.head === 'unread' ? undefined : feed.head
  }

  async moved(seen: Head, atMostMs: number, signal: EndSignal): Promise<void> {
    if (!signal.aborted && !hasChanged(this.#feed, seen))
      await untilWoken(this.#feed.wakers, atMostMs, signal)
  }

  read(view: FeedView, after: number, mostBytes: number): BufferedRead | Promise<BufferedRead> {
    return this.#read(this.#feed, view, after, mostBytes)
  }

  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    if (this.#listener !== undefined) this.#feed.listeners.delete(this.#listener)
    this.#leave(this.#feed)
  }
}

/** Feeds in one call of the store. */
const feedsAtOnce = 1_000

/**
 * The pause between two calls. Publications that come closer together are reported together; a change has to be reported within half a
 * second.
 */
const restMs = 10

/** Reads the heads of followed feeds: those that may have changed, all in one call of the store, one call at a time. */
function headPoller(events: Pick<EventStore, 'heads'>, report: TaskReport) {
  const wanted = new Set<FollowedFeed>()
  let wake = (): void => undefined

  async function pollSome(): Promise<void> {
    const feeds = [...wanted].slice(0, feedsAtOnce)
    for (const feed of feeds) wanted.delete(feed)
    const heads = await events.heads(feeds.map(({ key }) => key))
    for (const [index, feed] of feeds.entries()) takeHead(feed, heads[index])
  }

  // A failed poll is repeated with the next change, or the next second.
  const worker = startWorker({ task: 'follow_feeds', report, retryMs: restMs }, async (signal) => {
    if (wanted.size === 0) await new Promise<void>((resolve) => (wake = resolve))
    signal.throwIfAborted()
    await pollSome()
    return { waitMs: restMs }
  })

  return {
    /** The feed may have changed. It is read soon, after this call. */
    want(feed: FollowedFeed): void {
      wanted.add(feed)
      wake()
    },
    /** Nobody follows it any more. */
    drop: (feed: FollowedFeed) => void wanted.delete(feed),
    close(): void {
      void worker.close()
      wake()
    },
  }
}
