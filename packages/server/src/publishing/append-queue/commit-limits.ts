/** How much may wait, how much goes into one commit, how many commits run at once, and how long a commit waits. */

/**
 * Batches of about the same size share a commit, so that a single event never waits for a thousand others in its
 * commit.
 */
export interface CommitSize {
  /** The most events in a batch of this size. */
  readonly batchEvents: number
  readonly batchCharacters: number
  /** Events in one commit. */
  readonly commitEvents: number
  /** Payload characters in one commit. A single batch may exceed it and is then committed alone. */
  readonly commitCharacters: number
}

export interface CommitLimits {
  /** Ascending; the last takes batches of any size. */
  readonly sizes: readonly CommitSize[]
  /** Payload characters that may wait or be under way. A tenant may have as many as are left free (`fairQuota`). */
  readonly maxWaitingCharacters: number
  /**
   * A further commit of the same size begins beside one that is under way when that takes twice as long as usual, but
   * after the first of these times at the earliest and the second at the latest. Until then, batches are gathered.
   */
  readonly gatherMs: readonly [leastMs: number, mostMs: number]
  /**
   * How long a commit waits for a feed that another session has locked: the first of these that is at least twice the
   * usual time of a commit, or the last.
   */
  readonly lockWaitsMs: readonly number[]
  /** How long each try waits for a feed that was found locked. The commit then contains no other feed. */
  readonly lockedWaitMs: number
  /** The number of locked feeds that are tried at once; more wait for their turn. */
  readonly lockedAtOnce: number
  /** After this time in all, publications to a locked feed are refused with `feed_locked`. */
  readonly lockedAtMostMs: number
}

/**
 * An event costs some 100 µs in a commit, so 500 take about 50 ms: the longest that a small batch waits for other small
 * ones. 1,000 is the most that one request contains. 256 Mi characters is the most that a node may hold in memory. 20
 * ms is longer than a commit of 50 single events takes on a disk that flushes fast. With many publishers and no
 * obstacle, one commit then follows another and each gathers the batches of the meantime, which costs a third of
 * separate commits. On a machine with all its processors busy, starting more commits made each take longer, and so on.
 * Nor is it worth giving up on a lock early where all commits are slow: four nodes that published to one feed lost a
 * third of their rate that way (all measured manually).
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

/** A limit to what is in memory, of which one tenant cannot use up everything: however much it sends, others find some free. */
export interface FairQuota {
  /** Adds to what the tenant uses; false: too little is free, and nothing was added. */
  take(tenantId: string, size: number): boolean
  /** Subtracts from what the tenant uses. */
  free(tenantId: string, size: number): void
  /** What all tenants use. */
  used(): number
}

/**
 * A tenant may use as much as is left free beside it: one alone half of the quota, each of *n* tenants that send without end 1/(n + 1) of
 * it. As much again is then free for a new tenant, and the tenants need not be counted beforehand. The first to take any may take more than
 * there is: it was limited earlier.
 */
export function fairQuota(quota: number): FairQuota {
  const usedBy = new Map<string, number>()
  let used = 0
  return {
    take(tenantId, size) {
      const own = (usedBy.get(tenantId) ?? 0) + size
      if (used > 0 && own > quota - used - size) return false
      usedBy.set(tenantId, own)
      used += size
      return true
    },
    free(tenantId, size) {
      const own = (usedBy.get(tenantId) ?? 0) - size
      if (own > 0) usedBy.set(tenantId, own)
      else usedBy.delete(tenantId)
      used -= size
    },
    used: () => used,
  }
}
