/** How fast the market of a demo changes, and how many events of it a store takes. */
import type { Random } from './random.ts'

/** Soon after the start, when somebody is probably watching, there is a change every 2 to 6 seconds. */
const watchedForMs = 2 * 3_600_000
const [shortestMs, longestMs] = [2_000, 6_000]
/** A demo that was left open: a weekend of 64 hours has some 9,000 changes in all. */
const leftOpenMs = 30_000

/**
 * The market stands still once all agencies together, including those of the start, have this many property events. A change takes some
 * 5 kB of disk, so events never take more than 200 MB; that is reached after eleven days around the clock.
 */
export const mostDemoEvents = 40_000

/** How long to wait before the next change. `runningMs`: since the demo was started. */
export function pauseMs(random: Random, runningMs: number): number {
  return runningMs < watchedForMs ? random.integer(shortestMs, longestMs) : leftOpenMs
}

/**
 * A copy is stopped when too much of it goes within a day, and one that counts each of its removals always lets 20 go, and counts them for
 * up to 25 hours. So an agency begins with some homes that may leave, and gets more one by one: never more than 20 in 25 hours, for
 * whatever part of its homes a reader follows.
 */
const leavingsAtOnce = 8
const msPerLeaving = (25 * 3_600_000) / (20 - leavingsAtOnce)

/** Whether one more home of an agency may leave its market, or a branch, now; if so, it is counted. */
export function leavingPace(now: () => number): () => boolean {
  let [left, atMs] = [leavingsAtOnce, now()]
  return () => {
    const nowMs = now()
    left = Math.min(leavingsAtOnce, left + Math.max(0, nowMs - atMs) / msPerLeaving)
    atMs = nowMs
    if (left < 1) return false
    left -= 1
    return true
  }
}
