/**
 * Turns waiting batches into commits (ARCHITECTURE). While a commit is under way, new batches are gathered for the next
 * one, across feeds: many publishers share a flush, and a single publisher never waits. A commit that takes long does
 * not delay the others: further commits run beside it, as many as the engine can use, with each feed in one of them at
 * a time. Feeds that another session has locked wait separately.
 */
import type { AppendBatch, AppendOutcome } from '../../events/append/append-batch.ts'
import type { EventStore } from '../../events/event-log.ts'
import { commitAttempts, foundLock, mayBeOfOne, unobserved } from './commit-attempts.ts'
import type { CommitAttempts, CommitObserver } from './commit-attempts.ts'
import { beginCommit, endCommit, lockWaitMs, newLanes, nextCommit } from './parallel-commits.ts'
import type { CommitLanes, Lane } from './parallel-commits.ts'
import { charactersOf, defaultCommitLimits, sizeOf } from './commit-limits.ts'
import type { CommitLimits } from './commit-limits.ts'
import type { Claim } from './feed-queue.ts'
import { lockedFeeds } from './blocked-feeds.ts'
import type { LockedFeeds } from './blocked-feeds.ts'
import { waitingRoom } from './waiting-batches.ts'
import type { WaitingRoom } from './waiting-batches.ts'

export type SubmitOutcome = AppendOutcome | { readonly kind: 'overloaded' }

export interface CommitQueue {
  /** Resolves when the batch is durable or refused (P7); rejects with the store's `StorageFailure`. */
  submit(batch: AppendBatch): Promise<SubmitOutcome>
  /** Resolves when nothing waits and nothing is being committed. */
  drained(): Promise<void>
  /** The present state. */
  state(): QueueState
}

export interface QueueState {
  /** Batches that have not been answered. */
  readonly waiting: number
  readonly commits: number
  readonly lockedFeeds: number
  /** Payload characters of the batches that have not been answered. */
  readonly waitingCharacters: number
  /** For how long the batch that has waited longest for its commit to begin has done so. */
  readonly longestWaitMs: number
  /** One for each size of batches, ascending. */
  readonly lanes: readonly LaneState[]
}

export interface LaneState {
  /** The most events in a batch of this size; infinite for the largest. */
  readonly batchEvents: number
  /** Batches whose commit has not begun. */
  readonly waiting: number
  readonly commits: number
}

/** `clock`: milliseconds, never set back. */
export function createCommitQueue(
  events: Pick<EventStore, 'append' | 'appendsAtOnce'>,
  limits: CommitLimits = defaultCommitLimits,
  clock: () => number = () => performance.now(),
  observer: CommitObserver = unobserved,
): CommitQueue {
  const room = waitingRoom(limits)
  const attempts = commitAttempts(events, room, clock, observer)
  const locked = lockedFeeds({ attempts, room, limits, clock, onReleased: proceed })
  const lanes = newLanes(limits, events.appendsAtOnce)
  let beginsSoon = false
  let nextLook: NodeJS.Timeout | undefined
  let onDrained: (() => void)[] = []

  function begin(): void {
    beginsSoon = false
    const nowMs = clock()
    for (;;) {
      const next = nextCommit(lanes, (size) => room.has(size), nowMs)
      if (next.kind === 'wait') lookAt(next.untilMs)
      if (next.kind !== 'begin') return
      void run(beginCommit(lanes, next.size, nowMs), room.take(next.size))
    }
  }

  function lookAt(atMs: number): void {
    const look = (): void => {
      nextLook = undefined
      begin()
    }
    nextLook ??= setTimeout(look, Math.max(1, atMs - clock()))
  }

  async function run(lane: Lane, claims: readonly Claim[]): Promise<void> {
    try {
      await commit({ attempts, room, locked }, claims, lockWaitMs(lanes, lane.size))
    } finally {
      endCommit(lanes, lane, clock())
      proceed()
    }
  }

  function proceed(): void {
    if (room.count() === 0 && lanes.underWay.size === 0) {
      for (const resolve of onDrained) resolve()
      onDrained = []
    } else if (!beginsSoon) begin()
  }

  return {
    state: () => stateOf(room, lanes, locked.count(), clock()),
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
      if (room.count() === 0 && lanes.underWay.size === 0) return Promise.resolve()
      return new Promise((resolve) => onDrained.push(resolve))
    },
  }
}

function stateOf(room: WaitingRoom, lanes: CommitLanes, lockedCount: number, nowMs: number): QueueState {
  const [commits, waiting] = [lanes.limits.sizes.map(() => 0), lanes.limits.sizes.map(() => 0)]
  for (const { size } of lanes.underWay) commits[size] = (commits[size] ?? 0) + 1
  let sinceMs = nowMs
  for (const entry of room.entries()) {
    waiting[entry.size] = (waiting[entry.size] ?? 0) + 1
    sinceMs = Math.min(sinceMs, entry.sinceMs)
  }
  return {
    waiting: room.count(),
    commits: lanes.underWay.size,
    lockedFeeds: lockedCount,
    waitingCharacters: room.characters(),
    longestWaitMs: nowMs - sinceMs,
    lanes: lanes.limits.sizes.map(({ batchEvents }, size) => ({
      batchEvents,
      waiting: waiting[size] ?? 0,
      commits: commits[size] ?? 0,
    })),
  }
}

interface CommitParts {
  readonly attempts: CommitAttempts
  readonly room: WaitingRoom
  readonly locked: LockedFeeds
}

/** Commits all feeds together; if one of them makes that fail, feed by feed. */
async function commit(
  { attempts, room, locked }: CommitParts,
  claims: readonly Claim[],
  waitMs: number,
): Promise<void> {
  for (const { batches } of claims) attempts.begin(batches)
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
