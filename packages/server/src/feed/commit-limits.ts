/** How much goes into one commit, how many commits go at once, and how long each of them waits for what. */
import type { AppendBatch } from '../storage/storage.ts'

/** Batches of about the same size share a commit, so that a single event never waits for a thousand in its own. */
export interface CommitSize {
  /** The most events in a batch of this size. The last size takes batches of any number. */
  readonly batchEvents: number
  readonly batchCharacters: number
  /** Events in one commit. */
  readonly commitEvents: number
  /** Payload characters in one commit. One batch may exceed it and then goes alone. */
  readonly commitCharacters: number
}

export interface CommitLimits {
  /** Ascending. */
  readonly sizes: readonly CommitSize[]
  /** Payload characters that may wait or be under way. A tenant may hold as many as stay free (`fairRoom`). */
  readonly maxWaitingCharacters: number
  /**
   * A further commit of the same size begins beside one that is under way when that takes twice as long as usual, but not
   * before the first of these, and at the second at the latest: until then it gathers.
   */
  readonly gatherMs: readonly [leastMs: number, mostMs: number]
  /** How long a commit waits for a feed that somebody else has locked: the first that is twice the usual time of one, or the last. */
  readonly lockWaitsMs: readonly number[]
  /** How long a feed that is known to be locked is waited for at a time, with nothing else in its commit. */
  readonly lockedWaitMs: number
  /** So many locked feeds are waited for at once; more take turns. */
  readonly lockedAtOnce: number
  /** After so long in all, what waits for a locked feed is answered that the store is unavailable. */
  readonly lockedAtMostMs: number
}

/**
 * An event costs some 100 us in a commit, so 500 take about 50 ms, which is as long as a small batch waits at most for
 * those of others; 1,000 are the most that one request brings. 256 Mi characters are what a node may hold in memory. 20 ms
 * is longer than a commit of 50 single events takes on a disk that flushes fast. With many publishers and nothing in the
 * way, one commit then follows another and each gathers what has come meanwhile, which costs a third of committing apart:
 * on a machine with all its processors busy, beginning more of them made each take longer, and so on. Nor is it worth
 * cutting short what is only as slow as everything: four nodes that published to one feed lost a third of their rate by it.
 */
export const defaultCommitLimits: CommitLimits = {
  sizes: [
    { batchEvents: 10, batchCharacters: 2 ** 17, commitEvents: 500, commitCharacters: 4 * 2 ** 20 },
    { batchEvents: 100, batchCharacters: 2 ** 20, commitEvents: 1_000, commitCharacters: 8 * 2 ** 20 },
    {
      batchEvents: Number.POSITIVE_INFINITY,
      batchCharacters: Number.POSITIVE_INFINITY,
      commitEvents: 1_000,
      commitCharacters: 16 * 2 ** 20,
    },
  ],
  maxWaitingCharacters: 256 * 2 ** 20,
  gatherMs: [20, 250],
  lockWaitsMs: [50, 100, 200],
  lockedWaitMs: 1_000,
  lockedAtOnce: 2,
  lockedAtMostMs: 30_000,
}

/** Index of the first size that the batch fits. */
export function sizeOf(batch: AppendBatch, characters: number, { sizes }: CommitLimits): number {
  const events = batch.drafts.length
  const index = sizes.findIndex(
    ({ batchEvents, batchCharacters }) => events <= batchEvents && characters <= batchCharacters,
  )
  return index < 0 ? sizes.length - 1 : index
}

export function charactersOf({ drafts }: AppendBatch): number {
  return drafts.reduce((sum, { content }) => sum + (content.kind === 'payload' ? content.text.length : 0), 0)
}
