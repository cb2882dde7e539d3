/** Readers that wait for one of many feeds, and the looks that wake them. */
import { setTimeout as delay } from 'node:timers/promises'
import type { EndSignal } from '../runtime/end-signal.ts'
import { reported } from '../runtime/background-task.ts'
import type { TaskReport } from '../runtime/background-task.ts'
import type { Changed } from './feed-version-cache.ts'
import type { VersionPoller } from './version-poller.ts'
import type { ReadableFeeds } from './changed-feeds.ts'

export interface WaitingForFeeds {
  /** Resolves when one of the feeds may have changed, when `signal` is aborted, and after `atMostMs`. */
  nextChange(readable: ReadableFeeds, atMostMs: number, signal: EndSignal): Promise<void>
  /** Wakes those who wait for one of the feeds with these names. */
  wake(changed: Changed): void
}

/** The pause between two looks. Changes that come closer together are reported together. */
const leastRestMs = 10
/** The most that a slow look delays the next one, so that looks leave most of the time to others. */
const mostRestMs = 100
/** The pause after a failed look. */
const failedRestMs = 1_000

export function waitingForFeeds(
  looks: Pick<VersionPoller, 'lookIfNeeded' | 'untilNeeded'>,
  report: TaskReport,
): WaitingForFeeds {
  /** By the feeds they wait for, which are one object for all requests of a key. */
  const waiters = new Map<ReadableFeeds, Set<() => void>>()
  let isLooking = false

  /** Runs while anybody waits. */
  async function lookOn(): Promise<void> {
    if (isLooking) return
    isLooking = true
    while (waiters.size > 0) {
      const startedMs = performance.now()
      const looked = looks.lookIfNeeded().then(() => true)
      const hasWorked = await reported(report, 'follow_feeds', looked)
      const tookMs = performance.now() - startedMs
      const restMs = Math.min(mostRestMs, Math.max(leastRestMs, 9 * tookMs))
      await delay(hasWorked === true ? restMs : failedRestMs, undefined, { ref: false })
      await looks.untilNeeded()
    }
    isLooking = false
  }

  return {
    nextChange(readable, atMostMs, signal) {
      return new Promise((resolve) => {
        const waiting = waiters.get(readable) ?? new Set()
        waiters.set(readable, waiting)
        const end = (): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', end)
          waiting.delete(end)
          if (waiting.size === 0 && waiters.get(readable) === waiting) waiters.delete(readable)
          resolve()
        }
        const timer = setTimeout(end, Math.max(1, atMostMs))
        signal.addEventListener('abort', end)
        waiting.add(end)
        void lookOn()
      })
    },
    wake(changed) {
      if (changed !== 'all' && changed.size === 0) return
      const names = changed === 'all' ? [] : [...changed]
      for (const [readable, waiting] of waiters) {
        const isTheirs = changed === 'all' || names.some((name) => readable.byName.has(name))
        if (isTheirs) for (const end of waiting) end()
      }
    },
  }
}
