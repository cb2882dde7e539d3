/**
 * Turns waiting batches into commits (ARCHITECTURE). While a commit is under way, new batches are gathered for the next
 * one, across feeds: many publishers share a flush, and a single publisher never waits. A commit that takes long does
 * not delay the others: further commits run beside it, as many as the engine can use, with each feed in one of them at
 * a time.
 */
import type { AppendBatch, AppendOutcome } from '../../events/append/append-batch.ts'
import type { EventStore } from '../../events/event-log.ts'
import { Committer } from './commit.ts'
import type { CommitObserver } from './commit.ts'
import { defaultCommitLimits } from './commit-limits.ts'
import type { CommitLimits } from './commit-limits.ts'
import { commitPace } from './commit-pace.ts'
import type { CommitPace } from './commit-pace.ts'
import { WaitingBatches } from './waiting-batches.ts'
import type { BatchSize } from './waiting-batches.ts'

export type SubmitOutcome = AppendOutcome | { readonly kind: 'overloaded' }

export interface AppendQueue {
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
  /** Feeds that another session has locked. */
  readonly blockedFeeds: number
  /** Payload characters of the batches that have not been answered. */
  readonly waitingCharacters: number
  /** For how long the batch that has waited longest for its commit to begin has done so. */
  readonly longestWaitMs: number
  /** Ascending. */
  readonly sizes: readonly SizeState[]
}

/** The batches of about one size. */
export interface SizeState {
  /** The most events in a batch of this size; infinite for the largest. */
  readonly batchEvents: number
  /** Batches whose commit has not begun. */
  readonly waiting: number
  readonly commits: number
}

/** `clock`: milliseconds, never set back. */
export function createAppendQueue(
  events: Pick<EventStore, 'append' | 'appendsAtOnce'>,
  limits: CommitLimits = defaultCommitLimits,
  clock: () => number = () => performance.now(),
  observer: CommitObserver = { waited: () => undefined, committed: () => undefined },
): AppendQueue {
  const waiting = new WaitingBatches(limits)
  const commits = new Committer({ events, waiting, limits, clock, observer, onUnblocked: proceed })
  const pace = commitPace(waiting.sizes, limits, events.appendsAtOnce)
  let timer: NodeJS.Timeout | undefined
  let beginsSoon = false
  let onDrained: (() => void)[] = []

  /** Begins all commits that may begin now. */
  function begin(): void {
    beginsSoon = false
    const nowMs = clock()
    for (;;) {
      const next = pace.next(nowMs)
      if (next.kind === 'wait') beginIn(Math.max(1, next.untilMs - nowMs))
      if (next.kind !== 'begin') return
      void run(next.size, nowMs)
    }
  }

  function beginIn(waitMs: number): void {
    timer ??= setTimeout(() => {
      timer = undefined
      begin()
    }, waitMs)
  }

  async function run(size: BatchSize, nowMs: number): Promise<void> {
    const commit = pace.begin(size, nowMs)
    try {
      await commits.commit(waiting.take(size), pace.lockWaitMs(size))
    } finally {
      pace.end(commit, clock())
      proceed()
    }
  }

  const isDrained = (): boolean => waiting.count === 0 && pace.underWay.size === 0

  function proceed(): void {
    if (isDrained()) {
      for (const resolve of onDrained) resolve()
      onDrained = []
    } else if (!beginsSoon) begin()
  }

  return {
    state: () => stateOf(waiting, pace.underWay, commits.blockedFeeds(), clock()),
    submit(batch) {
      const answer = Promise.withResolvers<AppendOutcome>()
      const feed = waiting.add(batch, clock(), answer)
      if (feed === undefined) return Promise.resolve({ kind: 'overloaded' })
      if (feed.isBlocked && !feed.isClaimed) commits.retryBlocked(feed)
      else if (!beginsSoon) {
        beginsSoon = true
        queueMicrotask(begin)
      }
      return answer.promise
    },
    drained() {
      if (isDrained()) return Promise.resolve()
      return new Promise((resolve) => onDrained.push(resolve))
    },
  }
}

function stateOf(
  waiting: WaitingBatches,
  underWay: CommitPace['underWay'],
  blockedFeeds: number,
  nowMs: number,
): QueueState {
  const untaken = waiting.untaken()
  return {
    waiting: waiting.count,
    commits: underWay.size,
    blockedFeeds,
    waitingCharacters: waiting.characters,
    longestWaitMs: untaken.reduce((longest, { sinceMs }) => Math.max(longest, nowMs - sinceMs), 0),
    sizes: waiting.sizes.map((size) => ({
      batchEvents: size.batchEvents,
      waiting: untaken.filter((entry) => entry.size === size).length,
      commits: [...underWay].filter((commit) => commit.size === size).length,
    })),
  }
}
