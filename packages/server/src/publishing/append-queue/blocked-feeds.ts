/**
 * Feeds that another session has locked for longer than a commit waits: a session that holds the row of the feed's
 * counter, or a slow commit of another node. Each waits in commits of its own, a few at a time, and nothing else waits
 * for them.
 */
import { StorageFailure } from '../../sql/storage-errors.ts'
import type { CommitAttempts } from './commit-attempts.ts'
import type { CommitLimits } from './commit-limits.ts'
import type { Claim, FeedLine } from './feed-queue.ts'
import type { WaitingRoom } from './waiting-batches.ts'

export interface LockedFeeds {
  /** Batches that found their feed locked. The feed stays claimed until all of them have been answered. */
  add(claim: Claim): void
  /** A feed that is not claimed, and that was locked when it was last tried. */
  addLine(line: FeedLine): void
  /** How many feeds are waiting. */
  count(): number
}

export interface LockedFeedsParts {
  readonly attempts: CommitAttempts
  readonly room: WaitingRoom
  readonly limits: CommitLimits
  readonly clock: () => number
  /** The feed is no longer locked, or no batch waits for it. */
  readonly onReleased: () => void
}

export function lockedFeeds({ attempts, room, limits, clock, onReleased }: LockedFeedsParts): LockedFeeds {
  const waiting: Claim[] = []
  let attended = 0

  /** Refuses batches that have waited too long, and returns the rest. */
  function refuseLate({ line, batches }: Claim): Claim {
    const cause = new Error(`the feed has been locked for ${limits.lockedAtMostMs} ms`)
    const isLate = ({ sinceMs }: Claim['batches'][number]): boolean =>
      clock() - sinceMs >= limits.lockedAtMostMs
    const late = batches.filter(isLate)
    attempts.refuse(late, new StorageFailure('feed_locked', cause))
    return { line, batches: batches.filter((entry) => !late.includes(entry)) }
  }

  async function attend(claim: Claim): Promise<void> {
    const all = room.takeMore(claim)
    const found = await attempts.ofOneFeed(all.batches, limits.lockedWaitMs)
    const rest = refuseLate({ line: claim.line, batches: found })
    // Remembered, because otherwise the next publication to it would delay others until the lock is found again.
    claim.line.isLocked = found.length > 0
    if (rest.batches.length > 0) waiting.push(rest)
    else if (claim.line.isLocked && claim.line.waiting.length > 0) addLine(claim.line)
    else room.release(claim.line)
  }

  function attendNext(): void {
    while (attended < limits.lockedAtOnce) {
      const claim = waiting.shift()
      if (claim === undefined) return
      attended += 1
      void attend(claim).finally(() => {
        attended -= 1
        attendNext()
        onReleased()
      })
    }
  }

  function addLine(line: FeedLine): void {
    room.claim(line)
    waiting.push({ line, batches: line.waiting.splice(0, 1) })
    attendNext()
  }

  return {
    add(claim) {
      claim.line.isLocked = true
      waiting.push(claim)
      attendNext()
    },
    addLine,
    count: () => attended + waiting.length,
  }
}
