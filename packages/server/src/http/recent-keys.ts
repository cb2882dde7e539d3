import type { RecentKeys } from '../keys/index.ts'
import { createTokenBuckets } from './token-bucket.ts'
import type { BucketMemory } from './token-bucket.ts'

/** A minute from when a key was valid (D10), of which a verifier may tell a second late. */
const rememberedSeconds = 61

/**
 * Keys that verified within the last minute, on any thread: a bucket of one token for each, which was taken then and is
 * back when it is over. `clock` and `memory` as for token buckets.
 */
export function recentKeys(clock: () => number, memory?: BucketMemory): RecentKeys {
  const buckets = createTokenBuckets({ perSecond: 1 / rememberedSeconds, burst: 1 }, clock, memory)
  return {
    remember(digest) {
      // The time begins anew; threads that do this at once take one token between them.
      buckets.refund(digest)
      buckets.take(digest)
    },
    forget: (digest) => void buckets.refund(digest),
    has: (digest) => !buckets.peek(digest).allowed,
  }
}
