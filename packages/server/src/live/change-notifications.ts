/** The feeds that are reported to have changed since they were last read. */
import { feedName } from '../events/feed-key.ts'
import type { EventStore } from '../events/event-log.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { FeedVersionCache } from './feed-version-cache.ts'

interface ChangeNotifications {
  /** Listens from the first call on. */
  listen(): void
  /** Something has changed since the last `take`. */
  readonly any: boolean
  /** Feeds that may have changed since the last call. Read them after it. */
  take(known: Pick<FeedVersionCache, 'feeds'>): readonly FeedKey[]
  /** The next `take` names all feeds. */
  forgetCounts(): void
  /** Resolves when there is something to take, and after `atMostMs`. */
  next(atMostMs: number): Promise<void>
  close(): void
}

export function changeNotifications(events: Pick<EventStore, 'watch' | 'changeCount'>): ChangeNotifications {
  let named = new Map<string, FeedKey>()
  /** A feed has changed, and the notice did not name it. */
  let isUnnamed = false
  /** The counts from `changeCount`. */
  const counts = new Map<string, number>()
  let wake: (() => void) | undefined
  let stop: (() => void) | undefined

  /** If a count has not changed, neither has the feed: with 20,000 feeds this takes some 2 ms. */
  function byCounts(feeds: Iterable<FeedKey>): void {
    for (const key of feeds) {
      const name = feedName(key)
      const count = events.changeCount(key)
      if (counts.get(name) === count) continue
      counts.set(name, count)
      named.set(name, key)
    }
  }

  return {
    listen() {
      stop ??= events.watch((key) => {
        if (key === undefined) isUnnamed = true
        else named.set(feedName(key), key)
        wake?.()
      })
    },
    get any() {
      return isUnnamed || named.size > 0
    },
    take(known) {
      if (isUnnamed) byCounts(known.feeds())
      isUnnamed = false
      const keys = [...named.values()]
      named = new Map()
      return keys
    },
    forgetCounts() {
      counts.clear()
      isUnnamed = true
    },
    next(atMostMs) {
      if (isUnnamed || named.size > 0) return Promise.resolve()
      return new Promise((resolve) => {
        const timer = setTimeout(end, atMostMs)
        timer.unref()
        function end(): void {
          clearTimeout(timer)
          wake = undefined
          resolve()
        }
        wake = end
      })
    },
    close: () => stop?.(),
  }
}
