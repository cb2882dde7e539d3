/**
 * From what waits to commits (ARCHITECTURE). While a commit is under way, what comes is gathered into the next, across
 * feeds: with many publishers a flush is shared by all of them, with one publisher nothing waits. A commit that takes long
 * holds nobody up: others go beside it, as many as the engine has use for, each feed in one of them at a time. Feeds that
 * somebody else has locked are waited for apart.
 */
import type { AppendBatch, AppendOutcome, EventStore } from '../storage/storage.ts'
import { commitAttempts, foundLock, mayBeOfOne } from './commit-attempts.ts'
import { charactersOf, defaultCommitLimits, sizeOf } from './commit-limits.ts'
import type { CommitLimits } from './commit-limits.ts'
import { lockedFeeds } from './locked-feeds.ts'
import { waitingRoom } from './waiting-room.ts'
import type { Claim } from './waiting-room.ts'

export type SubmitOutcome = AppendOutcome | { readonly kind: 'overloaded' }

export interface CommitQueue {
  /** Resolves when the batch is durable or refused (P7); rejects with the store's `StorageFailure`. */
  submit(batch: AppendBatch): Promise<SubmitOutcome>
  /** Resolves when nothing waits and nothing is being committed. */
  drained(): Promise<void>
  /** As it is now. */
  state(): QueueState
}

export interface QueueState {
  /** Batches that have not been answered. */
  readonly waiting: number
  readonly commits: number
  readonly lockedFeeds: number
}

/** A commit under way. */
interface Lane {
  readonly size: number
  readonly sinceMs: number
}

/** `clock`: milliseconds, never set back. */
export function createCommitQueue(
  events: Pick<EventStore, 'append' | 'appendsAtOnce'>,
  limits: CommitLimits = defaultCommitLimits,
  clock: () => number = () => performance.now(),
): CommitQueue {
  const room = waitingRoom(limits)
  const attempts = commitAttempts(events, room)
  const locked = lockedFeeds({ attempts, room, limits, clock, onReleased: proceed })
  const lanes = new Set<Lane>()
  /** Of each size, which commit was the last, counting all of them: the one that has waited longest comes first. */
  const lastOf = limits.sizes.map(() => 0)
  /** Of each size, how long a commit usually takes. */
  const usualMs = limits.sizes.map(() => 0)
  let commits = 0
  let beginsSoon = false
  let nextLook: NodeJS.Timeout | undefined
  let onDrained: (() => void)[] = []

  /**
   * When a commit of this size may begin: `undefined` while too many are under way. The larger the size, the fewer may be,
   * so that a lane is left for each smaller one.
   */
  function mayBeginMs(size: number): number | undefined {
    const ofSize = [...lanes].filter((lane) => lane.size === size)
    const asLarge = [...lanes].filter((lane) => lane.size >= size)
    const most = Math.max(1, events.appendsAtOnce - size)
    if (lanes.size >= events.appendsAtOnce || asLarge.length >= most) return undefined
    const [leastMs, mostMs] = limits.gatherMs
    const gatherMs = Math.min(mostMs, Math.max(leastMs, 2 * (usualMs[size] ?? 0)))
    return ofSize.reduce((latest, { sinceMs }) => Math.max(latest, sinceMs + gatherMs), 0)
  }

  /** In few steps, because each connection has to be told. */
  function lockWaitMs(size: number): number {
    const twiceMs = 2 * (usualMs[size] ?? 0)
    return limits.lockWaitsMs.find((waitMs) => waitMs >= twiceMs) ?? limits.lockWaitsMs.at(-1) ?? 0
  }

  function begin(): void {
    beginsSoon = false
    const nowMs = clock()
    for (;;) {
      const waiting = limits.sizes
        .map((_, size) => ({ size, atMs: room.has(size) ? mayBeginMs(size) : undefined }))
        .flatMap(({ size, atMs }) => (atMs === undefined ? [] : [{ size, atMs }]))
      const ready = waiting.filter(({ atMs }) => atMs <= nowMs)
      const [next] = ready.toSorted((a, b) => (lastOf[a.size] ?? 0) - (lastOf[b.size] ?? 0))
      if (next === undefined) {
        if (waiting.length > 0) lookAt(Math.min(...waiting.map(({ atMs }) => atMs)))
        return
      }
      commits += 1
      lastOf[next.size] = commits
      void run({ size: next.size, sinceMs: nowMs }, room.take(next.size))
    }
  }

  function lookAt(atMs: number): void {
    nextLook ??= setTimeout(
      () => {
        nextLook = undefined
        begin()
      },
      Math.max(1, atMs - clock()),
    )
  }

  async function run(lane: Lane, claims: readonly Claim[]): Promise<void> {
    lanes.add(lane)
    try {
      await commit(claims, lockWaitMs(lane.size))
    } finally {
      lanes.delete(lane)
      const before = usualMs[lane.size] ?? 0
      // One that took very long counts as twice the usual.
      const tookMs = Math.min(clock() - lane.sinceMs, 2 * Math.max(before, limits.gatherMs[0]))
      usualMs[lane.size] = before + (tookMs - before) / 8
      proceed()
    }
  }

  /** All feeds together, and when one of them makes that fail, feed by feed. */
  async function commit(claims: readonly Claim[], waitMs: number): Promise<void> {
    if (claims.length > 1) {
      const all = claims.flatMap(({ batches }) => batches)
      const failed = await attempts.together(all, waitMs)
      if (failed === undefined || !(foundLock(failed) || mayBeOfOne(failed))) {
        if (failed !== undefined) attempts.refuse(all, failed.error)
        for (const { line } of claims) room.release(line)
        return
      }
    }
    for (const { line, batches } of claims) {
      const rest = await attempts.ofOneFeed(batches, waitMs)
      if (rest.length > 0) locked.add({ line, batches: rest })
      else room.release(line)
    }
  }

  function proceed(): void {
    if (room.count() === 0 && lanes.size === 0) {
      for (const resolve of onDrained) resolve()
      onDrained = []
    } else if (!beginsSoon) begin()
  }

  return {
    state: () => ({ waiting: room.count(), commits: lanes.size, lockedFeeds: locked.count() }),
    submit(batch) {
      const characters = charactersOf(batch)
      const { promise, resolve, reject } = Promise.withResolvers<AppendOutcome>()
      const size = sizeOf(batch, characters, limits)
      const line = room.enter({ batch, characters, size, sinceMs: clock(), resolve, reject })
      if (line === undefined) return Promise.resolve({ kind: 'overloaded' })
      if (line.isLocked && !line.isClaimed) locked.addLine(line)
      else if (!beginsSoon) {
        beginsSoon = true
        queueMicrotask(begin)
      }
      return promise
    },
    drained() {
      if (room.count() === 0 && lanes.size === 0) return Promise.resolve()
      return new Promise((resolve) => onDrained.push(resolve))
    },
  }
}
