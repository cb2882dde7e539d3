/**
 * Which feeds have changed since a client last asked, for readers of thousands of them (PROTOCOL §11.5, §13.3). The cost depends on what
 * has changed and not on the number of feeds: feeds with notices are read singly, and once a second, while anybody asks or waits, the sum
 * of all versions shows whether a notice was missed. A token names a state of the store by the sum of all counts in it: it rises with every
 * change, is the same on every node, and needs no clock. Anything that a state lacks is in one with a greater sum.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { untilWoken } from '../runtime/end-signal.ts'
import type { EndSignal } from '../runtime/end-signal.ts'
import { reported } from '../runtime/background-task.ts'
import type { TaskReport } from '../runtime/background-task.ts'
import { feedName } from '../events/feed-key.ts'
import type { FeedKey } from '../events/feed-key.ts'
import { FeedVersionCache } from './feed-version-cache.ts'
import type { Changed } from './feed-version-cache.ts'
import { versionPoller } from './version-poller.ts'
import type { VersionedEvents, VersionPoller } from './version-poller.ts'
import { readToken, writeToken } from './state-token.ts'

/** The feeds that a key may read. Pass the same object for as long as they are the same. */
export interface ReadableFeeds {
  readonly byName: ReadonlyMap<string, FeedKey>
  /** Differs for other feeds. */
  readonly print: string
}

export interface ChangedFeeds {
  /**
   * The readable feeds that have changed since the state that the token names, in no order; all of them without a token, or with one of
   * another store, epoch or set of feeds. A feed may be named although it has not changed. `next`: names the present state. It includes
   * what this node has acknowledged, and what others have a second later at the latest.
   */
  since(token: string | undefined, readable: ReadableFeeds): Promise<FeedChanges>
  /** The same, as soon as one has changed; none after `atMostMs`, or when `signal` is aborted. */
  wait(
    token: string | undefined,
    readable: ReadableFeeds,
    atMostMs: number,
    signal: EndSignal,
  ): Promise<FeedChanges>
  /** Nobody waits any more: requests are answered at once. */
  endWaits(): void
  close(): void
}

export interface FeedChanges {
  readonly keys: readonly FeedKey[]
  readonly next: string
}

export function readableFeeds(keys: readonly FeedKey[]): ReadableFeeds {
  const byName = new Map(keys.map((key) => [feedName(key), key]))
  return { byName, print: crc32([...byName.keys()].sort().join(' ')).toString(36) }
}

export function changedFeeds(
  events: VersionedEvents,
  report: TaskReport,
  clock: () => number = () => performance.now(),
): ChangedFeeds {
  const thread = (randomBytes(4).readUInt32BE() % 36 ** 6).toString(36)
  const known = new FeedVersionCache(thread)
  const poller: VersionPoller = versionPoller(events, known, (changed) => waiting.wake(changed), clock)
  const waiting = feedWaiters(poller, report)
  let isEnding = false

  async function bringUpToDate(token: string | undefined): Promise<void> {
    await poller.pollIfNeeded()
    // Another node may know of more changes.
    if (token !== undefined && readToken(token).total > known.state.total) await poller.readAll()
  }

  function changesSince(token: string | undefined, readable: ReadableFeeds): FeedChanges {
    const { total, print, serial } = known.state
    const ofReadable = readable.print
    const next = writeToken({ total, print, ofReadable, thread, serial })
    const before = token === undefined ? undefined : readToken(token)
    const names = before?.ofReadable === ofReadable ? known.changedSince(before) : 'all'
    if (names === 'all') return { keys: [...readable.byName.values()], next }
    return { keys: [...names].flatMap((name) => readable.byName.get(name) ?? []), next }
  }

  return {
    async since(token, readable) {
      await bringUpToDate(token)
      return changesSince(token, readable)
    },
    async wait(token, readable, atMostMs, signal) {
      const untilMs = performance.now() + atMostMs
      for (;;) {
        await bringUpToDate(token)
        // Nothing is learnt between this and the beginning of the wait.
        const moved = changesSince(token, readable)
        const leftMs = untilMs - performance.now()
        if (moved.keys.length > 0 || leftMs <= 0 || signal.aborted || isEnding) return moved
        await waiting.nextChange(readable, leftMs, signal)
      }
    },
    endWaits() {
      isEnding = true
      waiting.wake('all')
    },
    close: () => poller.close(),
  }
}

/** The pause between two poller. Changes that come closer together are reported together. */
const leastRestMs = 10
/** The most that a slow poll delays the next one, so that polls leave most of the time to others. */
const mostRestMs = 100
/** The pause after a failed poll. */
const failedRestMs = 1_000

/** Readers that wait for one of many feeds, and the polls that wake them. */
function feedWaiters(poller: Pick<VersionPoller, 'pollIfNeeded' | 'untilNeeded'>, report: TaskReport) {
  /** By the feeds they wait for, which are one object for all requests of a key. */
  const waiters = new Map<ReadableFeeds, Set<() => void>>()
  let isPolling = false

  /** Runs while anybody waits. */
  async function poll(): Promise<void> {
    if (isPolling) return
    isPolling = true
    while (waiters.size > 0) {
      const startedMs = performance.now()
      const polled = poller.pollIfNeeded().then(() => true)
      const hasWorked = await reported(report, 'follow_feeds', polled)
      const tookMs = performance.now() - startedMs
      const restMs = Math.min(mostRestMs, Math.max(leastRestMs, 9 * tookMs))
      await delay(hasWorked === true ? restMs : failedRestMs, undefined, { ref: false })
      await poller.untilNeeded()
    }
    isPolling = false
  }

  return {
    /** Resolves when one of the feeds may have changed, when `signal` is aborted, and after `atMostMs`. */
    async nextChange(readable: ReadableFeeds, atMostMs: number, signal: EndSignal): Promise<void> {
      const waiting = waiters.get(readable) ?? new Set<() => void>()
      waiters.set(readable, waiting)
      const woken = untilWoken(waiting, atMostMs, signal)
      void poll()
      await woken
      if (waiting.size === 0 && waiters.get(readable) === waiting) waiters.delete(readable)
    },
    /** Wakes those who wait for one of the feeds with these names. */
    wake(changed: Changed): void {
      if (changed !== 'all' && changed.size === 0) return
      const names = changed === 'all' ? [] : [...changed]
      for (const [readable, waiting] of waiters) {
        const isTheirs = changed === 'all' || names.some((name) => readable.byName.has(name))
        if (isTheirs) for (const end of waiting) end()
      }
    },
  }
}
