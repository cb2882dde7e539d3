/** Reads the heads of followed feeds: those that may have changed, all in one call of the store, one call at a time. */
import type { TaskReport } from '../runtime/background-task.ts'
import { startWorker } from '../runtime/worker-loop.ts'
import type { EventStore } from '../events/event-log.ts'
import { takeHead } from './followed-feed.ts'
import type { FollowedFeed } from './followed-feed.ts'

interface HeadPoller {
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

export function headPoller(events: Pick<EventStore, 'heads'>, report: TaskReport): HeadPoller {
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
    want(feed) {
      wanted.add(feed)
      wake()
    },
    drop: (feed) => void wanted.delete(feed),
    close() {
      void worker.close()
      wake()
    },
  }
}
