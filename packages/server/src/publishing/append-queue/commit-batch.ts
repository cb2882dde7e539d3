/** Chooses, from the waiting lines, the batches of one commit. */
import type { CommitSize } from './commit-limits.ts'
import type { FeedLine, Waiting } from './feed-queue.ts'

/** The contents of a commit, while it is filled. */
interface Filling {
  readonly limits: CommitSize
  events: number
  characters: number
}

/**
 * In rounds: in each, a tenant's lines give as many events as the largest batch of this size has, so that a tenant with
 * many small batches gets as much as one with a few larger ones.
 */
export function takeShares(
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
      // The rest of its share is too small for its next batch, so the commit is full.
      if (hasMore && left > 0) return taken
      if (hasMore) inNextRound.push(lines)
    }
    inRound = inNextRound
  }
  return taken
}

/** Takes from a line what else fits into the commit of these batches. */
export function takeMore(
  line: FeedLine,
  size: number,
  limits: CommitSize,
  batches: readonly Waiting[],
): readonly Waiting[] {
  const filling: Filling = { limits, events: 0, characters: 0 }
  for (const entry of batches) add(filling, entry)
  return fill(line, size, filling, limits.commitEvents)
}

/**
 * Takes batches of this size from the front of a line while they fit into the commit, until it has `most` events or
 * more.
 */
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
