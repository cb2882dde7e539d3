/** Reads the heads of followed feeds: those that may have changed, all in one call of the store, one call at a time. */
import { setTimeout as delay } from 'node:timers/promises'
import { reported } from '../background-task.ts'
import type { TaskReport } from '../background-task.ts'
import type { EventStore } from '../storage/storage.ts'
import { takeHead } from './followed-feed.ts'
import type { FollowedFeed } from './followed-feed.ts'

export interface FeedLooks {
  /** The feed may have changed. It is read soon, after this call. */
  want(feed: FollowedFeed): void
  /** Nobody follows it any more. */
  drop(feed: FollowedFeed): void
  close(): void
}

/** Feeds in one call of the store. */
const feedsAtOnce = 1_000

/**
 * The pause between two calls. Publications that come closer together are reported together; a change has to be reported within half a
 * second.
 */
const restMs = 10

export function feedLooks(events: Pick<EventStore, 'heads'>, report: TaskReport): FeedLooks {
  const wanted = new Set<FollowedFeed>()
  let isLooking = false
  const closing = new AbortController()

  async function lookAtSome(): Promise<void> {
    const feeds = [...wanted].slice(0, feedsAtOnce)
    for (const feed of feeds) wanted.delete(feed)
    const heads = await events.heads(feeds.map(({ key }) => key))
    for (const [index, feed] of feeds.entries()) takeHead(feed, heads[index])
  }

  async function look(): Promise<void> {
    while (wanted.size > 0 && !closing.signal.aborted) {
      // A failed look is repeated with the next change, or the next second.
      await reported(report, 'follow_feeds', lookAtSome())
      await delay(restMs)
    }
    isLooking = false
  }

  return {
    want(feed) {
      wanted.add(feed)
      if (isLooking) return
      isLooking = true
      void look()
    },
    drop: (feed) => void wanted.delete(feed),
    close: () => closing.abort(),
  }
}
