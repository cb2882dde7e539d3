/**
 * One commit and the answers to its batches. When a commit of several fails, the batch that caused it is found and
 * fails alone. A feed that another session has locked (one that holds the row of the feed's counter, or a slow commit
 * of another node) waits in commits of its own, a few at a time, and nothing else waits for it.
 */
import { StorageFailure } from '../../sql/storage-errors.ts'
import type { EventStore } from '../../events/event-log.ts'
import type { CommitLimits } from './commit-limits.ts'
import type { Claim, FeedQueue, WaitingBatch, WaitingBatches } from './waiting-batches.ts'

/** Called with durations, for metrics. */
export interface CommitObserver {
  /** A batch has waited this long before its first commit began. */
  waited(ms: number): void
  /** A commit has ended, or was given up. `locked`: another session held a feed, and it is tried again. */
  committed(outcome: 'done' | 'failed' | 'locked', ms: number): void
}

interface CommitterParts {
  readonly events: Pick<EventStore, 'append'>
  readonly waiting: WaitingBatches
  readonly limits: CommitLimits
  readonly clock: () => number
  readonly observer: CommitObserver
  /** A blocked feed can be committed again, or no batch waits for it. */
  readonly onUnblocked: () => void
}

/**
 * Why no batch of a commit was answered. `lock`: another session held one of its feeds for as long as the commit would
 * wait; `batch`: the input of one of them may be the cause, so the others may succeed without it; `store`: anything else.
 */
interface Failed {
  readonly cause: 'lock' | 'batch' | 'store'
  readonly error: unknown
}

export class Committer {
  readonly #parts: CommitterParts
  readonly #blocked: Claim[] = []
  #retried = 0

  constructor(parts: CommitterParts) {
    this.#parts = parts
  }

  /** Commits all feeds together; if one of them makes that fail, feed by feed. */
  async commit(claims: readonly Claim[], lockWaitMs: number): Promise<void> {
    const { waiting, clock, observer } = this.#parts
    const beganMs = clock()
    for (const { batches } of claims) {
      for (const { sinceMs } of batches) observer.waited(beganMs - sinceMs)
    }
    if (claims.length > 1) {
      const all = claims.flatMap(({ batches }) => batches)
      const failed = await this.#append(all, lockWaitMs)
      if (failed === undefined || failed.cause === 'store') {
        if (failed !== undefined) this.#refuse(all, failed.error)
        for (const { feed } of claims) waiting.release(feed)
        return
      }
    }
    for (const { feed, batches } of claims) {
      const left = await this.#appendToFeed(batches, lockWaitMs)
      if (left.length > 0) this.#block({ feed, batches: left })
      else waiting.release(feed)
    }
  }

  /** Tries an unclaimed feed that was locked when it was last tried. */
  retryBlocked(feed: FeedQueue): void {
    this.#block(this.#parts.waiting.takeFirst(feed))
  }

  blockedFeeds(): number {
    return this.#retried + this.#blocked.length
  }

  /** Answers all batches when they are committed, otherwise none. */
  async #append(batches: readonly WaitingBatch[], lockWaitMs: number): Promise<Failed | undefined> {
    const { events, waiting, clock, observer } = this.#parts
    const beganMs = clock()
    try {
      const sent = batches.map(({ batch }) => batch)
      const outcomes = await events.append(sent, lockWaitMs)
      observer.committed('done', clock() - beganMs)
      for (const [index, entry] of batches.entries()) {
        const outcome = outcomes[index]
        waiting.answered(entry)
        if (outcome === undefined) entry.reject(new Error('the engine answered fewer outcomes than batches'))
        else entry.resolve(outcome)
      }
      return undefined
    } catch (error) {
      const cause = causeOf(error)
      observer.committed(cause === 'lock' ? 'locked' : 'failed', clock() - beganMs)
      return { cause, error }
    }
  }

  /** Answers each of one feed's batches, except those that found the feed locked: they are returned. */
  async #appendToFeed(
    batches: readonly WaitingBatch[],
    lockWaitMs: number,
  ): Promise<readonly WaitingBatch[]> {
    const failed = await this.#append(batches, lockWaitMs)
    if (failed === undefined) return []
    if (failed.cause === 'lock') return batches
    if (failed.cause === 'store' || batches.length === 1) {
      this.#refuse(batches, failed.error)
      return []
    }
    for (const [index, entry] of batches.entries()) {
      const alone = await this.#append([entry], lockWaitMs)
      if (alone?.cause === 'lock') return batches.slice(index)
      if (alone !== undefined) this.#refuse([entry], alone.error)
    }
    return []
  }

  #refuse(batches: readonly WaitingBatch[], error: unknown): void {
    for (const entry of batches) {
      this.#parts.waiting.answered(entry)
      entry.reject(error)
    }
  }

  #block(claim: Claim): void {
    claim.feed.isBlocked = true
    this.#blocked.push(claim)
    this.#retryNext()
  }

  #retryNext(): void {
    while (this.#retried < this.#parts.limits.lockedAtOnce) {
      const claim = this.#blocked.shift()
      if (claim === undefined) return
      this.#retried += 1
      void this.#retry(claim).finally(() => {
        this.#retried -= 1
        this.#retryNext()
        this.#parts.onUnblocked()
      })
    }
  }

  async #retry(claim: Claim): Promise<void> {
    const { feed } = claim
    const { waiting, limits } = this.#parts
    const found = await this.#appendToFeed(waiting.takeMore(claim).batches, limits.lockedWaitMs)
    const batches = this.#refuseLate(found)
    // Kept, because otherwise the next publication to it would delay others until the lock is found again.
    feed.isBlocked = found.length > 0
    if (batches.length > 0) this.#blocked.push({ feed, batches })
    else if (feed.isBlocked && feed.waiting.length > 0) this.#block(waiting.takeFirst(feed))
    else waiting.release(feed)
  }

  /** Refuses batches that have waited too long for their feed, and returns the rest. */
  #refuseLate(batches: readonly WaitingBatch[]): readonly WaitingBatch[] {
    const { lockedAtMostMs } = this.#parts.limits
    const nowMs = this.#parts.clock()
    const isLate = ({ sinceMs }: WaitingBatch): boolean => nowMs - sinceMs >= lockedAtMostMs
    const cause = new Error(`the feed has been locked for ${lockedAtMostMs} ms`)
    this.#refuse(batches.filter(isLate), new StorageFailure('feed_locked', cause))
    return batches.filter((entry) => !isLate(entry))
  }
}

function causeOf(error: unknown): Failed['cause'] {
  if (!(error instanceof StorageFailure)) return 'store'
  if (error.code === 'feed_locked') return 'lock'
  return error.scope === 'batches' ? 'batch' : 'store'
}
