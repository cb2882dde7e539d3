/** Keeps what is known about all feeds' versions up to date: by notices, and once a second by their sum. */
import type { EventStore } from '../events/event-log.ts'
import type { Changed, FeedVersionCache } from './feed-version-cache.ts'
import { feedName } from '../events/feed-key.ts'
import type { FeedKey } from '../events/feed-key.ts'

export type VersionedEvents = Pick<EventStore, 'versions' | 'versionsTotal' | 'watch' | 'changeCount'>

export interface VersionPoller {
  /** Listens from the first call on. Resolves when everything is known that this node stored before the call. */
  pollIfNeeded(): Promise<void>
  /** Reads all versions, whatever is known. */
  readAll(): Promise<void>
  /** Resolves when there is a reason to poll: there was a notice, or the last poll is too old. */
  untilNeeded(): Promise<void>
  close(): void
}

/** Notices may be lost, so the sum is read again after this time. */
const freshMs = 1_000
/** For so few feeds the sum costs nothing. It is read with each change, so that a token names the present state and the next answer does not name the same change again. */
const fewFeeds = 1_000
/** Above this share of all feeds, reading all versions costs less than reading some. */
const mostShare = 0.25

/** `onChange`: called with what each poll finds. */
export function versionPoller(
  events: VersionedEvents,
  known: FeedVersionCache,
  onChange: (changed: Changed) => void,
  clock: () => number,
): VersionPoller {
  const changes = changeNotifications(events)
  let readMs = -Infinity
  let polling: Promise<void> | undefined

  const isFresh = (): boolean => {
    const ageMs = clock() - readMs
    return ageMs >= 0 && ageMs < freshMs
  }

  async function readAll(): Promise<void> {
    const startedMs = clock()
    onChange(known.takeAll(await events.versions()))
    readMs = startedMs
  }

  async function poll(): Promise<void> {
    const startedMs = clock()
    try {
      const keys = changes.take(known)
      const { size } = known.state
      if (size === 0 || keys.length > mostShare * size) return await readAll()
      if (keys.length > 0) {
        const some = known.takeSome(keys, await events.versions(keys))
        if (some === undefined) return await readAll()
        onChange(some)
      }
      if (isFresh() && (keys.length === 0 || size > fewFeeds)) return
      if (!known.putTotal(await events.versionsTotal())) return await readAll()
      readMs = startedMs
    } catch (error) {
      // The notices were taken, and no successful poll covers them.
      readMs = -Infinity
      changes.forgetCounts()
      throw error
    }
  }

  /** One after the other; callers that want one at the same time share it. */
  const once = (how: () => Promise<void>): Promise<void> => {
    polling ??= how().finally(() => {
      polling = undefined
    })
    return polling
  }

  return {
    async pollIfNeeded() {
      changes.listen()
      // A poll under way may have begun too early for what this node has acknowledged; one that has begun since has not.
      if (polling !== undefined) await polling
      if (polling !== undefined || !isFresh() || changes.any) await once(poll)
    },
    async readAll() {
      if (polling !== undefined) await polling
      await once(readAll)
    },
    untilNeeded: () => changes.next(Math.max(1, Math.min(freshMs, freshMs - (clock() - readMs)))),
    close: () => changes.close(),
  }
}

/** The feeds that are reported to have changed since they were last read. */
function changeNotifications(events: Pick<EventStore, 'watch' | 'changeCount'>) {
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
    /** Listens from the first call on. */
    listen(): void {
      stop ??= events.watch((key) => {
        if (key === undefined) isUnnamed = true
        else named.set(feedName(key), key)
        wake?.()
      })
    },
    /** Something has changed since the last `take`. */
    get any(): boolean {
      return isUnnamed || named.size > 0
    },
    /** Feeds that may have changed since the last call. Read them after it. */
    take(known: Pick<FeedVersionCache, 'feeds'>): readonly FeedKey[] {
      if (isUnnamed) byCounts(known.feeds())
      isUnnamed = false
      const keys = [...named.values()]
      named = new Map()
      return keys
    },
    /** The next `take` names all feeds. */
    forgetCounts(): void {
      counts.clear()
      isUnnamed = true
    },
    /** Resolves when there is something to take, and after `atMostMs`. */
    next(atMostMs: number): Promise<void> {
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
