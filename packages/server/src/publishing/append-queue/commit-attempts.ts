/**
 * One commit and the results of its batches. When a commit of several fails, the batch that caused it is found and
 * fails alone.
 */
import { StorageFailure } from '../../sql/storage-errors.ts'
import type { EventStore } from '../../events/event-log.ts'
import type { Waiting } from './feed-queue.ts'
import type { WaitingRoom } from './waiting-batches.ts'

export interface CommitAttempts {
  /** Their first commit begins. */
  begin(batches: readonly Waiting[]): void
  /** Answers all of them when they are committed. Otherwise answers none and resolves with the error. */
  together(batches: readonly Waiting[], lockWaitMs: number): Promise<Failed | undefined>
  /**
   * Answers each of one feed's batches, except those that found the feed locked: they are returned, to be tried again.
   */
  ofOneFeed(batches: readonly Waiting[], lockWaitMs: number): Promise<readonly Waiting[]>
  refuse(batches: readonly Waiting[], error: unknown): void
}

/** Called with durations, for metrics. */
export interface CommitObserver {
  /** A batch has waited this long before its first commit began. */
  waited(ms: number): void
  /** A commit has ended, or was given up. `locked`: another session held a feed, and it is tried again. */
  committed(outcome: 'done' | 'failed' | 'locked', ms: number): void
}

export const unobserved: CommitObserver = { waited: () => undefined, committed: () => undefined }

export interface Failed {
  readonly error: unknown
}

export function commitAttempts(
  events: Pick<EventStore, 'append'>,
  room: Pick<WaitingRoom, 'answered'>,
  clock: () => number,
  observer: CommitObserver,
): CommitAttempts {
  async function together(batches: readonly Waiting[], lockWaitMs: number): Promise<Failed | undefined> {
    const beganMs = clock()
    try {
      const sent = batches.map(({ batch }) => batch)
      const outcomes = await events.append(sent, lockWaitMs)
      observer.committed('done', clock() - beganMs)
      for (const [index, entry] of batches.entries()) {
        const outcome = outcomes[index]
        room.answered(entry)
        if (outcome === undefined) entry.reject(new Error('the engine answered fewer outcomes than batches'))
        else entry.resolve(outcome)
      }
      return undefined
    } catch (error) {
      observer.committed(foundLock({ error }) ? 'locked' : 'failed', clock() - beganMs)
      return { error }
    }
  }

  function refuse(batches: readonly Waiting[], error: unknown): void {
    for (const entry of batches) {
      room.answered(entry)
      entry.reject(error)
    }
  }

  async function ofOneFeed(batches: readonly Waiting[], lockWaitMs: number): Promise<readonly Waiting[]> {
    const failed = await together(batches, lockWaitMs)
    if (failed === undefined) return []
    if (foundLock(failed)) return batches
    if (batches.length === 1 || !mayBeOfOne(failed)) {
      refuse(batches, failed.error)
      return []
    }
    for (const [index, entry] of batches.entries()) {
      const alone = await together([entry], lockWaitMs)
      if (alone === undefined) continue
      if (foundLock(alone)) return batches.slice(index)
      refuse([entry], alone.error)
    }
    return []
  }

  function begin(batches: readonly Waiting[]): void {
    const nowMs = clock()
    for (const { sinceMs } of batches) observer.waited(nowMs - sinceMs)
  }

  return { begin, together, ofOneFeed, refuse }
}

/** Another session held the lock of one of the feeds for as long as the commit would wait. */
export function foundLock({ error }: Failed): boolean {
  return error instanceof StorageFailure && error.code === 'feed_locked'
}

/** The input of one batch made the commit fail, so the other batches may succeed without it. */
export function mayBeOfOne({ error }: Failed): boolean {
  return error instanceof StorageFailure && error.scope === 'batches'
}
