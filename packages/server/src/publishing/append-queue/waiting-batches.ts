/**
 * The batches that wait to be appended: each feed's in their order, and the tenants in turn. A caller that takes
 * batches of a feed claims the feed, so that it is in one commit at a time.
 */
import { feedName } from '../../events/feed-key.ts'
import type { AppendBatch } from '../../events/append/append-batch.ts'
import type { CommitLimits } from './commit-limits.ts'
import { fairRoom } from './fair-quota.ts'
import { joinTurns, leaveTurns, newTurns } from './feed-queue.ts'
import type { Claim, FeedLine, Turns, Waiting } from './feed-queue.ts'
import { takeMore, takeShares } from './commit-batch.ts'

export interface WaitingRoom {
  /** The line that the batch now stands in; `undefined`: there is no room for it. */
  enter(entry: Waiting): FeedLine | undefined
  /** Whether a batch of this size can be taken. */
  has(size: number): boolean
  /**
   * Claims feeds and takes the batches of one commit: from each tenant its share of the events, and more where others
   * leave some.
   */
  take(size: number): readonly Claim[]
  /** Takes what else fits into the commit of a claimed feed. */
  takeMore(claim: Claim): Claim
  /** Claims a feed out of turn: no other caller gets it until it is released. */
  claim(line: FeedLine): void
  /** The feed takes its turn again. */
  release(line: FeedLine): void
  /** A batch that was taken has been answered, and its room is free. */
  answered(entry: Waiting): void
  /** Batches that have entered and not been answered. */
  count(): number
  /** Payload characters of the same. */
  characters(): number
  /** Batches that have entered and were not taken yet. */
  entries(): Iterable<Waiting>
}

export function waitingRoom({ sizes, maxWaitingCharacters }: CommitLimits): WaitingRoom {
  const room = fairRoom(maxWaitingCharacters)
  const lines = new Map<string, FeedLine>()
  const turns = newTurns(sizes.length)
  let entries = 0

  const lineOf = ({ key }: AppendBatch): FeedLine => {
    const name = feedName(key)
    const line = lines.get(name) ?? {
      tenantId: key.tenantId,
      name,
      waiting: [],
      isClaimed: false,
      isLocked: false,
    }
    lines.set(name, line)
    return line
  }
  return {
    enter(entry) {
      if (!room.enter(entry.batch.key.tenantId, entry.characters)) return undefined
      entries += 1
      const line = lineOf(entry.batch)
      line.waiting.push(entry)
      if (!line.isClaimed && line.waiting.length === 1) joinTurns(turns, line)
      return line
    },
    has: (size) => (turns[size]?.size ?? 0) > 0,
    take(size) {
      const limits = sizes[size]
      if (limits === undefined) return []
      const alone = lineAlone(turns[size])
      if (alone !== undefined) {
        leaveTurns(turns, alone, size)
        alone.isClaimed = true
        return [{ line: alone, batches: alone.waiting.splice(0) }]
      }
      const taken = takeShares(size, limits, [...(turns[size]?.values() ?? [])])
      for (const line of taken.keys()) {
        line.isClaimed = true
        leaveTurns(turns, line, size)
      }
      return [...taken].map(([line, batches]) => ({ line, batches }))
    },
    takeMore({ line, batches }) {
      const size = batches[0]?.size ?? 0
      const limits = sizes[size]
      if (limits === undefined) return { line, batches }
      return { line, batches: [...batches, ...takeMore(line, size, limits, batches)] }
    },
    claim(line) {
      leaveTurns(turns, line, line.waiting[0]?.size ?? 0)
      line.isClaimed = true
    },
    release(line) {
      line.isClaimed = false
      if (line.waiting.length > 0) joinTurns(turns, line)
      else if (!line.isLocked) lines.delete(line.name)
    },
    answered({ batch, characters }) {
      room.leave(batch.key.tenantId, characters)
      entries -= 1
    },
    count: () => entries,
    characters: () => room.held(),
    *entries() {
      for (const { waiting } of lines.values()) yield* waiting
    },
  }
}

/** The line of the only batch of a size. It needs no shares. */
function lineAlone(turn: Turns[number] | undefined): FeedLine | undefined {
  if (turn?.size !== 1) return undefined
  const [lines] = turn.values()
  if (lines?.size !== 1) return undefined
  const [line] = lines
  return line?.waiting.length === 1 ? line : undefined
}
