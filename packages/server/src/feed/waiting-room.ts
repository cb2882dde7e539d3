/**
 * What waits to be appended: each feed's batches in their order, and the tenants in turn. Whoever takes batches of a feed
 * claims it, so that it is in one commit at a time.
 */
import { feedName } from '../storage/storage.ts'
import type { AppendBatch, AppendOutcome } from '../storage/storage.ts'
import type { CommitLimits, CommitSize } from './commit-limits.ts'
import { fairRoom } from './fair-room.ts'

export interface Waiting {
  readonly batch: AppendBatch
  readonly characters: number
  /** Index of a `CommitSize`. */
  readonly size: number
  /** Milliseconds of the queue's clock. */
  readonly sinceMs: number
  readonly resolve: (outcome: AppendOutcome) => void
  readonly reject: (error: unknown) => void
}

/** The batches of one feed. */
export interface FeedLine {
  readonly tenantId: string
  readonly name: string
  readonly waiting: Waiting[]
  isClaimed: boolean
  /** Somebody else has held the feed's lock for so long that what waited was refused. */
  isLocked: boolean
}

/** Batches of one feed, taken together in their order. */
export interface Claim {
  readonly line: FeedLine
  readonly batches: readonly Waiting[]
}

export interface WaitingRoom {
  /** The line it stands in now; `undefined`: there is no room for it. */
  enter(entry: Waiting): FeedLine | undefined
  /** Whether there is anything of this size to be taken. */
  has(size: number): boolean
  /** Claims feeds and takes what fits into one commit: of each tenant its share of the events, and more where others leave some. */
  take(size: number): readonly Claim[]
  /** Of a claimed feed: what else fits into the commit of these. */
  takeMore(claim: Claim): Claim
  /** Takes a feed out of turn: nobody else will get it until it is released. */
  claim(line: FeedLine): void
  /** The feed takes its turn again. */
  release(line: FeedLine): void
  /** A batch that was taken has been answered: its room is free. */
  answered(entry: Waiting): void
  /** Batches that have entered and not been answered. */
  count(): number
}

/** What a commit holds so far, as it grows. */
interface Filling {
  readonly limits: CommitSize
  events: number
  characters: number
}

export function waitingRoom({ sizes, maxWaitingCharacters }: CommitLimits): WaitingRoom {
  const room = fairRoom(maxWaitingCharacters)
  const lines = new Map<string, FeedLine>()
  /** Of each size, the unclaimed lines whose first batch has it, by tenant: whose turn it is comes first. */
  const turns = sizes.map(() => new Map<string, Set<FeedLine>>())
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
  const joinTurns = (line: FeedLine): void => {
    const turn = turns[line.waiting[0]?.size ?? 0]
    const own = turn?.get(line.tenantId)
    if (own === undefined) turn?.set(line.tenantId, new Set([line]))
    else own.add(line)
  }
  /** With what waits of its tenant in other feeds behind all others. */
  const leaveTurns = (line: FeedLine, size: number): void => {
    const turn = turns[size]
    const own = turn?.get(line.tenantId)
    if (turn === undefined || own === undefined) return
    own.delete(line)
    turn.delete(line.tenantId)
    if (own.size > 0) turn.set(line.tenantId, own)
  }

  return {
    enter(entry) {
      if (!room.enter(entry.batch.key.tenantId, entry.characters)) return undefined
      entries += 1
      const line = lineOf(entry.batch)
      line.waiting.push(entry)
      if (!line.isClaimed && line.waiting.length === 1) joinTurns(line)
      return line
    },
    has: (size) => (turns[size]?.size ?? 0) > 0,
    take(size) {
      const limits = sizes[size]
      if (limits === undefined) return []
      const taken = takeShares(size, limits, [...(turns[size]?.values() ?? [])])
      for (const line of taken.keys()) {
        line.isClaimed = true
        leaveTurns(line, size)
      }
      return [...taken].map(([line, batches]) => ({ line, batches }))
    },
    takeMore({ line, batches }) {
      const size = batches[0]?.size ?? 0
      const limits = sizes[size]
      if (limits === undefined) return { line, batches }
      const filling: Filling = { limits, events: 0, characters: 0 }
      for (const entry of batches) add(filling, entry)
      return { line, batches: [...batches, ...fill(line, size, filling, limits.commitEvents)] }
    },
    claim(line) {
      leaveTurns(line, line.waiting[0]?.size ?? 0)
      line.isClaimed = true
    },
    release(line) {
      line.isClaimed = false
      if (line.waiting.length > 0) joinTurns(line)
      else if (!line.isLocked) lines.delete(line.name)
    },
    answered({ batch, characters }) {
      room.leave(batch.key.tenantId, characters)
      entries -= 1
    },
    count: () => entries,
  }
}

/**
 * In rounds: in each, a tenant's lines give as many events as the largest batch of this size holds, so that a tenant with
 * many small batches gets as much as one with a few larger ones.
 */
function takeShares(
  size: number,
  limits: CommitSize,
  tenants: readonly ReadonlySet<FeedLine>[],
): ReadonlyMap<FeedLine, readonly Waiting[]> {
  const filling: Filling = { limits, events: 0, characters: 0 }
  const share = Math.min(limits.batchEvents, limits.commitEvents)
  const taken = new Map<FeedLine, Waiting[]>()
  let inRound = tenants
  while (inRound.length > 0) {
    const inNextRound: ReadonlySet<FeedLine>[] = []
    for (const lines of inRound) {
      let left = share
      for (const line of lines) {
        const batches = fill(line, size, filling, left)
        if (batches.length > 0) taken.set(line, [...(taken.get(line) ?? []), ...batches])
        left -= batches.reduce((sum, { batch }) => sum + batch.drafts.length, 0)
      }
      const hasMore = [...lines].some(({ waiting }) => waiting[0]?.size === size)
      // What is left of its share is too small for its next batch, so the commit is full.
      if (hasMore && left > 0) return taken
      if (hasMore) inNextRound.push(lines)
    }
    inRound = inNextRound
  }
  return taken
}

/** Takes from the front of a line what is of this size and fits into the commit, until it is `most` events or more. */
function fill(line: FeedLine, size: number, filling: Filling, most: number): readonly Waiting[] {
  let [taken, events] = [0, 0]
  for (const entry of line.waiting) {
    if (entry.size !== size || events >= most || !fits(filling, entry)) break
    add(filling, entry)
    taken += 1
    events += entry.batch.drafts.length
  }
  return line.waiting.splice(0, taken)
}

function fits({ limits, events, characters }: Filling, entry: Waiting): boolean {
  if (events === 0) return true
  return (
    events + entry.batch.drafts.length <= limits.commitEvents &&
    characters + entry.characters <= limits.commitCharacters
  )
}

function add(filling: Filling, { batch, characters }: Waiting): void {
  filling.events += batch.drafts.length
  filling.characters += characters
}
